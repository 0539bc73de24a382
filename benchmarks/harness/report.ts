// What a benchmark says at its end, and keeps if it is asked to.
import { writeFile } from 'node:fs/promises'
import { renderMachine } from './table.ts'

interface Report {
  tables: string[]
  /** How often and how long */
  extent: string
  legend: string
  /** A file for all that was measured */
  json?: string
  measured: object
}

export async function report ({ tables, extent, legend, json, measured }: Report): Promise<void> {
  console.info(`\n${tables.join('\n')}\n\n${renderMachine()}, ${extent}\n\n${legend}`)

  if (json != null) {
    await writeFile(json, JSON.stringify({ machine: renderMachine(), ...measured }, null, 2))
  }
}
