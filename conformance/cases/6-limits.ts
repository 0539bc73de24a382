// Limits: how many streams may wait, and what comes in floods.
import { data, DATA, frame, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { libp2pSpecification, NOT_ENDED, SAFETY } from '../case.ts'
import type { Case, Group } from '../case.ts'
import type { Target } from '../target.ts'

const BACKLOG = 256
const MANY = 1_000
const MAX_UINT32 = 0xffff_ffff
const NONE = new Uint8Array(0)

/** What a flood may do is end its connection */
function flood (number: string, what: string, level: Case['level'], reports: string[], frames: (target: Target) => Uint8Array[]): Case {
  return {
    number,
    title: `The target still answers after ${what}`,
    rule: NOT_ENDED,
    source: SAFETY,
    level,
    needs: 'listener',
    reports,
    async talk (target) {
      target.send(...frames(target))
      await target.answersOrEnds()
      await target.takesAnother()
    }
  }
}

export const limits: Group = {
  number: 6,
  name: 'limits',
  cases: [
    {
      number: '6.1',
      title: '256 streams may be opened in one write',
      rule: 'libp2p asks for room for 256 streams that are not acknowledged.',
      source: libp2pSpecification('ACK backlog'),
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const all = Array.from({ length: BACKLOG }, () => target.newStream())
        target.send(...all.map(stream => windowUpdate(stream.id, 0, SYN)))
        await target.answers()
        target.send(...all.map(stream => stream.frame(100)))

        for (const stream of all) {
          await stream.echoes()
          target.check(`stream ${stream.id} not to be reset`, !stream.isReset)
        }
      }
    },
    {
      number: '6.2',
      title: '1,000 streams opened in one write',
      rule: 'The specification has no limit of streams.',
      source: libp2pSpecification('ACK backlog'),
      level: 'informational',
      needs: 'echo',
      async talk (target) {
        const all = Array.from({ length: MANY }, () => target.newStream())
        target.send(...all.map(stream => windowUpdate(stream.id, 0, SYN)))
        const reaction = await target.reaction()
        const accepted = all.filter(({ isAcknowledged, isReset }) => isAcknowledged && !isReset).length
        const reset = all.filter(({ isReset }) => isReset).length

        return `${reaction}: ${accepted} have an ACK, ${reset} a RST`
      }
    },
    {
      number: '6.3',
      title: 'When the ACK comes',
      rule: 'libp2p recommends that the ACK waits until the application sends.',
      source: libp2pSpecification('ACK backlog'),
      level: 'informational',
      needs: 'echo',
      async talk (target) {
        const stream = target.open()
        await target.isSilent()

        return stream.isAcknowledged ? 'before the application sends' : 'with what the application sends'
      }
    },
    {
      number: '6.4',
      title: 'A frame of 4 GiB is refused when its header has arrived',
      rule: 'A body that no window has room for can be refused when its header has come.',
      source: SAFETY,
      level: 'should',
      needs: 'echo',
      async talk (target) {
        const stream = target.open().send(100)
        await stream.echoes()
        target.send(frame(DATA, 0, stream.id, MAX_UINT32))
        await target.refuses('4,294,967,295 bytes in one frame', stream)
      }
    },
    {
      number: '6.5',
      title: 'The target still answers after a header that announces 4 GiB',
      rule: NOT_ENDED,
      source: SAFETY,
      level: 'must',
      needs: 'listener',
      async talk (target) {
        // whatever is sent after it may be taken for the body
        target.send(frame(DATA, SYN, target.newStream().id, MAX_UINT32))
        await target.takesAnother()
      }
    },
    flood('6.6', '1,000 streams that are reset as soon as they are opened', 'must', ['CVE-2023-44487 (HTTP/2)'], target => Array.from({ length: MANY }, () => target.newStream().id).flatMap(id => [windowUpdate(id, 0, SYN), windowUpdate(id, 0, RST)])),
    flood('6.7', '4,000 empty DATA frames', 'must', ['CVE-2019-9518 (HTTP/2)'], target => {
      const { id } = target.newStream()

      return [windowUpdate(id, 0, SYN), ...Array.from({ length: 4 * MANY }, () => data(id, NONE))]
    }),
    flood('6.8', '4,000 window updates of one byte', 'must', ['CVE-2019-9515 (HTTP/2)'], target => {
      const { id } = target.newStream()

      return [windowUpdate(id, 0, SYN), ...Array.from({ length: 4 * MANY }, () => windowUpdate(id, 1))]
    }),
    flood('6.9', '4,000 frames for a stream that was never opened', 'must', [], target => {
      const { id } = target.newStream()

      return Array.from({ length: 4 * MANY }, () => data(id, Uint8Array.of(1)))
    })
  ]
}
