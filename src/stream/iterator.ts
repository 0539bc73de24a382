/**
 * Reads a stream with `for await`: a chunk is handed over when the loop asks for it, and counts
 * as read when the loop asks for the next. So a slow loop holds back a fast sender.
 */
import { pushable } from 'it-pushable'
import type { Uint8ArrayList } from 'uint8arraylist'

/** One running loop */
export interface ChunkReader {
  /** The loop waits for a chunk */
  isAsking: boolean
  push (chunk: Uint8Array | Uint8ArrayList): void
  end (err?: Error): void
}

export interface ChunkSource {
  addReader (reader: ChunkReader): void
  removeReader (reader: ChunkReader): void
  /** A reader has begun to ask */
  onAsk (): void
}

export async function * iterateStream (source: ChunkSource): AsyncGenerator<Uint8Array | Uint8ArrayList> {
  const handover = pushable<Uint8Array | Uint8ArrayList>()
  const reader: ChunkReader = {
    isAsking: false,
    push: chunk => {
      reader.isAsking = false
      handover.push(chunk)
    },
    end: err => { handover.end(err) }
  }

  source.addReader(reader)

  try {
    while (true) {
      reader.isAsking = true
      source.onAsk()
      const next = await handover.next()

      if (next.done === true) {
        return
      }

      yield next.value
    }
  } finally {
    source.removeReader(reader)
  }
}
