// Random bytes, some at random and some that look like frames: a muxer ignores them or ends, and holds no more than its windows.
import { describe, expect, test } from 'vitest'
import { concat, DATA, GO_AWAY } from '../../testing/protocol/frames.ts'
import { converse, expectEnded, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import { Random } from '../../testing/simulation/random.ts'

forbidIncidents()

const CHUNKS = 200

function noise (random: Random): Uint8Array {
  return Uint8Array.from({ length: 1 + random.integer(0, 1999) }, () => random.integer(0, 255))
}

/** A few frames that could pass, with now and then a byte that does not */
function almostFrames (random: Random): Uint8Array {
  const parts = Array.from({ length: 1 + random.integer(0, 39) }, () => {
    const type = random.integer(0, 4) === 0 ? random.integer(0, 4) : random.integer(0, 1)
    const length = random.integer(0, 2) === 0 ? random.integer(0, 2 ** 32 - 1) : random.integer(0, 299)
    const isBody = type === 0 && length < 300
    const bytes = new Uint8Array(12 + (isBody ? length : 0))
    const view = new DataView(bytes.buffer)
    view.setUint8(1, type)
    view.setUint16(2, random.integer(0, 15))
    view.setUint32(4, type > 1 ? 0 : random.integer(0, 7))
    view.setUint32(8, length)

    if (random.integer(0, 29) === 0) {
      bytes[random.integer(0, bytes.byteLength - 1)] = random.integer(0, 255)
    }

    return bytes
  })

  return concat(...parts)
}

/** There is a GoAway among the frames */
function saysGoAway (bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

  for (let offset = 0; offset + 12 <= bytes.byteLength;) {
    const type = view.getUint8(offset + 1)

    if (type === GO_AWAY) {
      return true
    }

    offset += 12 + (type === DATA ? view.getUint32(offset + 8) : 0)
  }

  return false
}

/** Cuts bytes where chance will have it */
function cut (bytes: Uint8Array, random: Random): Uint8Array[] {
  const chunks = []

  for (let offset = 0; offset < bytes.byteLength;) {
    const end = Math.min(bytes.byteLength, offset + 1 + random.integer(0, 199))
    chunks.push(bytes.subarray(offset, end))
    offset = end
  }

  return chunks
}

describe.each(ROLES)('as $role', ({ direction }) => {
  test.each([
    ['noise', noise],
    ['frames that are almost right', almostFrames]
  ])(`${CHUNKS} chunks of %s are each ignored, or the connection is ended with GoAway`, async (_, create) => {
    const outcomes = { ignored: 0, ended: 0, endedByPeer: 0 }

    for (let seed = 1; seed <= CHUNKS; seed++) {
      const random = new Random(seed)
      const peer = converse({ direction })
      const stream = await peer.open()
      const bytes = create(random)
      cut(bytes, random).forEach(chunk => { peer.deliver(chunk) })
      // the transport is closed behind the call that found the reason
      await Promise.resolve()

      expect(peer.inbound.every(({ readBufferLength }) => readBufferLength <= WINDOW_BYTES), `seed ${seed}`).toBe(true)
      expect(stream.readBufferLength, `seed ${seed}`).toBeLessThanOrEqual(WINDOW_BYTES)

      if (peer.muxer.status === 'open') {
        expect((await peer.written()).every(([type]) => type !== GO_AWAY), `seed ${seed}`).toBe(true)
        outcomes.ignored++
      } else if (saysGoAway(bytes)) {
        // an abort lets the GoAway of this side leave first
        await nextTurn()
        expect(peer.transport.status, `seed ${seed}`).not.toBe('open')
        outcomes.endedByPeer++
      } else {
        await expectEnded(peer, 1)
        outcomes.ended++
      }
    }

    // the seeds lead to every outcome there is
    expect(outcomes.ended).toBeGreaterThan(0)
    expect(outcomes.ignored + outcomes.ended + outcomes.endedByPeer).toBe(CHUNKS)

    if (create === almostFrames) {
      expect(outcomes.ignored).toBeGreaterThan(0)
    }
  })
})
