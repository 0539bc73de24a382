// One direction of a link with a rate, a delay and a bounded buffer, between two sockets.
import type { Socket } from 'node:net'

interface Chunk {
  bytes: Buffer
  dueMs: number
}

export interface RelayedLink {
  bytesPerMs: number
  /** One way */
  delayMs: number
  /** What waits for its turn or is on its way, before nothing more is read */
  bufferBytes: number
  /** What arrives at once, with its last byte; a read of a socket unless told otherwise */
  segmentBytes?: number
}

/**
 * What comes out of `from` goes into `to`: one chunk after the other at the link's rate, and the delay
 * later. `onReleased` gets how much later than that it was. When the buffer is full, `from` is not read,
 * which makes TCP hold its sender back.
 *
 * Timers wake at whole milliseconds; to spin for more precision would take a core from the peers.
 */
export function carry (from: Socket, to: Socket, link: RelayedLink, onReleased: (lateMs: number) => void): void {
  const { bytesPerMs, delayMs, bufferBytes, segmentBytes = Infinity } = link
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

    if (bufferedBytes < bufferBytes) {
      from.resume()
    }

    if (hasEnded && chunks.length === 0) {
      to.end()
    }

    schedule()
  }

  from.on('data', bytes => {
    wireFreeMs = Math.max(wireFreeMs, performance.now())
    bufferedBytes += bytes.byteLength

    for (let offset = 0; offset < bytes.byteLength; offset += segmentBytes) {
      const segment = bytes.subarray(offset, offset + segmentBytes)
      wireFreeMs += segment.byteLength / bytesPerMs
      chunks.push({ bytes: segment, dueMs: wireFreeMs + delayMs })
    }

    if (bufferedBytes >= bufferBytes) {
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
