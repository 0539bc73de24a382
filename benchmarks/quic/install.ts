// Installs QUIC for the benchmarks, if this machine can have it.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from '../../peers/toolchain.ts'

const folder = new URL('.', import.meta.url)
const outputFolder = fileURLToPath(new URL('node_modules', folder))

/** Says why when it is skipped */
export async function installQuic (): Promise<boolean> {
  try {
    if (!existsSync(outputFolder)) {
      build('benchmarks: QUIC and what it needs', {
        probe: ['npm', '--version'],
        folder,
        outputFolder,
        // not `ci`, which wants the packages of all platforms in the lockfile
        steps: [['npm', 'install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']]
      })
    }

    await import('./index.js')

    return true
  } catch (err) {
    console.warn(`benchmarks: skips quic, which cannot be loaded here: ${err instanceof Error ? err.message : String(err)}`)

    return false
  }
}
