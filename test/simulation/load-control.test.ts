// `npm run simulate -- --control <file>`: a control of somebody's own on simulated paths.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { judge } from './paths/judge.ts'
import { loadControl } from './paths/load-control.ts'
import { drawPlan } from './paths/plan.ts'
import { run } from './paths/run.ts'
import { replayPath, searchPaths } from './paths/search-paths.ts'

/** One connection, one way */
const SEED = 4

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'control-'))
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

function fixture (name: string): string {
  return fileURLToPath(new URL(`fixtures/controls/${name}.ts`, import.meta.url))
}

test('a module that makes no control is compared with none: nothing is lost, and nothing gained', async () => {
  const [{ goodput, urgent }] = judge(drawPlan(SEED), await loadControl(fixture('none')))

  expect(goodput).toBeCloseTo(1, 2)
  expect(urgent).toBeCloseTo(1, 2)
})

test('each simulated node gets a control of its own, and keeps its limit', async () => {
  const createControl = await loadControl(fixture('limited'))
  const plan = { ...drawPlan(SEED), settledMs: 0 }
  const first = run(plan, { maxQueueDelayMs: 10, createControl })
  const second = run(plan, { maxQueueDelayMs: 10, createControl })

  expect(second).toEqual(first)
  expect(first[0].sentBytes).toBeLessThan(65_536 + 100 * plan.durationMs)
  expect(first[0].sentBytes).toBeGreaterThan(0.9 * 100 * plan.durationMs)
})

test('the table and one path are told of it', async () => {
  const info = vi.spyOn(console, 'info').mockImplementation(() => {})
  const createControl = vi.fn(await loadControl(fixture('none')))

  try {
    searchPaths(SEED, 1, createControl, ' --control mine.ts')
    expect(createControl).toHaveBeenCalledTimes(3)
    expect(info.mock.calls.flat().join('\n')).toContain('one connection: 1 links; what they carry, compared with no bound: least 1.000')
    expect(info.mock.calls.flat().join('\n')).toContain(`npm run simulate -- --path ${SEED} --control mine.ts   link 0: 1.000`)
    info.mockClear()

    replayPath(SEED, createControl)
    expect(createControl).toHaveBeenCalledTimes(9)
    expect(info.mock.calls.flat().join('\n')).toContain('0 of any KB, 0 KB/s, - ms')
  } finally {
    info.mockRestore()
  }
})

test('a file that is not there is named', async () => {
  await expect(loadControl(join(folder, 'nowhere.ts'))).rejects.toThrow(`--control: there is no file ${join(folder, 'nowhere.ts')}`)
})

test.each([
  ['throws', 'throw new Error("oh")', /cannot be imported\. Error: oh$/],
  ['exports-nothing', 'export const control = 1', /must be a function that returns a new `pathControl`, as in "export default \(\) => fullControl\(\)"\. There is none\.$/],
  ['exports-a-number', 'export default 5', /It is a number\.$/],
  ['exports-the-control-itself', 'export default ({ recordBytes }) => ({ recordBytes })', /It throws: TypeError: /],
  ['makes-nothing', 'export default () => undefined', /Its result is no function of \(init, positions\), but undefined\.$/],
  ['lacks-members', 'export default () => () => ({ isHeld: false })', /The control that it makes lacks peer, isUrgentSpent, .*figures\.$/]
])('a module that %s is refused', async (name, text, message) => {
  const file = join(folder, `${name}.mjs`)
  await writeFile(file, text)

  await expect(loadControl(file)).rejects.toThrow(message)
})
