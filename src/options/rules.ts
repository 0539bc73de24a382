/**
 * Rules for the values of options. A rule returns the value, or a default if there is none. It throws an InvalidParametersError with the
 * option, the value and the allowed values.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { print } from '../foreign/values.ts'

/** Takes the value of the option `name`; `before` has the values of the options above it in its section */
export type Rule<Value> = (value: any, name: string, before?: any) => Value

type Rules = Record<string, Rule<any>>
type Values<Table> = { [Name in keyof Table]: Table[Name] extends Rule<infer Value> ? Value : never }

export function number (byDefault?: number, min = 0, max = Infinity, isWhole = false): Rule<number> {
  return (value = byDefault, name) => {
    // written so that NaN fails
    check(typeof value === 'number' && value >= min && value <= max && !(isWhole && value % 1 > 0), name, value, `a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`)

    return value
  }
}

export function integer (byDefault?: number, min = 0, max = Infinity): Rule<number> {
  return number(byDefault, min, max, true)
}

/** As the rule, but undefined if the option is left out */
export function optional<Value> (rule: Rule<Value>): Rule<Value | undefined> {
  return (value, name) => value === undefined ? undefined : rule(value, name)
}

/** The first is the default */
export function choice<const Choice extends string | boolean> (...choices: readonly Choice[]): Rule<Choice> {
  return (value = choices[0], name) => {
    check(choices.includes(value), name, value, anyOf(choices))

    return value
  }
}

/** A group of options. Throws for a name that is not one of them. */
export function section<const Table extends Rules> (rules: Table): Rule<Values<Table>> {
  return (options = {}, name) => {
    checkObject(options, name)

    return readSection(rules, options, `${name}.`, report => { throw new InvalidParametersError(report) })
  }
}

export function readSection<Table extends Rules> (rules: Table, options: Record<string, any>, path: string, onUnknown: (report: string) => void): Values<Table> {
  const values: Record<string, unknown> = {}

  for (const name of Object.keys(rules)) {
    values[name] = rules[name](options[name] ?? undefined, path + name, values)
  }

  for (const name of Object.keys(options)) {
    if (options[name] != null && !Object.hasOwn(rules, name)) {
      onUnknown(`${path}${name} is not an option, use one of: ${Object.keys(rules).join(', ')}`)
    }
  }

  return values as Values<Table>
}

export function check (isAllowed: boolean, name: string, value: unknown, allowed: string): void {
  if (!isAllowed) {
    throw new InvalidParametersError(`${name} is ${typeof value === 'string' ? JSON.stringify(value) : print(value)}, it must be ${allowed}`)
  }
}

/** Accepts objects of any realm. Refuses lists, Maps and Promises, as their contents would be ignored. */
export function checkObject (value: unknown, name: string, allowed = 'an object'): void {
  check(['[object Object]', '[object Module]'].includes(Object.prototype.toString.call(value)), name, value, allowed)
}

export function anyOf (choices: ReadonlyArray<string | boolean>): string {
  return choices.map(choice => typeof choice === 'string' ? `'${choice}'` : choice).join(' or ')
}
