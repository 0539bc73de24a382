// A recorded link, as Mahimahi has it: each line is a millisecond in which one packet may pass.
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { PACKET_BYTES } from '../../testing/relay/schedule.ts'
import { named } from '../../testing/programs/run.ts'

export interface Recording {
  name: string
  opportunitiesMs: Float64Array
}

export async function readRecording (path: string): Promise<Recording> {
  return named(path, async () => {
    const bytes = await readFile(path)
    const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()

    return { name: basename(path, '.gz'), opportunitiesMs: parseOpportunities(text) }
  })
}

export function parseOpportunities (text: string): Float64Array {
  const lines = text.trim().split(/\s*\n/)
  let beforeMs = 0

  const opportunitiesMs = Float64Array.from(lines, (line, index) => {
    const atMs = Number(line)

    if (!/^\d+$/.test(line) || atMs < beforeMs) {
      throw new Error(`Line ${index + 1} is "${line}", not a millisecond from ${beforeMs} on`)
    }

    beforeMs = atMs

    return atMs
  })

  if (beforeMs === 0) {
    throw new Error('The recording ends where it begins, at 0')
  }

  return opportunitiesMs
}

/** On average over the recording */
export function mbitOf ({ opportunitiesMs }: Recording): number {
  return opportunitiesMs.length * PACKET_BYTES * 8 / 1000 / opportunitiesMs[opportunitiesMs.length - 1]
}
