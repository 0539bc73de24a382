// What a program takes on its command line, and what --help says of it.
import { Command, Option } from 'commander'

export interface OptionInit {
  about: string
  /** What stands behind it; without this it is a flag */
  takes?: string
  default?: string
  /** Several, with commas between them, or each behind the option's name */
  isList?: true
}

type Value<Init extends OptionInit> =
  Init extends { takes: string } ? Init extends { isList: true } ? string[] : Init extends { default: string } ? string : string | undefined : boolean

export type Values<Known extends Record<string, OptionInit>> = { [Name in keyof Known]: Value<Known[Name]> }

export interface Program {
  /** As users type it */
  command: string
  about: string
  /** What it takes beside options, if it does */
  names?: string
}

/** Ends the program for --help, and for an option that it does not take */
export function readOptions <const Known extends Record<string, OptionInit>> ({ command, about, names }: Program, known: Known): Values<Known> & { names: string[] } {
  const program = new Command(command).description(about).allowExcessArguments(false).showHelpAfterError(`Try ${command} --help`)

  if (names !== undefined) {
    program.argument('[names...]', names)
  }

  const attributes = Object.entries<OptionInit>(known).map(([name, { about, takes, default: byDefault, isList }]) => {
    const option = new Option(takes === undefined ? `--${name}` : `--${name} <${takes}>`, about)
    const split = (value: string, before: string[] | undefined): string[] => [...before ?? [], ...value.split(',')]

    if (byDefault !== undefined && byDefault !== '') {
      option.description += ` (default: ${byDefault})`
    }

    program.addOption(isList === true ? option.argParser(split) : option)

    return [name, option.attributeName(), isList === true ? byDefault?.split(',') ?? [] : takes === undefined ? false : byDefault] as const
  })
  const given = program.parse().opts()

  return { ...Object.fromEntries(attributes.map(([name, attribute, byDefault]) => [name, given[attribute] ?? byDefault])), names: program.args } as Values<Known> & { names: string[] }
}
