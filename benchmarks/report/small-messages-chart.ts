// How many small messages a second each muxer carries, as a chart: a panel for each row.
import { fullNameOf, muxerNames } from '../contestants.ts'
import { medianOf, ratioOf, samplesOf } from '../harness/samples.ts'
import { inWords, rows } from '../rows.ts'
import { isOfSmallMessages } from './verdict.ts'
import type { MuxerName } from '../contestants.ts'
import type { Sample } from '../harness/samples.ts'
import type { Panels } from './panels.ts'
import type { Scheme } from './svg.ts'

/** For "110 thousand" */
const FIGURE_WIDTH = 100

const ratio = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', compactDisplay: 'long', maximumSignificantDigits: 2 })

function compare (samples: Sample[], rowId: string, others: MuxerName[]): string {
  const ratios = others.map(other => ({ other, spread: ratioOf(samplesOf(samples, rowId, 'ours'), samplesOf(samples, rowId, other), 'messagesPerS') }))

  return `this muxer has ${ratios.map(({ other, spread }) => `${ratio.format(spread?.median ?? NaN)} times ${fullNameOf(other)}`).join(', ')}`
}

export function chartSmallMessages (scheme: Scheme, samples: Sample[]): Panels {
  const muxers = muxerNames.filter(name => samples.some(({ muxer }) => muxer === name))

  return {
    title: 'Small messages a second',
    subtitle: 'Over TCP and Noise. More is better; each panel has its own scale.',
    panels: rows.filter(row => isOfSmallMessages(row) && samples.some(({ rowId }) => rowId === row.id)).map(({ id, label }) => ({
      title: inWords(label),
      subtitle: compare(samples, id, muxers.filter(muxer => muxer !== 'ours')),
      values: muxers.map(muxer => {
        const messagesPerS = medianOf(samplesOf(samples, id, muxer), 'messagesPerS') ?? NaN

        return {
          name: muxer === 'ours' ? 'this muxer' : fullNameOf(muxer),
          value: messagesPerS,
          figure: compact.format(messagesPerS),
          colour: muxer === 'ours' ? scheme.ours : scheme.other
        }
      })
    })),
    figureWidth: FIGURE_WIDTH
  }
}
