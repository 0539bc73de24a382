// docs/examples/chat.ts in two terminals.
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { startExample, startWaiting } from './fixtures/terminal.ts'
import type { Terminal } from './fixtures/terminal.ts'

async function startTwo (): Promise<{ one: Terminal, other: Terminal, address: string }> {
  const [one, address] = await startWaiting('chat.ts')
  const other = startExample('chat.ts', address)
  await Promise.all([one.shows(/Connected/), other.shows(/Connected/)])

  return { one, other, address }
}

describe('two who chat', () => {
  let chat: Awaited<ReturnType<typeof startTwo>>

  beforeAll(async () => { chat = await startTwo() })

  test('see what the other types, line by line', async () => {
    const { one, other } = chat

    one.type('hello\nare you there?\n')
    await other.shows(/^> hello\n> are you there\?$/m)
    other.type('½ asleep\n')
    await one.shows(/^> ½ asleep$/m)
  })

  test('are not disturbed by a third', async () => {
    const third = startExample('chat.ts', chat.address)

    await third.shows(/UnsupportedProtocolError/)
    expect(await third.exitCode).toBe(1)
  })
})

test('who presses Ctrl-D has said all, and the other is told', async () => {
  const { one, other } = await startTwo()

  one.type('bye\n')
  one.pressCtrlD()
  await other.shows(/^> bye\nThe other has left\.$/m)
  expect(await Promise.all([one.exitCode, other.exitCode])).toEqual([0, 0])
})

test('the last words arrive where somebody reads late and types meanwhile', async () => {
  const { one, other } = await startTwo()

  other.pause()
  other.type('hi\n')
  one.type('bye\n')
  one.pressCtrlD()
  // enough to stop without it
  await delay(1000)
  other.resume()
  await other.shows(/^> bye\nThe other has left\.$/m)
  expect(await Promise.all([one.exitCode, other.exitCode])).toEqual([0, 0])
})

test('a peer that is gone has not left', async () => {
  const { one, other } = await startTwo()

  await one.kill()
  await other.shows(/^The other is gone: /m)
  expect(await other.exitCode).toBe(0)
})
