/**
 * Checks of options: what is out of range throws an InvalidParametersError that names the option, the
 * value and the range.
 */
import { InvalidParametersError } from '@libp2p/interface'

export function integer <Options, Name extends keyof Options & string> (options: Options, name: Name, byDefault: number, min: number, max: number, path = ''): number {
  const value = number(options, name, byDefault, min, max, path)

  if (value !== Infinity && !Number.isInteger(value)) {
    throw new InvalidParametersError(`${path}${name} is ${value}, it must be a whole number`)
  }

  return value
}

export function number <Options, Name extends keyof Options & string> (options: Options, name: Name, byDefault: number, min: number, max: number, path = ''): number {
  const value: unknown = options[name] ?? byDefault

  // written so that NaN fails
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw new InvalidParametersError(`${path}${name} is ${String(value)}, it must be a number from ${min} to ${max}`)
  }

  return value
}
