// Makes docs/options.md out of the comments of the option interfaces: `npm run docs` writes it, a test compares it.
import { writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')
const OPTIONS_FILE = join(src, 'options/config.ts')
export const OPTIONS_PAGE = join(root, 'docs/options.md')

const INTRO = `# Options

<!-- Made by \`npm run docs\` out of the comments in src/options: change them there. -->

All may be left out: the defaults suit most programs. These four are the ones that you may need:

- [\`priority\`](#priority): which protocols go first, and which can wait
- [\`coalesce.mergeMessages\`](#coalescemergemessages): \`false\`, at both ends, for a program that treats one \`message\` event as one message
- [\`maxInboundStreams\`](#maxinboundstreams): fewer where many strangers connect, as it limits what a peer can take of your memory
- [\`limits.closeTimeoutMs\`](#limitsclosetimeoutms): more for subscriptions that you close for writing, and that may be silent for five minutes

\`\`\`ts
import { yamux } from 'libp2p-coalescing-yamux'

const muxer = yamux({
  priority: { '/chat/*': 'urgent', '/backup/*': 'bulk' },
  coalesce: { mergeMessages: false },
  maxInboundStreams: 100,
  limits: { closeTimeoutMs: 3_600_000 }
})
\`\`\`

A value that is out of range, of the wrong type or in conflict with another throws an \`InvalidParametersError\`. It names the option, the value and what is
allowed. A name that is not an option of \`streamOptions\`, \`coalesce\` or \`limits\` throws too. Among the others it is logged as an error of \`libp2p:yamux\`, since
libp2p passes on options of its own.
`

export function createOptionsPage (): string {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  const program = ts.createProgram([OPTIONS_FILE], options)
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(OPTIONS_FILE) as ts.SourceFile
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol)
  const init = exported.find(({ name }) => name === 'YamuxMuxerInit') as ts.Symbol

  return `${INTRO}\n## All options\n\n| option | default | |\n| --- | --- | --- |\n${printRows(checker, init, '')}${printSection(checker, init, 'The muxer', '')}`
}

interface Options {
  entries: Option[]
  /** Made of options of their own */
  sections: Option[]
}

interface Option {
  property: ts.Symbol
  type: ts.Type
}

function optionsOf (checker: ts.TypeChecker, symbol: ts.Symbol): Options {
  const options = checker.getDeclaredTypeOfSymbol(symbol).getProperties()
    .map(property => ({ property, type: checker.getNonNullableType(checker.getTypeOfSymbol(property)) }))
  const sections = options.filter(({ type }) => type.symbol?.name.endsWith('Options'))

  return { sections, entries: options.filter(option => !sections.includes(option)) }
}

/** Of the table: what each option is in its first sentence */
function printRows (checker: ts.TypeChecker, symbol: ts.Symbol, path: string): string {
  const { entries, sections } = optionsOf(checker, symbol)

  return [
    ...entries.map(({ property }) => {
      const name = path + property.name
      const [summary] = /^.*?\.(?=\s|$)/s.exec(describe(checker, property)) ?? []

      return `| [\`${name}\`](#${name.replaceAll('.', '').toLowerCase()}) | ${asCode(defaultOf(property))} | ${summary?.replaceAll('\n', ' ')} |\n`
    }),
    ...sections.map(({ property, type }) => printRows(checker, type.symbol, `${path}${property.name}.`))
  ].join('')
}

function defaultOf (property: ts.Symbol): string {
  return ts.displayPartsToString(property.getJsDocTags().find(({ name }) => name === 'default')?.text)
}

/** The options of one interface, and behind them those that are made of options of their own */
function printSection (checker: ts.TypeChecker, symbol: ts.Symbol, title: string, path: string): string {
  const { entries, sections } = optionsOf(checker, symbol)

  return [
    `\n## ${title}\n\n${describe(checker, symbol)}\n`,
    // what several options are made of is said once
    ...[...new Set(entries.flatMap(({ type }) => partOf(type) ?? []))].map(type => printMembers(checker, type)),
    ...entries.map(({ property, type }) => printOption(checker, property, type, path)),
    ...sections.map(({ property, type }) => printSection(checker, type.symbol, property.name, `${path}${property.name}.`))
  ].join('')
}

/** What T is in a type that is Partial<T> */
function partOf (type: ts.Type): ts.Type | undefined {
  return type.aliasSymbol?.name === 'Partial' ? type.aliasTypeArguments?.[0] : undefined
}

function printMembers (checker: ts.TypeChecker, type: ts.Type): string {
  const members = type.getProperties()

  return `\nA \`${type.symbol.name}\` is \`{ ${members.map(({ name }) => name).join(', ')} }\`. Either may be left out:\n\n` +
    members.map(member => `- \`${member.name}\`: ${describe(checker, member)}\n`).join('')
}

function printOption (checker: ts.TypeChecker, property: ts.Symbol, type: ts.Type, path: string): string {
  const name = path + property.name
  const tags = new Map(property.getJsDocTags().map(({ name, text }) => [name, ts.displayPartsToString(text)]))
  const unit = tags.get('unit')
  const byDefault = tags.get('default')
  const isCount = type === checker.getNumberType() || partOf(type) !== undefined

  if (byDefault === undefined || (unit !== undefined) !== isCount) {
    throw new Error(`The comment of ${name} needs a @default, and a @unit if it is a number`)
  }

  const typeName = checker.typeToString(partOf(type) ?? type, undefined, ts.TypeFormatFlags.InTypeAlias | ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType)

  // no code in headings: typedoc makes no anchor of it
  return `\n### ${name}\n\n\`${typeName}\`${isCount ? ` (${unit})` : ''}; default ${asCode(byDefault)}\n\n${describe(checker, property)}\n`
}

/** A default that has no code in it is code, as typedoc has it */
function asCode (text: string): string {
  return text.includes('`') ? text : `\`${text}\``
}

/** The comment, with links that lead from the page to where they lead from the source */
function describe (checker: ts.TypeChecker, symbol: ts.Symbol): string {
  const [declaration] = symbol.declarations ?? []
  const { fileName } = declaration.getSourceFile()
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker))

  if (text === '' || !fileName.startsWith(src)) {
    throw new Error(`${symbol.name} in ${fileName} needs a comment that says what it means here`)
  }

  return text.replace(/\]\((\.[^)#]*)/g, (_, link) => `](${relative(dirname(OPTIONS_PAGE), join(dirname(fileName), link))}`)
}

if (import.meta.main) {
  writeFileSync(OPTIONS_PAGE, createOptionsPage())
}
