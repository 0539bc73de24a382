// The picture of docs/grafana.json: two nodes under load, a Prometheus that scrapes them, and its answers drawn.
import { writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseCount } from '../../testing/programs/names.ts'
import { readOptions } from '../../testing/programs/options.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { drawDashboard } from './draw.ts'
import { startLoad } from './load.ts'
import { linesOf, readDashboard } from './panels.ts'
import { startPrometheus } from './prometheus.ts'

const docs = new URL('../../docs/', import.meta.url)
const NOTE = 'Drawn by npm run dashboard, not by Grafana: two nodes, with a load that is made up'
const SETTLE_MS = 3000

await runBenchmark(async stopAtEnd => {
  const values = readOptions({ command: 'npm run dashboard --', about: 'draws docs/grafana.svg: two nodes under load, and what a Prometheus says of them' }, {
    seconds: { takes: 'number', about: 'how long the load lasts', default: '300' }
  })
  const durationMs = parseCount('seconds', values.seconds) * 1000
  const load = await startLoad()
  stopAtEnd([load])
  const prometheus = await startPrometheus(load.ports, fileURLToPath(new URL('alerts.yaml', docs)))
  stopAtEnd([prometheus])

  // nodes whose counters have begun, as those of a node that runs
  await delay(SETTLE_MS)
  const fromS = Date.now() / 1000
  await load.run(durationMs)
  const toS = Date.now() / 1000

  const dashboard = await readDashboard(new URL('grafana.json', docs))
  const lines = new Map(await Promise.all(dashboard.panels.map(async panel => [panel, await linesOf(panel, prometheus, fromS, toS)] as const)))
  await writeFile(new URL('grafana.svg', docs), drawDashboard(dashboard, { lines, fromS, toS, note: NOTE }))

  for (const { labels } of await prometheus.queryAt('max by (alertname, instance) (max_over_time(ALERTS[1h]))', toS)) {
    console.info(`pending or firing: ${labels.alertname} of ${labels.instance}`)
  }
})
