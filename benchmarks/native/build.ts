// Builds the native programs that this machine has the toolchains for, optimised.
import { join } from 'node:path'
import { build, isHere } from '../../peers/toolchain.ts'
import { BUILD_FOLDER, nativePrograms } from './programs.ts'
import type { Build } from '../../peers/toolchain.ts'
import type { NativeProgram, NativeToolchain } from './programs.ts'

const GO_FOLDER = join(BUILD_FOLDER, 'go')
const RUST_FOLDER = join(BUILD_FOLDER, 'rust')

const BUILDS: Record<NativeToolchain, Build> = {
  go: {
    probe: ['go', 'version'],
    folder: new URL('go', import.meta.url),
    outputFolder: GO_FOLDER,
    steps: [['go', 'build', '-ldflags=-s -w', '-o', `${GO_FOLDER}/`, './...']]
  },
  rust: {
    probe: ['cargo', '--version'],
    folder: new URL('rust', import.meta.url),
    outputFolder: RUST_FOLDER,
    steps: [['cargo', 'build', '--release', '--quiet']],
    env: { CARGO_TARGET_DIR: RUST_FOLDER }
  }
}

/** Says which it skips for want of a toolchain, and returns those that can be run */
export function buildNativePrograms (): NativeProgram[] {
  const toolchains = Object.keys(BUILDS) as NativeToolchain[]
  const present = toolchains.filter(toolchain => isHere(BUILDS[toolchain]))

  for (const toolchain of present) {
    build(`benchmarks: the programs in ${toolchain}`, BUILDS[toolchain])
  }

  for (const { name, toolchain } of nativePrograms) {
    if (!present.includes(toolchain)) {
      console.warn(`benchmarks: skips ${name}, because ${BUILDS[toolchain].probe[0]} cannot be run here`)
    }
  }

  return nativePrograms.filter(program => present.includes(program.toolchain))
}
