// The interop tests run by themselves: they need toolchains and processes that `npm test` does without.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    name: 'interop',
    root: fileURLToPath(new URL('.', import.meta.url)),
    environment: 'node',
    include: ['*.test.ts'],
    globalSetup: ['build.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2
  }
})
