/**
 * Reads options: one that is left out has its default, one that is not allowed throws an InvalidParametersError
 * that names the option, the value and what is allowed. What nobody has read is no option.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { findNearest } from './nearest-name.ts'
import { print } from '../thrown.ts'

export class OptionReader<Options> {
  readonly options: Options
  readonly #path: string
  readonly #known: string[] | undefined

  /** `path` stands in front of the options' names; `known` gets those that are read, for who wants to know */
  constructor (options: Options, path = '', known?: string[]) {
    this.options = options
    this.#path = path
    this.#known = known
  }

  /** As it is, undefined if it is left out */
  value <Name extends keyof Options & string> (name: Name): NonNullable<Options[Name]> | undefined {
    this.#known?.push(this.#path + name)

    return this.options[name] ?? undefined
  }

  number (name: keyof Options & string, byDefault: number, min: number, max: number, isWhole = false): number {
    const value: unknown = this.value(name) ?? byDefault

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
    const value: unknown = this.value(name) ?? byDefault

    if (typeof value !== 'boolean') {
      throw this.#invalid(name, value, 'true or false')
    }

    return value
  }

  choice <Choice extends string | boolean> (name: keyof Options & string, byDefault: Choice, choices: readonly Choice[]): Choice {
    return checkChoice(this.#path + name, this.value(name) ?? byDefault, choices)
  }

  /** What `read` makes of the options that this one is made of. Throws InvalidParametersError for one that it does not read. */
  section <Name extends keyof Options & string, Config> (name: Name, read: (options: OptionReader<NonNullable<Options[Name]>>) => Config): Config {
    const value = this.value(name) ?? {}

    if (typeof value !== 'object') {
      throw this.#invalid(name, value, 'an object')
    }

    const section = new OptionReader(value as NonNullable<Options[Name]>, `${this.#path}${name}.`, this.#known)
    const config = read(section)
    section.reportUnknown(report => { throw new InvalidParametersError(report) })

    return config
  }

  /** Of those that have a value and were not read until now */
  reportUnknown (onUnknown: (report: string) => void): void {
    const known = this.#known ?? []

    for (const [name, value] of Object.entries(this.options as object)) {
      const path = this.#path + name

      if (value != null && !known.includes(path)) {
        const nearest = findNearest(path, known)
        onUnknown(`${path} is no option${nearest === undefined ? '' : `, did you mean ${nearest}?`}`)
      }
    }
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
  return new InvalidParametersError(`${name} is ${typeof value === 'string' ? JSON.stringify(value) : print(value)}, it must be ${allowed}`)
}
