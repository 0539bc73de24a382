// The native programs and how each is started. They answer the lines of README.md, a pair of processes for a connection.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type NativeToolchain = 'go' | 'rust'
export type NativeMuxer = 'go-yamux' | 'rust-yamux' | 'rust-yamux-buffered'

export interface NativeProgram {
  name: NativeMuxer
  toolchain: NativeToolchain
  command: string[]
}

/** What the toolchains make, kept between runs */
export const BUILD_FOLDER = fileURLToPath(new URL('.build', import.meta.url))

const GO_PROGRAM = join(BUILD_FOLDER, 'go', 'go-yamux')
const RUST_PROGRAM = join(BUILD_FOLDER, 'rust', 'release', 'rust-yamux')

export const nativePrograms: NativeProgram[] = [
  { name: 'go-yamux', toolchain: 'go', command: [GO_PROGRAM] },
  { name: 'rust-yamux', toolchain: 'rust', command: [RUST_PROGRAM] },
  { name: 'rust-yamux-buffered', toolchain: 'rust', command: [RUST_PROGRAM, 'buffered'] }
]
