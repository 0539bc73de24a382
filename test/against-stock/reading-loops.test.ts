// Our streams read with `for await`, fed by either muxer: a loop gets everything and ends, or throws.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Uint8ArrayList } from 'uint8arraylist'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { pattern, patternBytes } from '../libp2p/fixtures/pattern.ts'
import { sendAll } from '../libp2p/fixtures/streams.ts'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import type { ConnectedPair } from './fixtures/connected-pair.ts'
import type { Stream } from '@libp2p/interface'

const MEBIBYTE = 2 ** 20
const WINDOW_BYTES = 256 * 1024
const QUIET_MS = 60
/** Stock's own loops end as if complete when a connection breaks, and never when they begin after the FIN */
const PAIRS_THAT_WE_READ = MUXER_PAIRS.filter(({ listener }) => listener === 'ours')

async function quiet (): Promise<void> {
  return new Promise(resolve => { setTimeout(resolve, QUIET_MS) })
}

async function loop (stream: Stream, onBytes?: (bytes: Uint8Array) => Promise<void> | void): Promise<Uint8Array> {
  const received = new Uint8ArrayList()

  for await (const bytes of stream) {
    received.append(bytes)
    await onBytes?.(bytes.subarray())
  }

  return received.subarray()
}

describe.each(PAIRS_THAT_WE_READ)('a loop over a stream that $dialler opened to $listener', names => {
  let pair: ConnectedPair
  let opened: Stream
  let accepted: Stream

  beforeEach(async () => {
    pair = await connect(names);
    [opened, accepted] = await openBoth(pair)
  })

  afterEach(() => {
    pair.disconnect()
  })

  test('gets everything and ends when it begins after the end was received', async () => {
    opened.send(patternBytes(1, 100_000))
    await opened.close()
    await quiet()

    expect(Buffer.compare(await loop(accepted), patternBytes(1, 100_000))).toBe(0)
  })

  test('gets everything and ends when the reader has closed its own side before', async () => {
    await accepted.close()
    opened.send(patternBytes(2, 100_000))
    await opened.close()
    await quiet()

    expect(Buffer.compare(await loop(accepted), patternBytes(2, 100_000))).toBe(0)
  })

  test('ends at once over a stream that ended empty', async () => {
    await opened.close()
    await quiet()

    expect(await loop(accepted)).toHaveLength(0)
  })

  test('gets what was pushed back after the end', async () => {
    const reading = loop(accepted)
    opened.send(patternBytes(6, 100))
    await opened.close()
    accepted.unshift((await reading).subarray(60))

    expect(Buffer.compare(await loop(accepted), patternBytes(6, 100).subarray(60))).toBe(0)
  })

  test('throws StreamResetError when the other side aborts', async () => {
    opened.send(patternBytes(3, 10))
    const reading = loop(accepted, () => { opened.abort(new Error('Enough')) })

    await expect(reading).rejects.toThrow(expect.objectContaining({ name: 'StreamResetError' }))
  })

  test('throws when the connection breaks', async () => {
    opened.send(patternBytes(4, 10))
    const reading = loop(accepted, () => { pair.disconnect() })

    await expect(reading).rejects.toThrow()
  })

  test('holds its writer while it is busy, and then gets the rest', async () => {
    let sentBytes = 0
    let wake = (): void => {}
    const busy = new Promise<void>(resolve => { wake = resolve })
    const reading = loop(accepted, async () => busy)
    const writing = sendAll(opened, pattern(5, 3 * MEBIBYTE), bytes => { sentBytes += bytes })
      .then(async () => { await opened.close() })
    await quiet()

    expect(sentBytes - opened.writeBufferLength).toBeGreaterThan(0)
    expect(sentBytes - opened.writeBufferLength).toBeLessThanOrEqual(2 * WINDOW_BYTES)

    wake()
    await writing
    expect(Buffer.compare(await reading, Buffer.concat([...pattern(5, 3 * MEBIBYTE)]))).toBe(0)
  })
})
