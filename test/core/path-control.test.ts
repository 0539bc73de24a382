// What a session asks of its path control, with the least of them: it holds nothing, and marks nothing.
import { describe, expect, test } from 'vitest'
import { ForwardingControl, NoControl } from '../../src/path-control.ts'
import { ACK, DATA, data, pattern, PING, ping, windowUpdate } from '../../testing/protocol/frames.ts'
import { createSession, pull, pullAll } from '../../testing/core/sessions.ts'
import type { Session } from '../../src/core/session.ts'
import type { StreamState } from '../../src/core/stream-state.ts'
import type { PathInit } from '../../src/path-control.ts'

/** With a stream that may send all it has */
function open (session: Session<unknown>): StreamState {
  const stream = session.open(0)
  pullAll(session)
  session.receive(windowUpdate(stream.id, 2 ** 30, ACK), 0)

  return stream
}

describe('without a control', () => {
  const createPathControl = (init: PathInit): NoControl => new NoControl(init)

  test('nothing is held, and no mark is written', () => {
    const session = createSession({ createPathControl, maxQueueDelayMs: 10 })
    session.send(open(session), pattern(10_000_000))
    const frames = pullAll(session)

    expect(new Set(frames.map(({ type }) => type))).toEqual(new Set([DATA]))
    expect(frames.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(10_000_000)
    expect(session.hasOutput).toBe(false)
  })

  test('an ordinary ping behind the last bytes confirms them', () => {
    const session = createSession({ createPathControl })
    session.send(open(session), pattern(100_000))
    pullAll(session)
    expect(session.hasUnconfirmedData).toBe(true)

    session.close(0)
    session.requestConfirmation()
    session.requestConfirmation()
    const pings = pullAll(session)
    expect(pings).toMatchObject([{ type: PING }])
    expect(pings[0].length).toBeLessThan(2 ** 31)

    session.receive(ping(pings[0].length, ACK), 0)
    expect(session.hasUnconfirmedData).toBe(false)
  })

  test('the pong to a mark that was never written is one that nobody waits for', () => {
    const session = createSession({ createPathControl })

    expect(session.handlePong(2 ** 31)).toBe(false)
  })
})

describe('a control that overrides isHeld alone', () => {
  class Held extends ForwardingControl {
    isHeldNow = true
    override get isHeld (): boolean { return this.isHeldNow }
  }

  test('holds small messages and large ones, and lets urgent data pass', () => {
    let control: Held | undefined
    const session = createSession({
      createPathControl: init => {
        control = new Held(new NoControl(init))

        return control
      }
    })
    const [normal, urgent] = [open(session), open(session)]
    session.setLane(urgent, 0)
    session.send(normal, pattern(10))
    expect(session.hasOutput).toBe(false)
    expect(pull(session)).toEqual([])

    session.send(normal, pattern(100_000))
    expect(pull(session)).toEqual([])

    session.send(urgent, pattern(20))
    expect(pullAll(session)).toMatchObject([{ id: urgent.id, length: 20 }])
    session.receive(data(normal.id, pattern(1)), 0)
    ;(control as Held).isHeldNow = false
    expect(pullAll(session).reduce((sum, { length }) => sum + length, 0)).toBe(100_010)
  })
})
