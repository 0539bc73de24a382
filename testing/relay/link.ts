// One direction of a link with a schedule, a delay and a bounded buffer, between two sockets.
import { atOpportunities, atRate } from './schedule.ts'
import type { Schedule } from './schedule.ts'
import type { Readable, Writable } from 'node:stream'

interface Chunk {
  bytes: Buffer
  /** From then on it is on its way */
  leavesMs: number
  dueMs: number
}

export interface ConstantLink {
  bytesPerMs: number
  /** One way */
  delayMs: number
  /** What waits for its turn or is on its way, before nothing more is read */
  bufferBytes: number
  /** What arrives at once, with its last byte; a read of a socket unless told otherwise */
  segmentBytes?: number
}

export interface RecordedLink {
  /** Since the connection began. Each carries a packet, and the last begins the replay anew */
  opportunitiesMs: Float64Array
  /** One way */
  delayMs: number
  /** What waits for its turn, as in a router: no more is taken */
  queueBytes: number
}

export type RelayedLink = ConstantLink | RecordedLink

function scheduleOf (link: RelayedLink): Schedule {
  return 'bytesPerMs' in link ? atRate(link.bytesPerMs, link.segmentBytes) : atOpportunities(link.opportunitiesMs, performance.now())
}

/**
 * What comes out of `from` goes into `to`: one chunk after the other when it is its turn, and the delay
 * later. `onReleased` gets how much later than that it was. When the buffer is full, `from` is not read,
 * which makes TCP hold its sender back.
 *
 * Timers wake at whole milliseconds; to spin for more precision would take a core from the peers.
 */
export function carry (from: Readable, to: Writable, link: RelayedLink, onReleased: (lateMs: number) => void): void {
  const { delayMs } = link
  const { queueBytes, bufferBytes } = { queueBytes: Infinity, bufferBytes: Infinity, ...link }
  const takeTurn = scheduleOf(link)
  const chunks: Chunk[] = []
  /** How many of them are on their way */
  let left = 0
  let waitingBytes = 0
  let bufferedBytes = 0
  let timer: NodeJS.Timeout | undefined
  let wakeMs = Infinity
  let hasEnded = false

  function isFull (): boolean {
    return waitingBytes >= queueBytes || bufferedBytes >= bufferBytes
  }

  /** No timer while `to` is full: its drain comes first */
  function schedule (): void {
    if (chunks.length === 0 || to.writableNeedDrain) {
      return
    }

    const nextMs = waitingBytes >= queueBytes ? Math.min(chunks[left].leavesMs, chunks[0].dueMs) : chunks[0].dueMs

    if (nextMs < wakeMs) {
      clearTimeout(timer)
      wakeMs = nextMs
      timer = setTimeout(release, Math.max(1, Math.ceil(nextMs - performance.now())))
    }
  }

  /** While `to` is full, nothing makes room */
  function takeTurns (nowMs: number): void {
    while (left < chunks.length && chunks[left].leavesMs <= nowMs && !to.writableNeedDrain) {
      waitingBytes -= chunks[left++].bytes.byteLength
    }
  }

  function release (): void {
    const releasedMs = performance.now()
    let count = 0

    clearTimeout(timer)
    wakeMs = Infinity
    takeTurns(releasedMs)
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
    left -= count

    if (!isFull()) {
      from.resume()
    }

    if (hasEnded && chunks.length === 0) {
      to.end()
    }

    schedule()
  }

  from.on('data', (bytes: Buffer) => {
    const nowMs = performance.now()

    takeTurns(nowMs)
    const takenBytes = Math.min(bytes.byteLength, queueBytes - waitingBytes)

    for (let offset = 0; offset < takenBytes;) {
      const { byteLength, atMs } = takeTurn(takenBytes - offset, nowMs)

      chunks.push({ bytes: bytes.subarray(offset, offset + byteLength), leavesMs: atMs, dueMs: atMs + delayMs })
      offset += byteLength
    }

    waitingBytes += takenBytes
    bufferedBytes += takenBytes

    if (isFull()) {
      from.pause()
    }

    if (takenBytes < bytes.byteLength) {
      from.unshift(bytes.subarray(takenBytes))
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
