/**
 * Reads options: one that is left out has its default, one that is not allowed throws an InvalidParametersError
 * that names the option, the value and what is allowed.
 */
import { InvalidParametersError } from '@libp2p/interface'

export class OptionReader<Options> {
  readonly options: Options
  readonly #path: string

  /** `path` stands in front of the options' names */
  constructor (options: Options, path = '') {
    this.options = options
    this.#path = path
  }

  number (name: keyof Options & string, byDefault: number, min: number, max: number, isWhole = false): number {
    const value: unknown = this.options[name] ?? byDefault

    // written so that NaN fails
    if (typeof value !== 'number' || !(value >= min && value <= max) || (isWhole && value % 1 !== 0 && value !== Infinity)) {
      throw this.#invalid(name, value, `a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`)
    }

    return value
  }

  integer (name: keyof Options & string, byDefault: number, min: number, max: number): number {
    return this.number(name, byDefault, min, max, true)
  }

  boolean (name: keyof Options & string, byDefault: boolean): boolean {
    const value: unknown = this.options[name] ?? byDefault

    if (typeof value !== 'boolean') {
      throw this.#invalid(name, value, 'true or false')
    }

    return value
  }

  choice <Choice extends string | boolean> (name: keyof Options & string, byDefault: Choice, choices: readonly Choice[]): Choice {
    return checkChoice(this.#path + name, this.options[name] ?? byDefault, choices)
  }

  /** The options that this one is made of */
  section <Name extends keyof Options & string> (name: Name): OptionReader<NonNullable<Options[Name]>> {
    const value = this.options[name] ?? {}

    if (typeof value !== 'object') {
      throw this.#invalid(name, value, 'an object')
    }

    return new OptionReader(value as NonNullable<Options[Name]>, `${this.#path}${name}.`)
  }

  #invalid (name: string, value: unknown, allowed: string): Error {
    return createInvalidOptionError(this.#path + name, value, allowed)
  }
}

export function checkChoice <Choice extends string | boolean> (name: string, value: unknown, choices: readonly Choice[]): Choice {
  if (!choices.includes(value as Choice)) {
    throw createInvalidOptionError(name, value, anyOf(choices))
  }

  return value as Choice
}

export function anyOf (choices: ReadonlyArray<string | boolean>): string {
  return choices.map(choice => typeof choice === 'string' ? `'${choice}'` : choice).join(' or ')
}

export function createInvalidOptionError (name: string, value: unknown, allowed: string): Error {
  return new InvalidParametersError(`${name} is ${typeof value === 'string' ? JSON.stringify(value) : String(value)}, it must be ${allowed}`)
}
