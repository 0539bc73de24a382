// Both muxers in this process, with nothing between them: what updates cost where no link is slow.
import { multiaddrConnectionPair } from '@libp2p/utils'
import { median } from 'simple-statistics'
import { format, renderGroups } from '../report/table.ts'
import { Receiver, Sender } from './transfer.ts'
import { findVariant } from './variants.ts'
import { payloadBytes, plainWorks } from './works.ts'
import type { Variant } from './variants.ts'
import type { Work } from './works.ts'

const COMPARED = ['ours', 'half', 'zero', 'stock', 'mplex'].map(findVariant)
const ROUNDS = 15
/** Of one measurement; shorter works are repeated */
const AT_LEAST_MS = 100

export interface Unconstrained {
  work: Work
  variant: Variant
  /** One for each round */
  megabytesPerS: number[]
}

/** On streams of their own for each repetition, as where a link is simulated */
async function measure (work: Work, { createMuxer }: Variant): Promise<number> {
  let repetitions = 0
  let tookMs = 0

  while (tookMs < AT_LEAST_MS) {
    const [outbound, inbound] = multiaddrConnectionPair()
    const dialler = createMuxer().createStreamMuxer(outbound)
    const listener = createMuxer().createStreamMuxer(inbound)
    const receiver = new Receiver()
    listener.addEventListener('stream', evt => { receiver.onStream(evt.detail) })
    const startMs = performance.now()
    const arrived = receiver.expect(work)
    const streams = await Promise.all(Array.from({ length: work.streams }, async () => dialler.createStream()))
    await Promise.all([new Sender(streams).send(work), arrived])
    tookMs += performance.now() - startMs
    repetitions++
    outbound.abort(new Error('The measurement is over'))
    inbound.abort(new Error('The measurement is over'))
  }

  return repetitions * payloadBytes(work) / 1000 / tookMs
}

/** Variants in turn, so that what else the machine does hits all alike; the first round warms up */
export async function measureUnconstrained (): Promise<Unconstrained[]> {
  const results = plainWorks.flatMap(work => COMPARED.map((variant): Unconstrained => ({ work, variant, megabytesPerS: [] })))

  for (let round = 0; round <= ROUNDS; round++) {
    for (const { work, variant, megabytesPerS } of results) {
      const measured = await measure(work, variant)

      if (round > 0) {
        megabytesPerS.push(measured)
      }
    }
  }

  return results
}

export function renderUnconstrained (results: Unconstrained[]): string {
  const groups = plainWorks.map(work => {
    const ofWork = results.filter(result => result.work === work)
    const zero = ofWork.find(({ variant }) => variant.id === 'zero') as Unconstrained

    return {
      label: `unconstrained\n${work.label}`,
      lines: ofWork.map(({ variant, megabytesPerS }) => [
        variant.label,
        format(median(megabytesPerS)),
        format(median(megabytesPerS.map((measured, round) => measured / zero.megabytesPerS[round])))
      ])
    }
  })

  return `${renderGroups(['muxer', 'MB/s', '× at zero'], groups)}\n\nMedians of ${ROUNDS} interleaved rounds, both muxers in one process, in memory, no encryption.`
}
