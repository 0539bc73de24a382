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

\`yamux({ ... })\` takes these options. All may be left out. A value that is out of range, of the wrong type or in conflict with another throws an
\`InvalidParametersError\` that names the option, the value and what is allowed.

So does a name that is no option of \`streamOptions\`, \`coalesce\` or \`limits\`. Beside these, where libp2p passes on what it likes, such a name is
an error in libp2p's log, of \`libp2p:yamux\`.
`

export function createOptionsPage (): string {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  const program = ts.createProgram([OPTIONS_FILE], options)
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(OPTIONS_FILE) as ts.SourceFile
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol)
  const init = exported.find(({ name }) => name === 'YamuxMuxerInit') as ts.Symbol

  return INTRO + printSection(checker, init, 'The muxer', '')
}

/** The options of one interface, and behind them those that are made of options of their own */
function printSection (checker: ts.TypeChecker, symbol: ts.Symbol, title: string, path: string): string {
  const options = checker.getDeclaredTypeOfSymbol(symbol).getProperties()
    .map(property => ({ property, type: checker.getNonNullableType(checker.getTypeOfSymbol(property)) }))
  const sections = options.filter(({ type }) => type.symbol?.name.endsWith('Options'))
  const entries = options.filter(option => !sections.includes(option))

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

  return `\nA \`${type.symbol.name}\` is \`{ ${members.map(({ name }) => name).join(', ')} }\`, of which either may be left out:\n\n` +
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
