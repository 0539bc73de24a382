// Streams: how they are opened, closed by halves, and reset.
import { ACK, data, FIN, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { ALL_ACCEPT, specification } from '../case.ts'
import type { Group } from '../case.ts'

const NONE = new Uint8Array(0)

export const streams: Group = {
  number: 2,
  name: 'streams',
  cases: [
    {
      number: '2.1',
      title: 'A stream opened with a WINDOW_UPDATE is acknowledged',
      rule: 'Whoever is asked for a stream has to answer, with ACK or with RST.',
      source: specification('Opening a stream'),
      level: 'must',
      needs: 'echo',
      reports: ['libp2p/rust-yamux#73'],
      async talk (target) {
        const stream = target.open().send(100)
        await stream.isAccepted()
        await stream.echoes()
      }
    },
    {
      number: '2.2',
      title: 'A stream opened with DATA is acknowledged, and its data arrives',
      rule: 'SYN may stand on either kind of frame.',
      source: specification('Flag Field'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.newStream().send(100, SYN)
        await stream.isAccepted()
        await stream.echoes()
      }
    },
    {
      number: '2.3',
      title: 'Data that arrives before the ACK is sent is not lost',
      rule: 'Data need not wait for the ACK.',
      source: specification('Opening a stream'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.newStream()
        target.send(windowUpdate(stream.id, 0, SYN), stream.frame(1_000), stream.frame(1_000))
        await stream.echoes()
      }
    },
    {
      number: '2.4',
      title: 'The first frame on a stream has the ACK',
      rule: 'Whoever accepts a stream answers with ACK.',
      source: specification('Opening a stream'),
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const stream = target.newStream().send(100, SYN)
        await stream.echoes()
        target.check('ACK on the first frame of the stream', (stream.headers[0].flags & ACK) !== 0)
      }
    },
    {
      number: '2.5',
      title: 'Two open streams keep their data apart',
      rule: 'A frame belongs to the stream whose id it has.',
      source: specification('StreamID Field'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const [first, second] = [target.open(), target.open()]

        for (let i = 0; i < 10; i++) {
          first.send(100)
          second.send(200)
        }

        await first.echoes()
        await second.echoes()
      }
    },
    {
      number: '2.6',
      title: 'Streams may be opened with ids out of order',
      rule: 'Each stream has an id of its own.',
      source: ALL_ACCEPT,
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const [first, second] = [target.newStream(), target.newStream()]
        await second.open().send(100).echoes()
        await first.open().send(100).echoes()
      }
    },
    {
      number: '2.7',
      title: 'FIN on a WINDOW_UPDATE closes one half',
      rule: 'FIN closes one direction, on either kind of frame.',
      source: specification('Flag Field'),
      level: 'must',
      needs: 'echo',
      reports: ['libp2p/py-libp2p#931', 'th-ch/yamux-js#21'],
      async talk (target) {
        const stream = target.open().send(1_000).finish()
        await stream.echoes()
        await stream.ends()
      }
    },
    {
      number: '2.8',
      title: 'FIN on an empty DATA frame closes one half',
      rule: 'FIN closes one direction, on either kind of frame.',
      source: specification('Flag Field'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(1_000)
        target.send(data(stream.id, NONE, FIN))
        await stream.echoes()
        await stream.ends()
      }
    },
    {
      number: '2.9',
      title: 'The data of a frame with FIN is delivered before the end',
      rule: 'FIN may stand on DATA, whose bytes are the last.',
      source: specification('Closing a stream'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100).send(100, FIN)
        await stream.echoes()
        await stream.ends()
      }
    },
    {
      number: '2.10',
      title: 'A stream may be opened, written and closed in one write',
      rule: 'Data need not wait for the ACK.',
      source: specification('Opening a stream'),
      level: 'must',
      needs: 'echo',
      reports: ['libp2p/cpp-libp2p#167'],
      async talk (target) {
        const stream = target.newStream()
        target.send(windowUpdate(stream.id, 0, SYN), stream.frame(100), windowUpdate(stream.id, 0, FIN))
        await stream.echoes()
        await stream.ends()
      }
    },
    {
      number: '2.11',
      title: 'A stream that is opened and closed in one write is acknowledged and ended',
      rule: 'Whoever is asked for a stream has to answer, with ACK or with RST.',
      source: specification('Opening a stream'),
      level: 'must',
      needs: 'echo',
      reports: ['hashicorp/yamux#28'],
      async talk (target) {
        const stream = target.newStream()
        target.send(windowUpdate(stream.id, 0, SYN), windowUpdate(stream.id, 0, FIN))
        await target.until(`ACK or RST for stream ${stream.id}`, () => stream.isAcknowledged || stream.isReset)
        await target.until(`the end of stream ${stream.id}`, () => stream.isFinished || stream.isReset)
      }
    },
    {
      number: '2.12',
      title: 'Fifty streams that are opened, written and closed in one write are all answered',
      rule: 'Data need not wait for the ACK.',
      source: specification('Opening a stream'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const all = Array.from({ length: 50 }, () => target.newStream())
        target.send(...all.flatMap(stream => [windowUpdate(stream.id, 0, SYN), stream.frame(200), windowUpdate(stream.id, 0, FIN)]))

        for (const stream of all) {
          await stream.echoes()
          await stream.ends()
        }
      }
    },
    {
      number: '2.13',
      title: 'A DATA frame may have both SYN and FIN',
      rule: 'DATA may have SYN, and it may have FIN. Whether both at once is not written.',
      source: specification('Flag Field'),
      level: 'should',
      needs: 'echo',
      reports: ['libp2p/py-libp2p#1322'],
      async talk (target) {
        const stream = target.newStream().send(100, SYN | FIN)
        await stream.echoes()
        await stream.ends()
      }
    },
    {
      number: '2.14',
      title: 'RST ends the stream and nothing else',
      rule: 'After RST a stream is over, in both directions.',
      source: specification('Closing a stream'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const [stream, other] = [target.open().send(100), target.open()]
        await stream.echoes()
        stream.reset()
        await target.answers()
        await other.send(100).echoes()
      }
    },
    {
      number: '2.15',
      title: 'RST on a DATA frame resets the stream',
      rule: 'RST may stand on either kind of frame.',
      source: specification('Flag Field'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const [stream, other] = [target.open().send(100), target.open()]
        await stream.echoes()
        target.send(data(stream.id, NONE, RST))
        stream.send(100)
        await target.isSilent()
        target.check('nothing of what comes after RST to be sent back', stream.receivedBytes === 100)
        await other.send(100).echoes()
      }
    },
    {
      number: '2.16',
      title: 'Data after RST is not delivered',
      rule: 'After RST a stream is over, in both directions.',
      source: specification('Closing a stream'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100)
        await stream.echoes()
        stream.reset().send(100)
        await target.isSilent()
        target.check('nothing of what comes after RST to be sent back', stream.receivedBytes === 100)
      }
    },
    {
      number: '2.17',
      title: 'RST may follow FIN',
      rule: 'A stream can be reset at any time, so after FIN too.',
      source: specification('Closing a stream'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const [stream, other] = [target.open().send(100), target.open()]
        target.send(windowUpdate(stream.id, 0, FIN), windowUpdate(stream.id, 0, RST))
        await target.answers()
        await other.send(100).echoes()
      }
    },
    {
      number: '2.18',
      title: 'RST may arrive for a stream that both sides have closed',
      rule: 'A reset may cross the FIN of the other side.',
      source: specification('Closing a stream'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const [stream, other] = [target.open().send(100).finish(), target.open()]
        await stream.ends()
        stream.reset()
        await target.answers()
        await other.send(100).echoes()
      }
    },
    {
      number: '2.19',
      title: 'A frame for a stream that was never opened opens none and leaves others alone',
      rule: 'A frame may be in flight to a stream that has ended.',
      source: ALL_ACCEPT,
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const [other, unknown] = [target.open().send(100), target.newStream()]
        await other.echoes()
        target.send(windowUpdate(unknown.id, 1_000), data(unknown.id, new Uint8Array(100)))
        await target.answers()
        await other.send(100).echoes()
        target.check('no data on it', unknown.receivedBytes === 0)
      }
    },
    {
      number: '2.20',
      title: 'A second SYN on an open stream opens no stream',
      rule: 'Each stream has an id of its own.',
      source: specification('Opening a stream'),
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100)
        await stream.echoes()
        stream.open()
        await target.answersOrEnds()
        target.check('one ACK at most', stream.headers.filter(({ flags }) => (flags & ACK) !== 0).length === 1)
      }
    },
    {
      number: '2.21',
      title: 'SYN on an id of the other side is refused',
      rule: 'Dialler and listener have odd and even ids, so that both can open streams.',
      source: specification('StreamID Field'),
      level: 'should',
      needs: 'listener',
      async talk (target) {
        await target.answers()
        const stream = target.newStream(target.isDialled ? 1_000 : 1_001).open()
        await target.refuses(`stream ${stream.id}`, stream)
      }
    },
    {
      number: '2.22',
      title: 'An id that is used again after its stream has ended',
      rule: 'Each stream has an id of its own. The specification does not say what to do with one that was used.',
      source: specification('Opening a stream'),
      level: 'informational',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100).finish()
        await stream.ends()
        const again = target.newStream(stream.id).open().send(100)
        const reaction = await target.reaction(again)

        return reaction === 'goes on' ? (again.receivedBytes > 0 ? 'opens it again' : 'ignores it') : reaction
      }
    },
    {
      number: '2.23',
      title: 'A second FIN',
      rule: 'FIN ends what its sender has to say. That it comes once is not written.',
      source: specification('Closing a stream'),
      level: 'informational',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100).finish()
        await stream.ends()

        return target.reaction(stream.finish())
      }
    },
    {
      number: '2.24',
      title: 'Data after FIN',
      rule: 'FIN promises that no data follows. The specification does not say what to do with data that does.',
      source: specification('Closing a stream'),
      level: 'informational',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100)
        await stream.echoes()
        target.send(windowUpdate(stream.id, 0, FIN), stream.frame(100))
        const reaction = await target.reaction(stream)

        return reaction === 'goes on' ? (stream.receivedBytes > 100 ? 'delivers it' : 'ignores it') : reaction
      }
    },
    {
      number: '2.25',
      title: 'The target opens streams with ids of its own side, and with SYN',
      rule: 'Dialler and listener have odd and even ids, and a stream begins with SYN.',
      source: specification('StreamID Field'),
      level: 'must',
      needs: 'opener',
      async talk (target) {
        await target.until('a stream to be opened', () => target.opened.length > 0)
        const [{ id, headers: [first] }] = target.opened
        target.check(`an ${target.isDialled ? 'even' : 'odd'} id that is not 0`, id !== 0 && (id % 2 === 0) === target.isDialled)
        target.check('SYN on the first frame, and no ACK', (first.flags & SYN) !== 0 && (first.flags & ACK) === 0)
      }
    },
    {
      number: '2.26',
      title: 'The target writes on a stream that it has opened without waiting for the ACK',
      rule: 'Data need not wait for the ACK: some implementations send that with their answer to the data.',
      source: specification('Opening a stream'),
      level: 'must',
      needs: 'opener',
      reports: ['stephanfeb/dart_libp2p#29'],
      async talk (target) {
        await target.until('data on a stream that has no ACK yet', () => target.opened.some(stream => stream.receivedBytes > 0))
      }
    },
    {
      number: '2.27',
      title: 'FIN in the same frame as ACK takes effect',
      rule: 'A window update may have ACK, and it may have FIN. Whether both at once is not written.',
      source: specification('Flag Field'),
      level: 'should',
      needs: 'opener',
      async talk (target) {
        await target.until('a stream to be opened', () => target.opened.length > 0)
        const [stream] = target.opened
        // in libp2p that is before a protocol is agreed on, and may bring a reset
        stream.grant(0, ACK | FIN)
        await target.until(`the end of stream ${stream.id}`, () => stream.isFinished || stream.isReset)
      }
    },
    {
      number: '2.28',
      title: 'A stream that the target has opened may be refused',
      rule: 'A stream that was opened may be answered with RST.',
      source: specification('Opening a stream'),
      level: 'must',
      needs: 'opener',
      async talk (target) {
        await target.until('a stream to be opened', () => target.opened.length > 0)
        target.opened[0].reset()
        await target.open().send(100).echoes()
      }
    },
    {
      number: '2.29',
      title: 'An ACK may bring data',
      rule: 'ACK may stand on either kind of frame.',
      source: specification('Flag Field'),
      level: 'must',
      needs: 'echoing opener',
      async talk (target) {
        await target.until('data on a stream', () => target.opened.some(stream => stream.receivedBytes > 0))
        const [stream] = target.opened
        const receivedBytes = stream.receivedBytes
        stream.send(100, ACK)
        await target.until('100 bytes more on the stream', () => stream.receivedBytes === receivedBytes + 100)
      }
    },
    {
      number: '2.30',
      title: 'The target sends nothing on a stream after it has read a RST',
      rule: 'After RST a stream is over, in both directions. nim-libp2p and jvm-libp2p end the connection for an answer.',
      source: 'docs/strict-peers.md#ending',
      level: 'should',
      needs: 'echo',
      async talk (target) {
        for (const stream of [target.open().send(100), target.open().send(100).finish()]) {
          await stream.echoes()
          await target.isSilent()
          const { length } = stream.headers
          stream.reset()
          await target.isSilent()
          target.check(`no answer to the RST on stream ${stream.id}`, stream.headers.length === length)
        }
      }
    }
  ]
}
