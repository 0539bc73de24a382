// Reads the frames that pass each end of a link, and judges them without the code under test.
import { HeaderReader } from '../../../testing/protocol/header-reader.ts'
import { StrictPeer } from '../../../testing/protocol/strict-peer.ts'
import type { FrameHeader } from '../../../testing/protocol/header-reader.ts'
import type { Dialogue } from '../../../testing/protocol/legal-output.ts'

/** What one side writes and receives */
export class WireTap {
  writtenBytes = 0
  receivedBytes = 0
  readonly #peer: StrictPeer
  readonly #written = new HeaderReader()
  readonly #received = new HeaderReader()
  readonly #isJudged: boolean
  readonly #onWritten: (header: FrameHeader) => void

  /** Without being judged the side is only listened to */
  constructor (isDialler: boolean, isJudged: boolean, onWritten: (header: FrameHeader) => void) {
    this.#peer = new StrictPeer(isDialler)
    this.#isJudged = isJudged
    this.#onWritten = onWritten
  }

  wrote (bytes: Uint8Array): void {
    this.writtenBytes += bytes.byteLength
    this.#written.push(bytes, header => {
      this.#onWritten(header)

      if (this.#isJudged) {
        this.#peer.wrote(header)
      }
    })
  }

  received (bytes: Uint8Array): void {
    this.receivedBytes += bytes.byteLength
    this.#received.push(bytes, header => { this.#peer.received(header) })
  }

  /** How many pings of the peer have no pong yet */
  get unansweredPings (): number {
    return this.#peer.unansweredPings.length
  }

  /** The peer is done with the stream, and with the connection: it misses no FIN */
  wasLeft (streamId: number): boolean {
    return this.#peer.hasPeerLeft && this.#peer.dialogue(streamId).hasPeerFinished
  }

  dialogue (streamId: number): Dialogue {
    return this.#peer.dialogue(streamId)
  }
}
