// A control in front of another one: what it does not override is the other's.
import { expect, test } from 'vitest'
import { fullControl, NoControl } from '../../src/path-control.ts'
import { ForwardingControl } from '../../src/path/forwarding-control.ts'
import { Positions } from '../../src/core/positions.ts'
import { pathInit } from '../../testing/core/driven-path.ts'
import type { PathControl } from '../../src/path-control.ts'

const none = new NoControl(pathInit(Infinity))
/** All members of PathControl: those of a class that has no others */
const MEMBERS = [...Object.keys(none), ...Object.getOwnPropertyNames(NoControl.prototype)].filter(name => name !== 'constructor') as Array<keyof PathControl>
const METHODS = MEMBERS.filter(name => typeof none[name] === 'function')
const PROPERTIES = MEMBERS.filter(name => typeof none[name] !== 'function')

function methodOf (control: object, name: string): (...args: unknown[]) => unknown {
  return Reflect.get(control, name).bind(control)
}

test('members are known', () => {
  expect(PROPERTIES).toContain('isHeld')
  expect(METHODS).toContain('planWrite')
})

test.each(PROPERTIES)('%s is that of the inner control, whenever it is read', name => {
  const inner = { [name]: 'before' }
  const control = new ForwardingControl(inner as unknown as PathControl)
  expect(control[name]).toBe('before')

  inner[name] = 'after'
  expect(control[name]).toBe('after')
})

test.each(METHODS)('%s passes on all arguments, in their order, and the result', name => {
  const calls: unknown[][] = []
  const control = new ForwardingControl({ [name]: (...args: unknown[]) => { calls.push(args); return 'result' } } as unknown as PathControl)
  const takes = ForwardingControl.prototype[name as 'look'].length
  const args = Array.from({ length: takes }, (_, index) => `argument ${index}`)
  const result = methodOf(control, name)(...args)

  expect(calls).toEqual([args])
  // undefined for those that return nothing
  expect([undefined, 'result']).toContain(result)
  expect(takes).toBeGreaterThanOrEqual(methodOf(fullControl()(pathInit(10), new Positions()), name).length)
})

test.each(['needsNoMark', 'planWrite', 'onWritten', 'mark', 'requestMark', 'onPong', 'figures'] as const)('%s returns what the inner control does', name => {
  const control = new ForwardingControl({ [name]: () => 'result' } as unknown as PathControl)

  expect(methodOf(control, name)()).toBe('result')
})

test('an override sees the inner control', () => {
  class Doubled extends ForwardingControl {
    override get fullWriteBytes (): number { return 2 * this.inner.fullWriteBytes }
  }

  expect(new Doubled(none).fullWriteBytes).toBe(2 * none.fullWriteBytes)
})
