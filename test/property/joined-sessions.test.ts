// Law: between two sessions every stream delivers its bytes in order, and in the end nothing is left of it on either side.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { counts } from '../../testing/core/sessions.ts'
import { Connection, settle, setups, steps } from './fixtures/connection.ts'

test('two sessions deliver every byte of every stream in order, and forget the streams that are over', () => {
  fc.assert(fc.property(setups, steps, (setup, steps) => {
    const connection = new Connection(setup)
    steps.forEach(step => { connection.take(step) })

    for (const { session, streams } of connection.sides) {
      streams.filter(stream => stream.life.writeStatus === 'writable').forEach(stream => { session.closeWrite(stream, 0) })
    }

    settle(connection)

    // those that the other side opened last were not known when the rest was closed
    for (const { session, streams } of connection.sides) {
      streams.filter(stream => stream.life.writeStatus === 'writable').forEach(stream => { session.closeWrite(stream, 0) })
    }

    settle(connection)

    for (const [side, { session, streams, wire }] of connection.sides.entries()) {
      expect(wire).toEqual([])
      expect(session.hasOutput).toBe(false)
      expect(counts(session)).toEqual({ size: 0, inbound: 0, outbound: 0, unacked: 0 })

      for (const stream of streams) {
        const { writtenBytes, readBytes } = connection.flow(1 - side, stream.id)

        if (stream.life.isReset) {
          expect(readBytes).toBeLessThanOrEqual(writtenBytes)
        } else {
          expect(readBytes).toBe(writtenBytes)
        }
      }
    }
  }), { numRuns: 250 })
})
