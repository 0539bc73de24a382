// Framing: headers and bodies as bytes, however they are cut, and what no frame may be.
import { ACK, concat, data, DATA, FIN, frame, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { ALL_ACCEPT, specification } from '../case.ts'
import type { Group } from '../case.ts'

const UNKNOWN_TYPE = 4
const UNKNOWN_FLAG = 0x10

export const framing: Group = {
  number: 1,
  name: 'framing',
  cases: [
    {
      number: '1.1',
      title: 'Every frame has version 0 and a known type',
      rule: 'There is one version, 0, and there are the types 0 to 3.',
      source: specification('Version Field'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(1_000)
        await stream.echoes()
        stream.finish()
        await stream.ends()
        await target.answers()
      }
    },
    {
      number: '1.2',
      title: 'Fields are big-endian',
      rule: 'Fields are big-endian.',
      source: specification('Framing'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.newStream(0x01020300 + (target.isDialled ? 1 : 2)).open().send(0x0102)
        await stream.echoes()
      }
    },
    {
      number: '1.3',
      title: 'Frames may arrive one byte at a time',
      rule: 'A byte stream below yamux may cut a header anywhere.',
      source: specification('Framing'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.newStream()
        await target.sendInPieces(1, windowUpdate(stream.id, 0, SYN), stream.frame(40), windowUpdate(stream.id, 0, FIN))
        await stream.echoes()
        await stream.ends()
      }
    },
    {
      number: '1.4',
      title: 'Several frames may arrive together',
      rule: 'A byte stream below yamux may join frames.',
      source: specification('Framing'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.newStream()
        target.send(stream.frame(100, SYN), ...Array.from({ length: 50 }, () => stream.frame(100)), windowUpdate(stream.id, 0, FIN))
        await stream.echoes()
        await stream.ends()
      }
    },
    {
      number: '1.5',
      title: 'A body may arrive in pieces',
      rule: 'A byte stream below yamux may cut a body anywhere.',
      source: specification('Framing'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.open()
        await target.sendInPieces(1_000, stream.frame(20_000))
        await stream.echoes()
      }
    },
    {
      number: '1.6',
      title: 'An empty DATA frame may open a stream',
      rule: 'DATA may be empty, and may have SYN.',
      source: specification('Type Field'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.newStream()
        target.send(data(stream.id, new Uint8Array(0), SYN))
        await stream.send(100).echoes()
      }
    },
    {
      number: '1.7',
      title: 'An empty DATA frame without flags has no effect',
      rule: 'DATA may be empty.',
      source: ALL_ACCEPT,
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100)
        target.send(data(stream.id, new Uint8Array(0)))
        await stream.send(100).echoes()
        await target.isSilent()
        target.check('no FIN on the stream', !stream.isFinished)
      }
    },
    {
      number: '1.8',
      title: 'A frame of another version ends the connection',
      rule: 'There is one version, 0.',
      source: specification('Version Field'),
      level: 'should',
      needs: 'listener',
      reports: ['vacp2p/nim-libp2p#2787'],
      async talk (target) {
        await target.answers()
        const ping = frame(2, SYN, 0, 1)
        ping[0] = 1
        target.send(ping)
        await target.refuses('version 1')
      }
    },
    {
      number: '1.9',
      title: 'A frame of an unknown type ends the connection',
      rule: 'There are the types 0 to 3.',
      source: specification('Type Field'),
      level: 'should',
      needs: 'listener',
      async talk (target) {
        await target.answers()
        target.send(frame(UNKNOWN_TYPE, 0, 0))
        await target.refuses('type 4')
      }
    },
    {
      number: '1.10',
      title: 'DATA on stream 0 opens no stream',
      rule: 'Id 0 belongs to the session.',
      source: specification('StreamID Field'),
      level: 'should',
      needs: 'listener',
      async talk (target) {
        await target.answers()
        target.send(data(0, concat(target.preamble, new Uint8Array(100)), SYN))
        await target.answersOrEnds()
        target.check('nothing but an end of the connection to answer it', !target.headers.some(({ type, flags, id }) => id === 0 && (type === DATA || flags === ACK)))
      }
    },
    {
      number: '1.11',
      title: 'An unknown flag',
      rule: 'There are four flags. The specification does not say what to do with other bits.',
      source: specification('Flag Field'),
      level: 'informational',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100)
        await stream.echoes()
        target.send(windowUpdate(stream.id, 0, UNKNOWN_FLAG))

        return target.reaction(stream)
      }
    }
  ]
}
