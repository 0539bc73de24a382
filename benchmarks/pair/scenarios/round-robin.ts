// Writes messages to many streams in turn, one message per stream and turn.
import type { Stream } from '@libp2p/interface'

interface Lane {
  stream: Stream
  index: number
  left: number
  full: boolean
}

export interface RoundRobin {
  /** Sends this many messages on each stream */
  write(messagesPerStream: number): Promise<void>
}

/**
 * A stream whose send() returned false sits out until its 'drain' event.
 */
export function roundRobin (streams: Stream[], nextMessage: (streamIndex: number) => Uint8Array): RoundRobin {
  const lanes = streams.map((stream, index): Lane => ({ stream, index, left: 0, full: false }))
  /** Those whose turn comes; cut short in place, because this runs once for every message */
  let ready: Lane[] = []
  const drained: Lane[] = []
  let unfinished = 0
  let scheduled = false
  let written = Promise.withResolvers<void>()

  function sendOnReady (): void {
    let count = ready.length

    while (count > 0) {
      let kept = 0

      for (let i = 0; i < count; i++) {
        const lane = ready[i]
        lane.left--
        unfinished -= lane.left === 0 ? 1 : 0

        if (!lane.stream.send(nextMessage(lane.index))) {
          lane.full = true
        } else if (lane.left > 0) {
          ready[kept++] = lane
        }
      }

      count = kept
    }

    ready = []

    if (unfinished === 0) {
      written.resolve()
    }
  }

  // in a microtask, so that streams which drain together take turns again
  function schedule (): void {
    if (scheduled) {
      return
    }

    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      ready.push(...drained.splice(0))

      try {
        sendOnReady()
      } catch (err) {
        written.reject(err)
      }
    })
  }

  for (const lane of lanes) {
    lane.stream.addEventListener('drain', () => {
      if (lane.full) {
        lane.full = false

        if (lane.left > 0) {
          drained.push(lane)
          schedule()
        }
      }
    })
  }

  return {
    async write (messagesPerStream) {
      written = Promise.withResolvers()
      unfinished = lanes.length
      lanes.forEach(lane => { lane.left = messagesPerStream })
      ready = lanes.filter(lane => !lane.full)
      schedule()

      return written.promise
    }
  }
}
