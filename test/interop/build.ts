// Builds the peers before the first test, and tells the tests whom there is.
import { buildPeers } from '../../peers/build.ts'
import { PEERS } from '../../peers/list.ts'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    presentPeers: string[]
  }
}

export default function setup (project: TestProject): void {
  project.provide('presentPeers', buildPeers(PEERS).map(({ name }) => name))
}
