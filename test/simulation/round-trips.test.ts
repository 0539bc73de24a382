// When the round trip is measured: while there is traffic, every few seconds, and never for its own sake.
import { describe, expect, it } from 'vitest'
import { FIRST_MARK_VALUE } from '../../src/core/wire/frame.ts'
import { yamux } from '../../src/index.ts'
import { PING, parseFrames, SYN } from '../../testing/protocol/frames.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'
import type { LinkOptions, Passage } from '../../testing/simulation/link.ts'

const LINK: LinkOptions = { rateBytesPerS: 25_000_000, delayMs: 20 }
const HOUR_MS = 3_600_000

/** The instants at which `pinged` are, marks left out: those are a matter of what is sent */
function watchPings (init: YamuxMuxerInit, pinged: Array<Passage['to']> = ['dialler', 'listener']): { pings: number[], sends: number[], link: LinkOptions, createMuxer: ReturnType<typeof yamux> } {
  const pings: number[] = []
  const sends: number[] = []
  const onSend = ({ atMs, to, bytes }: Passage): void => {
    sends.push(atMs)
    pings.push(...(pinged.includes(to) ? parseFrames(bytes) : []).filter(({ type, flags, length }) => type === PING && flags === SYN && length < FIRST_MARK_VALUE).map(() => atMs))
  }

  return { pings, sends, link: { ...LINK, onSend }, createMuxer: yamux(init) }
}

describe('an idle connection', () => {
  it('says nothing at all without keep-alive, whatever it was used for before', async () => {
    const { pings, sends, link, createMuxer } = watchPings({ enableKeepAlive: false, streamOptions: { inactivityTimeout: 0 } })

    await simulate({ endMs: 2 * HOUR_MS }, async sim => {
      const { dialler, listener } = sim.connect(link, { dialler: createMuxer, listener: createMuxer })
      let readBytes = 0
      listener.addEventListener('stream', evt => { evt.detail.addEventListener('message', ({ data }) => { readBytes += data.byteLength }) })
      const stream = await dialler.createStream()
      stream.send(new Uint8Array(1_000_000))
      await sim.until(() => readBytes === 1_000_000)
      await sim.sleep(1000)
      const saidBefore = sends.length
      expect(pings.length).toBeGreaterThan(0)

      await sim.sleep(HOUR_MS)
      expect(sends.length).toBe(saidBefore)
    })
  })

  it('is pinged by each side once in an interval with keep-alive', async () => {
    const { pings, link, createMuxer } = watchPings({ keepAliveInterval: 30_000 })

    await simulate({ endMs: 2 * HOUR_MS }, async sim => {
      sim.connect(link, { dialler: createMuxer, listener: createMuxer })
      await sim.sleep(HOUR_MS + 1000)
    })

    expect(pings).toHaveLength(2 * (1 + HOUR_MS / 30_000))
  })
})

describe('a connection with traffic', () => {
  it('is measured with updates, every 100 ms at most, and by that the round trip is what the link makes it', async () => {
    const { pings, link, createMuxer } = watchPings({ enableKeepAlive: false }, ['dialler'])

    await simulate({}, async sim => {
      const { dialler, listener } = sim.connect(link, { dialler: createMuxer, listener: createMuxer })
      listener.addEventListener('stream', evt => { evt.detail.addEventListener('message', () => {}) })
      const stream = await dialler.createStream()

      while (sim.nowMs < 20_000) {
        stream.send(new Uint8Array(100_000))
        await sim.sleep(10)
      }

      expect(pings.length).toBeGreaterThanOrEqual(100)
      expect(pings.slice(1).every((atMs, i) => atMs - pings[i] >= 100)).toBe(true)
      expect(listener.getRTT()).toBeGreaterThan(2 * LINK.delayMs)
      // the answer waits for what is in the socket
      expect(listener.getRTT()).toBeLessThan(2 * LINK.delayMs + 10)
    })
  })
})
