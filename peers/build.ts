// Builds the peers that this machine has the toolchains for. Who is left out is named, and with CI set that is an error.
import { join } from 'node:path'
import { BUILD_FOLDER, PEERS } from './list.ts'
import { build, isHere } from './toolchain.ts'
import type { PeerKind, Toolchain } from './list.ts'
import type { Build } from './toolchain.ts'

function folders (toolchain: Toolchain): Pick<Build, 'folder' | 'outputFolder'> {
  return { folder: new URL(toolchain, import.meta.url), outputFolder: join(BUILD_FOLDER, toolchain) }
}

const VENV_PYTHON = join(BUILD_FOLDER, 'python', 'bin', 'python')

const BUILDS: Record<Toolchain, Build> = {
  javascript: { ...folders('javascript'), probe: [process.execPath, '--version'], steps: [] },
  go: {
    ...folders('go'),
    probe: ['go', 'version'],
    // without debug symbols linking takes half as long
    steps: [['go', 'build', '-ldflags=-s -w', '-o', `${join(BUILD_FOLDER, 'go')}/`, './...']]
  },
  rust: {
    ...folders('rust'),
    probe: ['cargo', '--version'],
    steps: [[process.execPath, 'crates.ts', 'pin'], ['cargo', 'build', '--release', '--quiet', '--locked']],
    env: { CARGO_TARGET_DIR: join(BUILD_FOLDER, 'rust') }
  },
  python: {
    ...folders('python'),
    probe: ['python3', '--version'],
    steps: [
      ['python3', '-m', 'venv', join(BUILD_FOLDER, 'python')],
      [VENV_PYTHON, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', 'requirements.txt']
    ]
  }
}

/** Returns those that can be run */
export function buildPeers (peers: PeerKind[]): PeerKind[] {
  const toolchains = [...new Set(peers.map(({ toolchain }) => toolchain))]
  const missing = toolchains.filter(toolchain => !isHere(BUILDS[toolchain]))
  const skipped = peers.filter(({ toolchain }) => missing.includes(toolchain))

  if (skipped.length > 0) {
    const names = skipped.map(({ name }) => name).join(', ')
    const message = `peers: skips ${names}, because ${missing.map(toolchain => BUILDS[toolchain].probe[0]).join(' and ')} cannot be run here`

    if (process.env.CI != null) {
      throw new Error(message)
    }

    console.warn(message)
  }

  for (const toolchain of toolchains) {
    if (!missing.includes(toolchain) && BUILDS[toolchain].steps.length > 0) {
      build(`peers: the programs in ${toolchain}`, BUILDS[toolchain])
    }
  }

  return peers.filter(peer => !skipped.includes(peer))
}

if (import.meta.main) {
  buildPeers(PEERS)
}
