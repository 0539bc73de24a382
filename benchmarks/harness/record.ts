// The record of a run: command, commit, machine and versions, and the figures of all rounds.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { thisBenchmark } from './options.ts'
import type { Sample } from './samples.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What a benchmark knows itself */
export interface Measured {
  /** How often and how long */
  extent: string
  samples: Array<Omit<Sample, 'metrics'> & { metrics: object }>
  /** What was done, where options decide that */
  work?: object
  /** In addition to the packages that every record names */
  versions?: Record<string, string>
}

export interface BenchmarkRecord extends Measured {
  samples: Sample[]
  benchmark: string
  command: string
  commit: string
  /** The tree had changes that are not in the commit */
  isChanged: boolean
  date: string
  machine: { model: string, cores: number, calibrationMs: number }
  node: string
  versions: Record<string, string>
}

/** A row with a muxer: each metric has a figure for each round */
interface Cell extends Pick<Sample, 'rowId' | 'muxer'> {
  metrics: Record<string, Array<number | null>>
}

const PACKAGES = ['libp2p', '@libp2p/yamux', '@libp2p/mplex', '@libp2p/tcp', '@chainsafe/libp2p-noise']
const SIGNIFICANT_DIGITS = 4

function git (...options: string[]): string | undefined {
  return spawnSync('git', ['-c', 'safe.directory=*', ...options], { cwd: root, encoding: 'utf8' }).stdout?.trim()
}

// read at the start, as somebody may commit while a benchmark runs. Rendered files do not change what is measured
const commit = git('rev-parse', '--short', 'HEAD')
const changes = git('status', '--porcelain', '--', '.', ':!*.md', ':!benchmarks/record', ':!benchmarks/charts')

/** As they are installed: `folder` is the one with the lock file, from the root */
export function versionsOf (names: string[], folder = ''): Record<string, string> {
  const { packages } = JSON.parse(readFileSync(join(root, folder, 'package-lock.json'), 'utf8'))

  return Object.fromEntries(names.map(name => [name, packages[`node_modules/${name}`].version]))
}

/** As it was typed, less where the record goes */
function commandOf (command: string, options: string[]): string {
  const telling = options.filter((option, index) => !/^--(record$|json\b)/.test(option) && options[index - 1] !== '--json')
  const quoted = telling.map(option => /\s/.test(option) ? `"${option}"` : option)

  return [command, ...quoted].join(' ').replace(/ --$/, '')
}

export async function writeRecord (path: string, { extent, versions, samples, ...more }: Measured): Promise<void> {
  const { name, command } = thisBenchmark()
  const record: BenchmarkRecord = {
    benchmark: name,
    command: commandOf(command, process.argv.slice(2)),
    commit: commit ?? 'unknown',
    isChanged: changes !== '',
    date: new Date().toISOString().slice(0, 10),
    machine: {
      model: cpus()[0]?.model ?? 'unknown CPU',
      cores: availableParallelism(),
      calibrationMs: round(Number(execFileSync(process.execPath, [join(import.meta.dirname, 'fixed-loop.ts')], { encoding: 'utf8' })))
    },
    node: process.versions.node,
    versions: { ...versionsOf(PACKAGES), ...versions },
    extent,
    ...more,
    samples: samples as Sample[]
  }

  await mkdir(dirname(resolve(path)), { recursive: true })
  await writeFile(path, printRecord(record))
}

function round (value: number): number {
  return Number(value.toPrecision(SIGNIFICANT_DIGITS))
}

/** JSON with a line for each cell, so that a diff shows what changed */
export function printRecord ({ samples, ...head }: BenchmarkRecord): string {
  const cells = Map.groupBy(samples, ({ round, metrics, ...cell }) => JSON.stringify(cell))
  const lines = [...cells].map(([cell, samples]) => JSON.stringify({ ...JSON.parse(cell), metrics: toColumns(samples) }))

  return `${JSON.stringify(head, null, 1).slice(0, -2)},\n "cells": [\n${lines.join(',\n')}\n ]\n}\n`
}

function toColumns (samples: Sample[]): Cell['metrics'] {
  const rounds = Array.from({ length: Math.max(...samples.map(({ round }) => round)) }, (_, index) => samples.find(({ round }) => round === index + 1)?.metrics)
  const metrics = new Set(samples.flatMap(({ metrics }) => Object.keys(metrics).filter(metric => metrics[metric] != null)))

  return Object.fromEntries([...metrics].map(metric => [metric, rounds.map(values => values?.[metric] == null ? null : round(values[metric]))]))
}

export function parseRecord (text: string): BenchmarkRecord {
  const { cells, ...head }: Omit<BenchmarkRecord, 'samples'> & { cells: Cell[] } = JSON.parse(text)

  return { ...head, samples: cells.flatMap(toSamples) }
}

/** Rounds in which nothing of a cell was measured are none */
function toSamples ({ metrics, ...cell }: Cell): Sample[] {
  const rounds = Math.max(...Object.values(metrics).map(({ length }) => length))

  return Array.from({ length: rounds }, (_, index) => {
    const known = Object.entries(metrics).filter(([, values]) => values[index] != null)

    return { ...cell, round: index + 1, metrics: Object.fromEntries(known.map(([metric, values]) => [metric, values[index] as number])) }
  }).filter(({ metrics }) => Object.keys(metrics).length > 0)
}
