// What of the matrix is drawn: medians, for each transport.
import { transports } from '../contestants.ts'
import { drawBars } from '../report/bars.ts'
import { medianOf, ratioOf, samplesOf } from '../harness/samples.ts'
import { matrixRows } from '../rows.ts'
import { isAboutLatency, ofTransport } from './results.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { CellSample } from '../report/metrics.ts'
import type { Row } from '../rows.ts'

type ValueOf = (row: Row, muxer: ContestantMuxer) => number | undefined

export function drawCharts (samples: CellSample[], transport: TransportName): string[] {
  const ofThis = ofTransport(samples, transport)
  const muxers = [...new Set(ofThis.map(({ muxer }) => muxer))]
  const measured = matrixRows.filter(({ id }) => ofThis.some(({ rowId }) => rowId === id))
  const requests = measured.filter(({ scenario }) => isAboutLatency(scenario))
  const others = measured.filter(row => !requests.includes(row))
  const of: (row: Row, muxer: ContestantMuxer) => CellSample[] = (row, muxer) => samplesOf(ofThis, row.id, muxer)

  function draw (what: string, rows: Row[], valueOf: ValueOf, from?: number): string[] {
    const series = muxers
      .map(muxer => ({ name: muxer, values: rows.map(row => valueOf(row, muxer)) }))
      .filter(({ values }) => values.some(value => value != null))
    const title = `${transports[transport]}: ${what}`

    return series.length === 0 ? [] : [drawBars({ title, categories: rows.map(({ label }) => label), series, from })]
  }

  return [
    ...draw('MB/s, more is better', others, (row, muxer) => medianOf(of(row, muxer), 'megabytesPerS')),
    ...draw('messages/s, times those of stock in the same round', others, (row, muxer) => ratioOf(of(row, muxer), of(row, 'stock'), 'messagesPerS')?.median, 1),
    ...draw('seconds of CPU for a GB, both sides, less is better', others, (row, muxer) => medianOf(of(row, muxer), 'bothCpuSPerGigabyte')),
    ...draw('p50 of requests in ms, less is better', requests, (row, muxer) => medianOf(of(row, muxer), 'p50Ms')),
    ...draw('p99 of requests in ms, less is better', requests, (row, muxer) => medianOf(of(row, muxer), 'p99Ms'))
  ]
}
