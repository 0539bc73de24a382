// One direction of a link with a rate, a delay and a bounded buffer, between two sockets.
import { LINK_BUFFER_BYTES, LINK_BYTES_PER_MS, LINK_DELAY_MS } from './workload.ts'
import type { Socket } from 'node:net'

interface Chunk {
  bytes: Buffer
  dueMs: number
}

/**
 * What comes out of `from` goes into `to`: one chunk after the other at the link's rate, and the delay
 * later. `onReleased` gets how much later than that it was. When the buffer is full, `from` is not read,
 * which makes TCP hold its sender back.
 *
 * Timers wake at whole milliseconds; to spin for more precision would take a core from the peers.
 */
export function carry (from: Socket, to: Socket, onReleased: (lateMs: number) => void): void {
  const chunks: Chunk[] = []
  let bufferedBytes = 0
  /** When the last byte so far is on the wire */
  let wireFreeMs = 0
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false

  /** No timer while `to` is full: its drain comes first */
  function schedule (): void {
    if (timer == null && chunks.length > 0 && !to.writableNeedDrain) {
      timer = setTimeout(release, Math.max(1, Math.ceil(chunks[0].dueMs - performance.now())))
    }
  }

  function release (): void {
    const releasedMs = performance.now()
    let count = 0

    timer = undefined
    // all that is due leaves in one write
    to.cork()

    while (count < chunks.length && chunks[count].dueMs <= releasedMs && !to.writableNeedDrain) {
      const { bytes, dueMs } = chunks[count++]

      bufferedBytes -= bytes.byteLength
      to.write(bytes)
      onReleased(releasedMs - dueMs)
    }

    to.uncork()
    chunks.splice(0, count)

    if (bufferedBytes < LINK_BUFFER_BYTES) {
      from.resume()
    }

    if (hasEnded && chunks.length === 0) {
      to.end()
    }

    schedule()
  }

  from.on('data', bytes => {
    wireFreeMs = Math.max(wireFreeMs, performance.now()) + bytes.byteLength / LINK_BYTES_PER_MS
    bufferedBytes += bytes.byteLength
    chunks.push({ bytes, dueMs: wireFreeMs + LINK_DELAY_MS })

    if (bufferedBytes >= LINK_BUFFER_BYTES) {
      from.pause()
    }

    schedule()
  })

  to.on('drain', release)

  from.once('end', () => {
    hasEnded = true

    if (chunks.length === 0) {
      to.end()
    }
  })
  from.once('error', () => { to.destroy() })
}
