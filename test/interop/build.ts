// Builds the peers that this machine has the toolchains for, before the first test. A skip is an error in CI.
import { join } from 'node:path'
import { buildNativePrograms } from '../../benchmarks/native/build.ts'
import { build, isHere } from './fixtures/toolchain.ts'
import { BUILD_FOLDER, PEERS } from './peers.ts'
import type { NativeMuxer } from '../../benchmarks/native/programs.ts'
import type { Build } from './fixtures/toolchain.ts'
import type { Toolchain } from './peers.ts'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    toolchains: Toolchain[]
    nativeMuxers: NativeMuxer[]
  }
}

function folders (toolchain: Toolchain): Pick<Build, 'folder' | 'outputFolder'> {
  return { folder: new URL(toolchain, import.meta.url), outputFolder: join(BUILD_FOLDER, toolchain) }
}

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
    steps: [['cargo', 'build', '--quiet']],
    env: { CARGO_TARGET_DIR: join(BUILD_FOLDER, 'rust') }
  },
  python: {
    ...folders('python'),
    probe: ['python3', '--version'],
    steps: [
      ['python3', '-m', 'venv', join(BUILD_FOLDER, 'python')],
      [join(BUILD_FOLDER, 'python', 'bin', 'pip'), 'install', '--quiet', '--disable-pip-version-check', '--requirement', 'requirements.txt']
    ]
  }
}

export default function setup (project: TestProject): void {
  const toolchains = Object.keys(BUILDS) as Toolchain[]
  const missing = toolchains.filter(toolchain => !isHere(BUILDS[toolchain]))
  const skipped = PEERS.filter(peer => missing.includes(peer.toolchain)).map(peer => peer.name)

  if (skipped.length > 0) {
    const message = `interop: skips ${skipped.join(', ')}, because ${missing.map(toolchain => BUILDS[toolchain].probe[0]).join(' and ')} cannot be run here`

    if (process.env.CI != null) {
      throw new Error(message)
    }

    console.warn(message)
  }

  const present = toolchains.filter(toolchain => !missing.includes(toolchain))

  for (const toolchain of present) {
    if (BUILDS[toolchain].steps.length > 0) {
      build(`interop: the peers in ${toolchain}`, BUILDS[toolchain])
    }
  }

  project.provide('toolchains', present)
  project.provide('nativeMuxers', buildNativePrograms().map(program => program.name))
}
