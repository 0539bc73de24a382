// Installs the applications that are measured, which are too much to come with the rest.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from '../../../peers/toolchain.ts'
import { versionsOf } from '../../harness/record.ts'

const folder = new URL('.', import.meta.url)

/** What npm writes when all of it is there */
const done = new URL('node_modules/.package-lock.json', folder)

export function installApplications (): void {
  if (!existsSync(done)) {
    build('benchmarks: Helia and kad-dht, with what they need,', {
      probe: ['npm', '--version'],
      folder,
      outputFolder: fileURLToPath(new URL('node_modules', folder)),
      steps: [['npm', 'ci', '--loglevel=error']]
    })
  }
}

export function installedVersions (): Record<string, string> {
  return versionsOf(['helia', '@helia/bitswap', '@helia/unixfs', '@libp2p/kad-dht'], 'benchmarks/apps/installed')
}
