// How much of each link each muxer uses: simulated, exact, and for two of the links over real sockets.
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Listr } from 'listr2'
import { renderMachine } from '../../harness/table.ts'
import { runBenchmark } from '../../harness/run.ts'
import { drawLinkParts } from './chart.ts'
import { idealMs } from './links.ts'
import { measureOverTcp, startProcesses } from './over-tcp.ts'
import { renderSimulated, renderTcp, simulatedLegend, tcpLegend, tcpToMarkdown, toMarkdown } from './report.ts'
import { simulateWork } from './simulated.ts'
import { measureUnconstrained, renderUnconstrained } from './unconstrained.ts'
import { findVariant, variants } from './variants.ts'
import { cells, payloadBytes } from './works.ts'
import type { Result, TcpResult } from './report.ts'
import type { Unconstrained } from './unconstrained.ts'
import type { Cell } from './works.ts'

const TCP_LINKS = ['adsl2+', 'mobile']
const LONGEST_OVER_TCP_MS = 60_000
/** With windows that do not grow ten seconds' worth of a long fat link takes eight minutes, which is known after one */
const TEN_SECONDS_VARIANTS = ['ours', 'stock', 'mplex']
const results = new URL('results/', import.meta.url)

const PARTS = ['simulated', 'unconstrained', 'tcp']

async function simulateAll (wanted: Cell[]): Promise<Result[]> {
  const simulated: Result[] = []

  await new Listr(wanted.map(({ link, work }) => ({
    title: `Simulate ${work.label}, ${link.id}`,
    task: async () => {
      for (const variant of work.id.endsWith('10s') ? TEN_SECONDS_VARIANTS.map(findVariant) : variants) {
        simulated.push({ link, work, variant, simulated: await simulateWork(link, work, variant) })
      }
    }
  })), { concurrent: false }).run()

  return simulated
}

async function keepSimulated (simulated: Result[]): Promise<void> {
  for (const ofWork of Map.groupBy(simulated, ({ work }) => work.id).values()) {
    await writeFile(new URL(`${ofWork[0].work.id}.svg`, results), drawLinkParts(ofWork))
  }

  await writeFile(new URL('simulated.md', results), toMarkdown(simulated))
}

await runBenchmark(async stopAtEnd => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: PARTS },
      json: { type: 'string' }
    }
  })
  const unknown = values.only.find(part => !PARTS.includes(part))

  if (unknown != null) {
    throw new Error(`--only takes ${PARTS.join(', ')}, not "${unknown}"`)
  }

  const isAsked = (part: string): boolean => values.only.includes(part)
  let simulated: Result[] = []
  let unconstrained: Unconstrained[] = []
  let overTcp: TcpResult[] = []

  if (isAsked('simulated')) {
    simulated = await simulateAll(cells)
    await keepSimulated(simulated)
    console.info(`\n${renderSimulated(simulated)}\n\n${simulatedLegend}\n\nTables and charts are in ${fileURLToPath(results)}\n`)
  }

  if (isAsked('unconstrained')) {
    unconstrained = await measureUnconstrained(stopAtEnd)
    console.info(`${renderUnconstrained(unconstrained)}\n`)
  }

  if (isAsked('tcp')) {
    const isOverTcp = ({ link, work }: Cell): boolean => TCP_LINKS.includes(link.id) && idealMs(link, payloadBytes(work)) < LONGEST_OVER_TCP_MS
    const compared = isAsked('simulated') ? simulated.filter(isOverTcp) : await simulateAll(cells.filter(isOverTcp))
    const processes = startProcesses()
    stopAtEnd(Object.values(processes))
    overTcp = await measureOverTcp(processes, compared)
    await writeFile(new URL('over-tcp.md', results), tcpToMarkdown(overTcp))
    console.info(`\n${renderTcp(overTcp)}\n\n${renderMachine()}\n${tcpLegend}`)
  }

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), simulated, unconstrained, overTcp }, null, 2))
  }
})
