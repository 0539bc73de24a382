// A Prometheus of its own: it scrapes the ports that it is given, and answers queries about them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { Stoppable } from '../../testing/programs/run.ts'
import type { AddressInfo } from 'node:net'

const READY_ATTEMPTS = 100
const READY_INTERVAL_MS = 100

export interface Series {
  labels: Record<string, string>
  /** Seconds since 1970, and what it was; for a query at one time there is one */
  values: Array<[number, number]>
}

export interface Prometheus extends Stoppable {
  queryAt(expr: string, timeS: number): Promise<Series[]>
  queryRange(expr: string, fromS: number, toS: number, stepS: number): Promise<Series[]>
}

interface Answer {
  status: string
  error?: string
  data: { result: Array<{ metric: Record<string, string>, value?: [number, string], values?: Array<[number, string]> }> }
}

/** `ports` are those of instances a, b and so on */
export async function startPrometheus (ports: number[], rules: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'dashboard-'))
  const config = join(folder, 'prometheus.yml')
  const url = `http://127.0.0.1:${await freePort()}`
  const targets = ports.map((port, index) => ({ targets: [`127.0.0.1:${port}`], labels: { instance: String.fromCharCode(97 + index) } }))

  await writeFile(config, stringify({
    global: { scrape_interval: '1s', evaluation_interval: '5s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'node', static_configs: targets }]
  }))

  const child = spawn('prometheus', [`--config.file=${config}`, `--storage.tsdb.path=${folder}`, `--web.listen-address=${new URL(url).host}`], { stdio: 'ignore' })
  const exited = once(child, 'exit').catch((err: Error) => {
    throw new Error('There is no prometheus to start: install the Debian package of that name, or put a release into the PATH', { cause: err })
  }).finally(async () => rm(folder, { recursive: true }))

  async function query (path: string, parameters: Record<string, string | number>): Promise<Series[]> {
    const search = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]))
    const { status, error, data } = await (await fetch(`${url}/api/v1/${path}?${search}`)).json() as Answer

    if (status !== 'success') {
      throw new Error(`Prometheus refuses ${parameters.query}: ${error}`)
    }

    return data.result.map(({ metric, value, values = value == null ? [] : [value] }) => ({
      labels: metric,
      values: values.map(([timeS, text]) => [timeS, Number(text)])
    }))
  }

  await Promise.race([isReady(url), exited.then(() => { throw new Error('Prometheus has exited before it was ready') })])

  return {
    queryAt: async (query_, time) => query('query', { query: query_, time }),
    queryRange: async (query_, start, end, step) => query('query_range', { query: query_, start, end, step }),

    async stop () {
      child.kill()
      await exited
    }
  }
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')

  return port
}

async function isReady (url: string): Promise<void> {
  for (let attempt = 1; attempt <= READY_ATTEMPTS; attempt++) {
    const answer = await fetch(`${url}/-/ready`).catch(() => undefined)

    if (answer?.ok === true) {
      return
    }

    await delay(READY_INTERVAL_MS)
  }

  throw new Error(`Prometheus was not ready in ${READY_ATTEMPTS * READY_INTERVAL_MS / 1000} s`)
}
