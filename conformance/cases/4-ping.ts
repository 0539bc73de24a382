// Pings: answered with their value, at any time.
import { ACK, frame, ping, PING, SYN } from '../../testing/protocol/frames.ts'
import { ALL_ACCEPT, NOT_ENDED, SAFETY, specification } from '../case.ts'
import { WINDOW_BYTES } from '../stream.ts'
import type { Group } from '../case.ts'

const MANY = 1_000

export const pings: Group = {
  number: 4,
  name: 'ping',
  cases: [
    {
      number: '4.1',
      title: 'A ping is answered with its value',
      rule: 'A ping has SYN, its pong ACK and the same value.',
      source: specification('Length Field'),
      level: 'must',
      needs: 'listener',
      async talk (target) {
        await target.answers(0x01020304)
        const [{ flags, id }] = target.pongs
        target.check('ACK alone, on stream 0', flags === ACK && id === 0)
      }
    },
    {
      number: '4.2',
      title: 'Pings of any value are answered',
      rule: 'A pong has the value of its ping, whatever that is.',
      source: specification('Length Field'),
      level: 'must',
      needs: 'listener',
      async talk (target) {
        const values = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]
        target.send(...values.map(value => ping(value, SYN)))
        await target.until('a pong of each value', () => values.every(value => target.pongs.some(({ length }) => length === value)))
      }
    },
    {
      number: '4.3',
      title: 'Two pings of the same value are answered, once each',
      rule: 'A pong has the value of its ping, whatever that is.',
      source: specification('Length Field'),
      level: 'must',
      needs: 'listener',
      async talk (target) {
        await target.answers(7)
        await target.answers(7)
        await target.isSilent()
        target.check('two answers with the value 7', target.pongs.filter(({ length }) => length === 7).length === 2)
      }
    },
    {
      number: '4.4',
      title: 'A ping is answered while a stream has no credit',
      rule: 'Pings keep connections alive, and windows belong to streams alone.',
      source: specification('Type Field'),
      level: 'must',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(WINDOW_BYTES)
        await stream.echoes()
        await stream.hasCredit(WINDOW_BYTES / 4)
        stream.send(WINDOW_BYTES / 4)
        await target.answers()
      }
    },
    {
      number: '4.5',
      title: 'Ten pings in one write are answered',
      rule: 'A pong has the value of its ping, whatever that is.',
      source: specification('Length Field'),
      level: 'should',
      needs: 'listener',
      async talk (target) {
        target.send(...Array.from({ length: 10 }, (_, value) => ping(value, SYN)))
        await target.until('ten answers', () => target.pongs.length === 10)
        target.check('each value once', new Set(target.pongs.map(({ length }) => length)).size === 10)
      }
    },
    {
      number: '4.6',
      title: 'In a flood of pings, every pong has the value of a ping, and none comes twice',
      rule: 'A pong has the value of its ping. A flood may go unanswered, or end the connection.',
      source: specification('Length Field'),
      level: 'must',
      needs: 'listener',
      async talk (target) {
        const control = 0xcafe
        await target.answers(control)
        target.send(...Array.from({ length: MANY }, (_, value) => ping(value, SYN)))
        await target.answersOrEnds()
        const values = target.pongs.map(({ length }) => length).filter(value => value !== control)
        const answers = values.filter(value => value < MANY)
        target.check('values of the flood and of the ping after it, each once at most', new Set(values).size === values.length && values.length - answers.length <= 1)
      }
    },
    {
      number: '4.7',
      title: 'The target still answers after a flood of pings',
      rule: NOT_ENDED,
      source: SAFETY,
      level: 'must',
      needs: 'listener',
      reports: ['CVE-2024-32984 (rust-yamux)'],
      async talk (target) {
        target.send(...Array.from({ length: 4 * MANY }, (_, value) => ping(value, SYN)))
        await target.answersOrEnds()
        await target.takesAnother()
      }
    },
    {
      number: '4.8',
      title: 'An unexpected pong',
      rule: 'The specification does not say what to do with it.',
      source: specification('Flag Field'),
      level: 'informational',
      needs: 'listener',
      async talk (target) {
        target.send(ping(0xdead_beef, ACK))

        return target.reaction()
      }
    },
    {
      number: '4.9',
      title: 'A ping on a stream',
      rule: 'Pings stand on stream 0. The specification does not say what to do with others.',
      source: specification('StreamID Field'),
      level: 'informational',
      needs: 'listener',
      async talk (target) {
        target.send(frame(PING, SYN, 1, 42))
        const reaction = await target.reaction()

        return target.pongs.some(({ length }) => length === 42) ? 'answers it' : reaction
      }
    },
    {
      number: '4.10',
      title: 'An unexpected pong is not answered',
      rule: 'A ping with ACK is a pong. To answer pongs would go on without end.',
      source: ALL_ACCEPT,
      level: 'should',
      needs: 'listener',
      async talk (target) {
        await target.answers()
        target.send(ping(1, ACK))
        await target.answersOrEnds()
        target.check('no ping and no pong with the value of the pong', ![...target.pings, ...target.pongs].some(({ length }) => length === 1))
      }
    },
    {
      number: '4.11',
      title: 'The target still answers after a flood of unexpected pongs',
      rule: NOT_ENDED,
      source: SAFETY,
      level: 'must',
      needs: 'listener',
      async talk (target) {
        target.send(...Array.from({ length: 4 * MANY }, (_, value) => ping(value, ACK)))
        await target.answersOrEnds()
        await target.takesAnother()
      }
    }
  ]
}
