// Go away: what a session says at its end, and what it does when the other side says it.
import { frame, GO_AWAY, goAway } from '../../testing/protocol/frames.ts'
import { NOT_ENDED, SAFETY, specification } from '../case.ts'
import { Inapplicable } from '../transcript.ts'
import type { Case, Group } from '../case.ts'

const PROTOCOL_ERROR = 1
const UNKNOWN_TYPE = 4
const UNKNOWN_CODE = 4_101

function survives (number: string, code: number, meaning: string): Case {
  return {
    number,
    title: `The target still answers after GoAway with ${meaning}`,
    rule: 'GoAway ends a session, and concerns no other.',
    source: specification('Session termination'),
    level: 'must',
    needs: 'listener',
    async talk (target) {
      target.open()
      target.send(goAway(code))
      await target.answersOrEnds()
      await target.takesAnother()
    }
  }
}

export const goAways: Group = {
  number: 5,
  name: 'go away',
  cases: [
    survives('5.1', 0, 'code 0, normal termination'),
    survives('5.2', 1, 'code 1, protocol error'),
    survives('5.3', 2, 'code 2, internal error'),
    survives('5.4', UNKNOWN_CODE, 'a code that is not in the specification'),
    {
      number: '5.5',
      title: 'A violation is answered with GoAway before the connection ends',
      rule: 'A session that ends says so with GoAway.',
      source: specification('Session termination'),
      level: 'should',
      needs: 'listener',
      async talk (target) {
        target.send(frame(UNKNOWN_TYPE, 0, 0))
        await target.until('GoAway', () => target.goAway != null)
      }
    },
    {
      number: '5.6',
      title: 'GoAway for a violation has code 1, on stream 0, without flags',
      rule: 'GoAway stands on stream 0, and its code for a violation is 1.',
      source: specification('Session termination'),
      level: 'should',
      needs: 'listener',
      async talk (target) {
        target.send(frame(UNKNOWN_TYPE, 0, 0))
        await target.answersOrEnds()

        if (target.goAway == null) {
          throw new Inapplicable('as the target sends no GoAway for it, which 5.5 is about')
        }

        const { id, flags, length } = target.goAway
        target.check('code 1 on stream 0 without flags', id === 0 && flags === 0 && length === PROTOCOL_ERROR)
      }
    },
    {
      number: '5.7',
      title: 'A stream that is open when GoAway comes',
      rule: 'The specification does not say whether open streams end at once.',
      source: specification('Session termination'),
      level: 'informational',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100)
        await stream.echoes()
        target.send(goAway(0))
        stream.send(100)
        const reaction = await target.reaction(stream)

        return reaction === 'goes on' ? `goes on, ${stream.receivedBytes === 200 ? 'and the stream with it' : 'but not the stream'}` : reaction
      }
    },
    {
      number: '5.8',
      title: 'A stream that is opened after GoAway',
      rule: 'The specification does not say what to do with it.',
      source: specification('Session termination'),
      level: 'informational',
      needs: 'echo',
      async talk (target) {
        target.send(goAway(0))

        return target.reaction(target.open())
      }
    },
    {
      number: '5.9',
      title: 'The target still answers after GoAway on a stream',
      rule: NOT_ENDED,
      source: SAFETY,
      level: 'must',
      needs: 'listener',
      async talk (target) {
        target.send(frame(GO_AWAY, 0, 1, 0))
        await target.answersOrEnds()
        await target.takesAnother()
      }
    }
  ]
}
