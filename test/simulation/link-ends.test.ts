// The ends of a link: whose memory the bytes are in, pausing, and how a connection ends.
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { LinkOptions } from '../../testing/simulation/link.ts'

/** A byte takes a microsecond */
const MEGABYTE_PER_S: LinkOptions = { rateBytesPerS: 1_000_000, delayMs: 0.05 }
const MICROSECOND_DIGITS = 6

describe('the ends of a link', () => {
  it('bring the bytes that were sent, although the sender uses its memory again', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, listenerEnd } = sim.link(MEGABYTE_PER_S)
      const bytes = Uint8Array.of(1, 2, 3)
      const arrived = new Uint8ArrayList()
      listenerEnd.addEventListener('message', evt => { arrived.append(evt.data) })

      diallerEnd.send(bytes)
      diallerEnd.send(new Uint8ArrayList(bytes, Uint8Array.of(4)))
      bytes.fill(0)
      await sim.idle()

      expect(arrived.subarray()).toEqual(Uint8Array.of(1, 2, 3, 1, 2, 3, 4))
    })
  })

  it('keep what arrives while they are paused', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, listenerEnd } = sim.link(MEGABYTE_PER_S)
      let bytesRead = 0
      listenerEnd.addEventListener('message', evt => { bytesRead += evt.data.byteLength })

      listenerEnd.pause()
      diallerEnd.send(new Uint8Array(10_000_000))
      await sim.idle()
      expect(bytesRead).toBe(0)
      listenerEnd.resume()
      expect(bytesRead).toBe(10_000_000)
    })
  })

  it('close when all is on the wire, the other one when all has arrived', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, listenerEnd, toListener } = sim.link({ ...MEGABYTE_PER_S, delayMs: 7 })
      let closedAtMs = 0
      listenerEnd.addEventListener('close', evt => {
        expect(evt.error).toBeUndefined()
        closedAtMs = sim.nowMs
      })

      diallerEnd.send(new Uint8Array(2000))
      const closed = diallerEnd.close()
      expect(() => diallerEnd.send(new Uint8Array(1))).toThrow('closing')
      await closed
      expect(sim.nowMs).toBeCloseTo(2, MICROSECOND_DIGITS)
      await sim.idle()

      expect(closedAtMs).toBeCloseTo(9, MICROSECOND_DIGITS)
      expect(toListener.bytesArrived).toBe(2000)
      expect([diallerEnd.status, listenerEnd.status]).toEqual(['closed', 'closed'])
    })
  })

  it('lose what is not on the wire when they are aborted, which the other one sees behind the rest', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, listenerEnd, toListener } = sim.link({ ...MEGABYTE_PER_S, delayMs: 7, socketBufferBytes: 100 })
      let resetAtMs = 0
      listenerEnd.addEventListener('close', () => { resetAtMs = sim.nowMs })

      ;[1000, 1000, 1000].forEach(byteLength => diallerEnd.send(new Uint8Array(byteLength)))
      await sim.sleep(1.5)
      diallerEnd.abort(new Error('Out of order'))
      await sim.idle()

      expect(resetAtMs).toBeCloseTo(8.5, MICROSECOND_DIGITS)
      expect(toListener).toMatchObject({ bytesArrived: 1000, unsentBytes: 0, drains: 0 })
      expect([diallerEnd.status, listenerEnd.status]).toEqual(['aborted', 'reset'])
    })
  })
})
