// Builds the peers before the first test, and tells the tests whom there is.
import { buildNativePrograms } from '../../benchmarks/native/build.ts'
import { buildPeers } from '../../peers/build.ts'
import { PEERS } from '../../peers/list.ts'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    presentPeers: string[]
    nativeMuxers: string[]
  }
}

export default function setup (project: TestProject): void {
  project.provide('presentPeers', buildPeers(PEERS).map(({ name }) => name))
  project.provide('nativeMuxers', buildNativePrograms().map(program => program.name))
}
