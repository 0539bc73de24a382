// Builds the peers that this machine has the toolchains for, before the first test. A skip is an error in CI.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILD_FOLDER, PEERS } from './peers.ts'
import type { Toolchain } from './peers.ts'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    toolchains: Toolchain[]
  }
}

interface Build {
  /** Answers if the toolchain is here */
  probe: string[]
  /** Run in the toolchain's folder, one after the other */
  steps: string[][]
  env?: Record<string, string>
}

const BUILDS: Record<Toolchain, Build> = {
  javascript: { probe: [process.execPath, '--version'], steps: [] },
  go: {
    probe: ['go', 'version'],
    // without debug symbols linking takes half as long
    steps: [['go', 'build', '-ldflags=-s -w', '-o', `${join(BUILD_FOLDER, 'go')}/`, './...']]
  },
  rust: {
    probe: ['cargo', '--version'],
    steps: [['cargo', 'build', '--quiet']],
    env: { CARGO_TARGET_DIR: join(BUILD_FOLDER, 'rust') }
  },
  python: {
    probe: ['python3', '--version'],
    steps: [
      ['python3', '-m', 'venv', join(BUILD_FOLDER, 'python')],
      [join(BUILD_FOLDER, 'python', 'bin', 'pip'), 'install', '--quiet', '--disable-pip-version-check', '--requirement', 'requirements.txt']
    ]
  }
}

function isHere (toolchain: Toolchain): boolean {
  const [command, ...args] = BUILDS[toolchain].probe

  return spawnSync(command, args).status === 0
}

function build (toolchain: Toolchain): void {
  const { steps, env } = BUILDS[toolchain]
  const startMs = performance.now()

  for (const [command, ...args] of steps) {
    const { status, error } = spawnSync(command, args, {
      cwd: fileURLToPath(new URL(toolchain, import.meta.url)),
      env: { ...process.env, ...env },
      // what a build says goes where vitest's own report cannot be mistaken for it
      stdio: ['ignore', process.stderr, process.stderr]
    })

    if (status !== 0) {
      throw new Error(`${command} ${args.join(' ')} failed with ${error?.message ?? `status ${status}`}`)
    }
  }

  if (steps.length > 0) {
    console.info(`interop: the peers in ${toolchain} are built, ${((performance.now() - startMs) / 1000).toFixed(0)} s`)
  }
}

export default function setup (project: TestProject): void {
  const toolchains = Object.keys(BUILDS) as Toolchain[]
  const missing = toolchains.filter(toolchain => !isHere(toolchain))
  const skipped = PEERS.filter(peer => missing.includes(peer.toolchain)).map(peer => peer.name)

  if (skipped.length > 0) {
    const message = `interop: skips ${skipped.join(', ')}, because ${missing.map(toolchain => BUILDS[toolchain].probe[0]).join(' and ')} cannot be run here`

    if (process.env.CI != null) {
      throw new Error(message)
    }

    console.warn(message)
  }

  const present = toolchains.filter(toolchain => !missing.includes(toolchain))
  mkdirSync(join(BUILD_FOLDER, 'go'), { recursive: true })
  present.forEach(build)
  project.provide('toolchains', present)
}
