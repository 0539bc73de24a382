// Flow control: the first window, credit for more, and what lies beyond it.
import { ACK, DATA, FIN, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { ALL_ACCEPT, NOT_ENDED, SAFETY, specification } from '../case.ts'
import { WINDOW_BYTES } from '../stream.ts'
import type { Group } from '../case.ts'
import type { Stream } from '../stream.ts'
import type { Target } from '../target.ts'

const PIECE_BYTES = 65_536
const SMALL_BYTES = 256
const MAX_UINT32 = 0xffff_ffff
const MAX_UNREAD_BYTES = 1_048_576
/** Some take a few MiB, as peers with a larger first window of their own do not say so */
const FAR_BEYOND_BYTES = 6_291_456

/** Sends a whole window in pieces, and has it back */
async function exchangeWindow (stream: Stream): Promise<void> {
  for (let sentBytes = 0; sentBytes < WINDOW_BYTES; sentBytes += PIECE_BYTES) {
    stream.send(PIECE_BYTES)
  }

  await stream.echoes()
}

/** Sends 1.1 MiB, as credit comes, and has it back */
async function sendBeyondMiB (target: Target): Promise<Stream> {
  const stream = target.open().grant(4 * WINDOW_BYTES)

  for (let i = 0; i < 9; i++) {
    await stream.hasCredit(WINDOW_BYTES / 2)
    stream.send(WINDOW_BYTES / 2)
  }

  await stream.echoes()

  return stream
}

/** Uses up all credit. The echo has none beyond a window, so the target stops reading, and gives no more; false if it goes on */
async function stalls (target: Target, stream: Stream): Promise<boolean> {
  do {
    while (stream.creditBytes > 0) {
      if (stream.sentBytes > MAX_UNREAD_BYTES) {
        return false
      }

      stream.send(Math.min(stream.creditBytes, PIECE_BYTES))
    }

    await target.isSilent()
  } while (stream.creditBytes > 0)

  return true
}

export const flowControl: Group = {
  number: 3,
  name: 'flow control',
  cases: [
    {
      number: '3.1',
      title: 'A stream takes 262,144 bytes before any credit',
      rule: 'A stream begins with a window of 256 KiB in both directions.',
      source: specification('Flow Control'),
      level: 'must',
      needs: 'echo',
      reports: ['vacp2p/nim-libp2p#2787'],
      async talk (target) {
        const stream = target.newStream()
        target.send(windowUpdate(stream.id, 0, SYN), ...Array.from({ length: WINDOW_BYTES / PIECE_BYTES }, () => stream.frame(PIECE_BYTES)))
        await stream.echoes()
      }
    },
    {
      number: '3.2',
      title: 'A DATA frame with SYN may hold a whole window',
      rule: 'SYN may stand on DATA, and a stream begins with a window of 256 KiB.',
      source: specification('Flow Control'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        await target.newStream().send(WINDOW_BYTES, SYN).echoes()
      }
    },
    {
      number: '3.3',
      title: 'The target sends no more than its credit, and all of it',
      rule: 'A stream begins with a window of 256 KiB, and each window update adds to it.',
      source: specification('Flow Control'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.open()
        await exchangeWindow(stream)
        await stream.hasCredit(PIECE_BYTES)
        stream.send(PIECE_BYTES)
        await target.isSilent()
        target.check(`${WINDOW_BYTES} bytes and none beyond, not ${stream.receivedBytes}`, stream.receivedBytes === WINDOW_BYTES)
        stream.grant(1_000)
        await stream.echoes(WINDOW_BYTES + 1_000)
        await target.isSilent()
        target.check(`the 1,000 bytes of credit and none beyond, not ${stream.receivedBytes - WINDOW_BYTES}`, stream.receivedBytes === WINDOW_BYTES + 1_000)
      }
    },
    {
      number: '3.4',
      title: 'Credit on the SYN counts',
      rule: 'A frame with SYN or ACK may grant more than the initial window.',
      source: specification('Flow Control'),
      level: 'must',
      needs: 'echo',
      reports: ['libp2p/py-libp2p#1269'],
      async talk (target) {
        const stream = target.newStream().grant(PIECE_BYTES, SYN)
        await exchangeWindow(stream)
        await stream.hasCredit(PIECE_BYTES)
        await stream.send(PIECE_BYTES).echoes()
      }
    },
    {
      number: '3.5',
      title: 'Credit on the ACK counts',
      rule: 'A frame with SYN or ACK may grant more than the initial window.',
      source: specification('Flow Control'),
      level: 'must',
      needs: 'echoing opener',
      reports: ['libp2p/py-libp2p#1269'],
      async talk (target) {
        await target.until('a stream to be opened', () => target.opened.length > 0)
        const stream = target.opened[0].grant(2 * PIECE_BYTES, ACK)

        for (let sentBytes = 0; sentBytes < WINDOW_BYTES; sentBytes += PIECE_BYTES) {
          stream.send(PIECE_BYTES)
        }

        await target.until(`${WINDOW_BYTES} bytes`, () => stream.receivedBytes >= WINDOW_BYTES)
        await stream.hasCredit(PIECE_BYTES)
        stream.send(PIECE_BYTES)
        await target.until(`${WINDOW_BYTES + PIECE_BYTES} bytes`, () => stream.receivedBytes >= WINDOW_BYTES + PIECE_BYTES)
      }
    },
    {
      number: '3.6',
      title: 'Data that was read is given back as credit, for more than 1 MiB',
      rule: 'A reader has to give credit back, or its sender stops for good.',
      source: specification('Flow Control'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        await sendBeyondMiB(target)
      }
    },
    {
      number: '3.7',
      title: 'Only data counts against the window, headers do not',
      rule: 'Only the bytes of DATA count against a window.',
      source: specification('Flow Control'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.newStream()
        target.send(windowUpdate(stream.id, 0, SYN), ...Array.from({ length: WINDOW_BYTES / SMALL_BYTES }, () => stream.frame(SMALL_BYTES)))
        await stream.echoes()
      }
    },
    {
      number: '3.8',
      title: 'A stream without credit does not block another, nor has its credit',
      rule: 'Windows belong to streams. The session has none.',
      source: specification('Flow Control'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const [stalled, other] = [target.open(), target.open()]
        await exchangeWindow(stalled)
        await stalled.hasCredit(PIECE_BYTES)
        other.grant(PIECE_BYTES)
        stalled.send(PIECE_BYTES)
        await other.send(1_000).echoes()
        target.check(`${WINDOW_BYTES} bytes on the stream without credit`, stalled.receivedBytes === WINDOW_BYTES)
      }
    },
    {
      number: '3.9',
      title: 'A window update of 0 has no effect',
      rule: 'A window update adds to the window.',
      source: ALL_ACCEPT,
      level: 'should',
      needs: 'echo',
      async talk (target) {
        await target.open().send(100).grant(0).send(100).echoes()
      }
    },
    {
      number: '3.10',
      title: 'Data far beyond the credit is refused',
      rule: 'A stream begins with a window of 256 KiB, and each window update adds to it. The specification does not say what to do with more, but memory is limited.',
      source: SAFETY,
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const stream = target.open()

        if (!await stalls(target, stream)) {
          return 'gives credit for more than 1 MiB that is not read'
        }

        for (let sentBytes = 0; sentBytes < FAR_BEYOND_BYTES; sentBytes += PIECE_BYTES) {
          stream.send(PIECE_BYTES)
        }

        await target.refuses(`${FAR_BEYOND_BYTES} bytes beyond the credit`, stream)

        return undefined
      }
    },
    {
      number: '3.11',
      title: 'A DATA frame with SYN that exceeds the window by one byte is refused',
      rule: 'A stream begins with a window of 256 KiB. The specification does not say what to do with more.',
      source: specification('Flow Control'),
      level: 'should',
      needs: 'echo',
      reports: ['CVE-2026-32314 (rust-yamux)'],
      async talk (target) {
        await target.answers()
        const stream = target.newStream().send(WINDOW_BYTES + 1, SYN)
        await target.refuses(`${WINDOW_BYTES + 1} bytes`, stream)
      }
    },
    {
      number: '3.12',
      title: 'The target still answers after a SYN with more data than the window',
      rule: NOT_ENDED,
      source: SAFETY,
      level: 'must',
      needs: 'listener',
      reports: ['CVE-2026-32314 (rust-yamux)'],
      async talk (target) {
        target.newStream().send(WINDOW_BYTES + 1, SYN)
        await target.answersOrEnds()
        await target.takesAnother()
      }
    },
    {
      number: '3.13',
      title: 'Credit that adds up to 2^32 bytes is refused, or is not lost',
      rule: 'A window update adds to the window. The specification does not say what happens at 2^32.',
      source: specification('Length Field'),
      level: 'should',
      needs: 'echo',
      reports: ['CVE-2026-31814 (rust-yamux)', 'libp2p/rust-yamux#220'],
      async talk (target) {
        const stream = target.open().send(100)
        await stream.echoes()
        // with what is left of the first window, exactly 2^32
        stream.grant(MAX_UINT32 - (WINDOW_BYTES - 100) + 1).send(100)
        await target.until('the connection or stream to end, or the stream to go on', () => target.isRefused(stream) || stream.receivedBytes === 200)
      }
    },
    {
      number: '3.14',
      title: 'The target still answers after credit of more than 2^32 bytes',
      rule: NOT_ENDED,
      source: SAFETY,
      level: 'must',
      needs: 'listener',
      reports: ['CVE-2026-31814 (rust-yamux)'],
      async talk (target) {
        target.open().grant(MAX_UINT32).grant(MAX_UINT32)
        await target.answersOrEnds()
        await target.takesAnother()
      }
    },
    {
      number: '3.15',
      title: 'Not every small frame is answered with a window update',
      rule: 'Credit has to come before the sender has to stop, but not with each frame.',
      source: specification('Flow Control'),
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const stream = target.open()

        for (let i = 0; i < 100; i++) {
          await stream.send(i === 0 ? 50 : 10).echoes()
        }

        const updates = stream.headers.filter(({ type, flags, length }) => type === WINDOW_UPDATE && flags === 0 && length > 0)
        target.check(`10 window updates at most for 100 frames of 10 bytes, not ${updates.length}`, updates.length <= 10)
      }
    },
    {
      number: '3.16',
      title: 'No credit is given on a stream that both sides have closed',
      rule: 'A stream is over after both FINs.',
      source: specification('Closing a stream'),
      level: 'should',
      needs: 'echo',
      reports: ['libp2p/js-libp2p#2505'],
      async talk (target) {
        const stream = target.open()
        await exchangeWindow(stream)
        stream.finish()
        await stream.ends()
        await target.isSilent()
        const after = stream.headers.slice(stream.headers.findIndex(({ flags }) => (flags & FIN) !== 0) + 1)
        target.check('nothing on the stream after the FIN', after.length === 0)
      }
    },
    {
      number: '3.17',
      title: 'A side may give credit after its own FIN',
      rule: 'After FIN no data follows, but credit may.',
      source: specification('Closing a stream'),
      level: 'must',
      needs: 'echo',
      reports: ['libp2p/js-libp2p#2505'],
      async talk (target) {
        const stream = target.open()
        await exchangeWindow(stream)
        await stream.hasCredit(PIECE_BYTES)
        stream.send(PIECE_BYTES).finish().grant(PIECE_BYTES)
        await stream.echoes()
        await stream.ends()
      }
    },
    {
      number: '3.18',
      title: 'The target sends frames below 1 MiB',
      rule: 'rust-yamux and jvm-libp2p end the connection for larger ones.',
      source: 'docs/strict-peers.md#frames',
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const stream = await sendBeyondMiB(target)
        target.check('no frame of more than 1,048,576 bytes', stream.headers.every(({ type, length }) => type !== DATA || length <= 1_048_576))
      }
    }
  ]
}
