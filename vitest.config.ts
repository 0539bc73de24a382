import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/**/fixtures/**', 'test/interop/**'],
    setupFiles: ['test/property/fixtures/limits.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    maxWorkers: 2,
    server: {
      deps: {
        // its import of aegir is to be resolved by vitest, next to the stand-in
        inline: ['@libp2p/interface-compliance-tests']
      }
    }
  }
})
