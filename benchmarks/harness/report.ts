// What a benchmark says at its end, and records if it is asked to.
import { writeRecord } from './record.ts'
import { renderMachine } from './table.ts'
import type { Measured } from './record.ts'

interface Report {
  tables: string[]
  /** How often and how long */
  extent: string
  legend: string
  /** Where all that was measured goes */
  json?: string
  /** With the samples, and what else is worth keeping */
  measured: Omit<Measured, 'extent'>
}

export async function report ({ tables, extent, legend, json, measured }: Report): Promise<void> {
  console.info(`\n${tables.join('\n')}\n\n${renderMachine()}, ${extent}\n\n${legend}`)

  if (json != null) {
    await writeRecord(json, { extent, ...measured })
  }
}
