// Robustness: connections that end anywhere, and bytes that mean nothing.
import { pattern } from '../../testing/pattern.ts'
import { DATA, frame, PING, SYN } from '../../testing/protocol/frames.ts'
import { NOT_ENDED, SAFETY } from '../case.ts'
import type { Case, Group } from '../case.ts'
import type { Target } from '../target.ts'

function survives (number: string, what: string, needs: Case['needs'], harm: (target: Target) => Promise<void>): Case {
  return {
    number,
    title: `The target still answers after ${what}`,
    rule: NOT_ENDED,
    source: SAFETY,
    level: 'must',
    needs,
    async talk (target) {
      await harm(target)
      await target.takesAnother()
    }
  }
}

export const robustness: Group = {
  number: 7,
  name: 'robustness',
  cases: [
    survives('7.1', 'bytes that are not frames', 'listener', async target => {
      target.send(pattern(4_096, 1))
      await target.answersOrEnds().catch(() => {})
    }),
    survives('7.2', 'a connection that ends without a byte', 'listener', async target => {
      target.leave(false)
    }),
    survives('7.3', 'a connection that is cut within a header', 'listener', async target => {
      await target.answers()
      target.send(frame(PING, SYN, 0, 1).subarray(0, 5))
      target.leave()
    }),
    survives('7.4', 'a connection that is cut within a body', 'echo', async target => {
      const stream = target.open()
      target.send(frame(DATA, 0, stream.id, 1_000), pattern(10))
      await target.answersOrEnds().catch(() => {})
      target.leave()
    }),
    survives('7.5', 'a connection that is cut with open streams', 'echo', async target => {
      const [first, second] = [target.open().send(100), target.open().send(100)]
      await first.echoes()
      await second.echoes()
      target.leave()
    }),
    survives('7.6', 'a connection that is closed cleanly with open streams', 'echo', async target => {
      await target.open().send(100).echoes()
      target.leave(false)
    }),
    survives('7.7', 'a connection that is cut while the target has data to send', 'echo', async target => {
      const stream = target.open()
      target.send(...Array.from({ length: 4 }, () => stream.frame(65_536)))
      await stream.echoes(1)
      target.leave()
    }),
    {
      number: '7.8',
      title: 'Invalid bytes on one connection do not end another',
      rule: 'A session lives on its connection alone.',
      source: SAFETY,
      level: 'must',
      needs: 'two connections',
      async talk (target) {
        const other = await target.another()
        const stream = other.open().send(100)
        await stream.echoes()
        target.send(pattern(4_096, 1))
        target.leave()
        await other.answers()
        await stream.send(100).echoes()
      }
    }
  ]
}
