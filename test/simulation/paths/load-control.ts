// The control that `npm run simulate -- --control` tries: the default export of a module.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { NoControl } from '../../../src/path-control.ts'
import { Positions } from '../../../src/core/positions.ts'
import { pathInit } from '../../../testing/core/driven-path.ts'
import type { CreatePathControl, PathControl } from '../../../src/path-control.ts'

/** All of PathControl: that class has no others */
const MEMBERS = [...Object.keys(new NoControl(pathInit(Infinity))), ...Object.getOwnPropertyNames(NoControl.prototype)].filter(name => name !== 'constructor')

/** Returns what is called for each simulated node, so that none inherits what another has measured. Throws an Error that says what is wrong with the module. */
export async function loadControl (file: string): Promise<() => CreatePathControl> {
  const path = resolve(file)

  if (!existsSync(path)) {
    throw new Error(`--control: there is no file ${path}`)
  }

  let createControl: unknown

  try {
    ({ default: createControl } = await import(/* @vite-ignore */ pathToFileURL(path).href))
  } catch (err) {
    throw new Error(`--control: ${file} cannot be imported. ${String(err)}`, { cause: err })
  }

  const fault = findFault(createControl)

  if (fault !== undefined) {
    throw new Error(`--control: the default export of ${file} must be a function that returns a new \`pathControl\`, as in "export default () => fullControl()". ${fault}`)
  }

  return createControl as () => CreatePathControl
}

function findFault (createControl: unknown): string | undefined {
  if (typeof createControl !== 'function') {
    return createControl === undefined ? 'There is none.' : `It is a ${typeof createControl}.`
  }

  let control: PathControl | undefined

  try {
    const createPathControl = createControl()

    if (typeof createPathControl !== 'function') {
      return `Its result is no function of (init, positions), but ${String(createPathControl)}.`
    }

    control = createPathControl(pathInit(Infinity), new Positions())
  } catch (err) {
    return `It throws: ${String(err)}`
  }

  const missing = MEMBERS.filter(name => control == null || !(name in control))

  return missing.length === 0 ? undefined : `The control that it makes lacks ${missing.join(', ')}.`
}
