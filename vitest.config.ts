import { playwright } from '@vitest/browser-playwright'
import { configDefaults, defineConfig } from 'vitest/config'
import { launchOptions } from './testing/browser/chromium.ts'
import { codeBlocks } from './test/docs/fixtures/modules.ts'

const NODE_ONLY = [
  // files, processor time and heap of the process, and simulations that own its timers
  'test/hazards/{attacks,other-muxers,rows}.test.ts',
  // sockets
  'test/compliance/transport.test.ts',
  // sockets, and an event loop that stands still
  'test/hazards/stalled-loops-node.test.ts',
  // what @libp2p/logger writes to standard error
  'test/{muxer/frame-trace,hazards/logged-endings-node}.test.ts',
  // Chromium's own objects, such as an EventTarget, wait for a whole collection
  'test/{stream/young-garbage,muxer/gathered-metrics}.test.ts',
  // loads a module twice
  'test/protocol/ids-used-up.test.ts',
  // threads of Node
  'test/muxer/replaced-globals.test.ts'
]

const CHROMIUM_ONLY = ['test/browser/{turns,worker}.test.ts']

/** Real nodes, other programs and browsers: half of the time, most of it spent waiting */
const PROGRAMS = [
  'test/{benchmarks,conformance,examples,libp2p,live,services}/**/*.test.ts',
  'test/browser/dial.test.ts',
  'test/compliance/transport.test.ts',
  'test/hazards/stalled-loops-node.test.ts'
]

const node = {
  environment: 'node',
  execArgv: ['--expose-gc'],
  server: {
    deps: {
      // its import of aegir is to be resolved by vitest, next to the stand-in
      inline: ['@libp2p/interface-compliance-tests']
    }
  }
}

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, 'test/**/fixtures/**', 'test/interop/**'],
    setupFiles: ['test/property/fixtures/limits.ts'],
    // what hangs, hangs for ever; what is slow is so because others have the machine too
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // one more than two cores, as programs mostly wait: 167 s instead of 193
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        plugins: [codeBlocks()],
        test: { ...node, name: 'node', include: ['test/**/*.test.ts'], exclude: [...CHROMIUM_ONLY, ...PROGRAMS] }
      },
      {
        extends: true,
        test: { ...node, name: 'programs', include: PROGRAMS }
      },
      {
        extends: true,
        // a dependency that is found only while tests run makes Vite reload the page under them
        optimizeDeps: { force: true },
        test: {
          name: 'chromium',
          include: [
            // where timers, events and turns decide; the core is the same JavaScript everywhere
            'test/{compliance,hazards,muxer,protocol,stream}/**/*.test.ts',
            ...CHROMIUM_ONLY
          ],
          exclude: NODE_ONLY,
          globalSetup: 'test/browser/fixtures/setup.ts',
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions }),
            instances: [{ browser: 'chromium' }]
          }
        }
      }
    ]
  }
})
