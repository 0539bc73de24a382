import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest'

/**
 * libp2p's suites are written for mocha: they expect its functions as globals and call
 * `this.timeout()`. The limits they ask for (up to half an hour) are ignored in
 * favour of one that fits here.
 *
 * Import this from compliance tests only; test files run isolated from each
 * other, so the globals stay in the file that asked for them.
 */
const TIMEOUT = 60_000

interface MochaContext {
  timeout(ms: number): MochaContext
}

type Callback = (this: MochaContext) => unknown

const context: MochaContext = {
  timeout: () => context
}

function mochaDescribe (name: string, body: Callback): void {
  describe(name, () => {
    body.call(context)
  })
}

function mochaIt (name: string, body: Callback): void {
  it(name, async () => {
    await body.call(context)
  }, TIMEOUT)
}

Object.assign(globalThis, {
  describe: mochaDescribe,
  it: mochaIt,
  before: beforeAll,
  after: afterAll,
  beforeEach,
  afterEach
})
