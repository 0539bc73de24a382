// The records that documents are rendered from, by their names: `benchmarks/record/uplink-both.json` is `uplink-both`.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseRecord } from '../harness/record.ts'
import type { BenchmarkRecord } from '../harness/record.ts'

export type Records = Map<string, BenchmarkRecord>

const folder = fileURLToPath(new URL('../record/', import.meta.url))

export function readRecords (): Records {
  return new Map(globSync('*.json', { cwd: folder }).sort().map(file => [file.replace('.json', ''), parseRecord(readFileSync(folder + file, 'utf8'))]))
}

export function findRecord (records: Records, name: string): BenchmarkRecord {
  const record = records.get(name)

  if (record === undefined) {
    throw new Error(`there is no benchmarks/record/${name}.json: a benchmark makes it with --record`)
  }

  return record
}
