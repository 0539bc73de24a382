// What a stream can be, and what moves it on: every way through its life.
import { describe, expect, test } from 'vitest'
import { OPEN } from '../../src/core/stream-life.ts'
import { createStream } from '../../testing/core/lanes.ts'
import type { Life, Step } from '../../src/core/stream-life.ts'

function live (...steps: Step[]): Life {
  const stream = createStream(1)
  steps.forEach(step => { stream.become(step) })

  return stream.life
}

describe('a stream', () => {
  test.each<[steps: Step[], writeStatus: string, remoteWriteStatus: string]>([
    [[], 'writable', 'writable'],
    [['close'], 'closing', 'writable'],
    [['close', 'finSent'], 'closed', 'writable'],
    [['finReceived'], 'writable', 'closed'],
    [['finReceived', 'close'], 'closing', 'closed'],
    [['close', 'finReceived'], 'closing', 'closed']
  ])('after %j has a half that is %s and one of the peer that is %s, and is not over', (steps, writeStatus, remoteWriteStatus) => {
    expect(live(...steps)).toMatchObject({ writeStatus, remoteWriteStatus, isOver: false, isReset: false })
  })

  test.each<Step[][]>([
    [['close', 'finSent', 'finReceived']],
    [['close', 'finReceived', 'finSent']],
    [['finReceived', 'close', 'finSent']]
  ])('is closed when both FINs are through: %j', steps => {
    expect(live(...steps)).toMatchObject({ writeStatus: 'closed', remoteWriteStatus: 'closed', isOver: true, isReset: false })
  })

  test.each<Step[][]>([
    [['reset']],
    [['close', 'reset']],
    [['close', 'finSent', 'reset']],
    [['finReceived', 'reset']],
    [['finReceived', 'close', 'reset']]
  ])('may be reset until then: %j', steps => {
    expect(live(...steps)).toMatchObject({ writeStatus: 'closed', remoteWriteStatus: 'closed', isOver: true, isReset: true })
  })

  test.each<Step>(['close', 'finSent', 'finReceived', 'reset'])('stays closed, or reset, whatever comes: %s', step => {
    expect(live('close', 'finSent', 'finReceived', step)).toBe(live('close', 'finSent', 'finReceived'))
    expect(live('reset', step)).toBe(live('reset'))
  })

  test('sends no FIN that nobody has asked for', () => {
    expect(live('finSent')).toBe(OPEN)
  })
})
