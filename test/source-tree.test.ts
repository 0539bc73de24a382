import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')
const PURE = [join(src, 'core'), join(src, 'path')]

const IMPURE = new Set([
  'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Promise',
  'Date', 'performance', 'Event', 'EventTarget', 'console', 'process', 'Buffer',
  'global', 'globalThis', 'require'
])
const PLATFORM = new Set(['Buffer', 'process'])

interface SourceSummary {
  imports: string[]
  globals: Set<string>
  asynchronous: boolean
}

function sourceFiles (folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.split(sep).includes('node_modules'))
    .map(name => join(folder, name))
}

function name (file: string): string {
  return relative(root, file).split(sep).join('/')
}

/** an identifier that only labels something, as in `a.Date` or `{ Date: 1 }` */
function isLabel (node: ts.Identifier): boolean {
  const parent = node.parent

  if (ts.isPropertyAccessExpression(parent)) {
    return parent.name === node
  }
  if (ts.isQualifiedName(parent)) {
    return parent.right === node
  }
  if (ts.isBindingElement(parent)) {
    return parent.propertyName === node
  }
  return (ts.isPropertyAssignment(parent) || ts.isClassElement(parent) || ts.isTypeElement(parent)) &&
    parent.name === node
}

/** a name the file itself gives to something, which is then not the global */
function isDeclaration (node: ts.Identifier): boolean {
  const parent = node.parent

  return (
    ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isBindingElement(parent) ||
    ts.isFunctionDeclaration(parent) || ts.isClassDeclaration(parent) ||
    ts.isInterfaceDeclaration(parent) || ts.isTypeAliasDeclaration(parent) ||
    ts.isEnumDeclaration(parent) || ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent) || ts.isNamespaceImport(parent)
  ) && parent.name === node
}

function summarise (text: string): SourceSummary {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true)
  const used = new Set<string>()
  const declared = new Set<string>()
  const imports: string[] = []
  let asynchronous = false

  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier != null) {
      imports.push((node.moduleSpecifier as ts.StringLiteral).text)
    } else if (ts.isImportTypeNode(node)) {
      imports.push(node.argument.getText(file).slice(1, -1))
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      imports.push(node.arguments[0].getText(file).slice(1, -1))
      asynchronous = true
    } else if (node.kind === ts.SyntaxKind.AsyncKeyword || node.kind === ts.SyntaxKind.AwaitKeyword || ts.isAwaitExpression(node)) {
      asynchronous = true
    } else if (ts.isIdentifier(node) && !isLabel(node)) {
      (isDeclaration(node) ? declared : used).add(node.text)
    }
    ts.forEachChild(node, visit)
  }

  visit(file)

  return {
    imports,
    globals: used.difference(declared),
    asynchronous
  }
}

function read (file: string): SourceSummary {
  return summarise(readFileSync(file, 'utf8'))
}

/** What each file of a folder, or each module of a crate, imports */
type Graph = Map<string, Iterable<string>>

function importsIn (folder: string): Graph {
  return new Map(sourceFiles(join(root, folder)).map(file => [name(file), new Set(read(file).imports
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => name(resolve(dirname(file), specifier))))]))
}

/** The modules that `mod a;` and `use crate::{b, c::{D, E}};` name; `lib` for what belongs to no module, as in `crate::F` */
function rustImports (text: string, modules: string[]): Set<string> {
  const names = [...text.matchAll(/^mod (\w+);|\b(?:crate|super)::(?:(\w+)|\{([^;]*)\})/gm)].flatMap(([, declared, used, group]) => {
    while (group?.includes('{')) {
      group = group.replaceAll(/\{[^{}]*\}/g, '')
    }
    return group?.split(',').map(path => path.trim().split('::')[0]).filter(name => name !== '') ?? [declared ?? used]
  })

  return new Set(names.map(name => modules.includes(name) ? name : 'lib'))
}

/** No module of the crate has modules of its own */
function importsInRust (): Graph {
  const folder = join(root, 'peers/rust/src')
  const modules = readdirSync(folder).filter(name => name.endsWith('.rs')).map(name => name.slice(0, -'.rs'.length))

  return new Map(modules.map(module => [module, rustImports(readFileSync(join(folder, `${module}.rs`), 'utf8'), modules)]))
}

/** A way around for each import that closes one */
function circles (graph: Graph): string[][] {
  const found: string[][] = []
  const done = new Set<string>()

  const visit = (node: string, path: string[]): void => {
    if (path.includes(node)) {
      found.push([...path.slice(path.indexOf(node)), node])
    } else if (!done.has(node)) {
      for (const next of graph.get(node) ?? []) {
        visit(next, [...path, node])
      }
      done.add(node)
    }
  }

  for (const node of graph.keys()) {
    visit(node, [])
  }
  return found
}

describe('the scan', () => {
  it('sees a global and where it is used, but not a label or a local of that name', () => {
    const globals = (text: string): string[] => [...summarise(text).globals]

    expect(globals('Date.now()')).toEqual(['Date'])
    expect(globals('let a: Promise<void>')).toEqual(['Promise'])
    expect(globals('f({ process })')).toEqual(['f', 'process'])
    expect(globals('class A extends Event {}')).toEqual(['Event'])
    expect(globals('a.Date + b.process')).toEqual(['a', 'b'])
    expect(globals('type Event = 1; let a: Event; class A { Date = 1 }')).toEqual([])
    expect(globals('const { Date: b } = { Date: 1 } // Buffer')).toEqual([])
  })

  it('sees every way to import', () => {
    expect(summarise(`
      import 'a'
      import type { B } from 'b'
      export * from 'c'
      export type D = import('d').D
      import('e')
    `).imports).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('sees every way to import in Rust', () => {
    expect([...rustImports(`
mod a;
use std::io;
pub use crate::b::B;
use crate::{
    c::{self, C, deep::{D, E}},
    d,
    e::F,
};
fn f() { super::g::h() }
    `, ['lib', 'a', 'b', 'c', 'd', 'e', 'g', 'deep', 'io'])]).toEqual(['a', 'b', 'c', 'd', 'e', 'g'])
    expect([...rustImports('use crate::{Stream, a};', ['lib', 'a'])]).toEqual(['lib', 'a'])
  })

  it('finds a way around for each import that closes one', () => {
    const found = (graph: Record<string, string[]>): string[] => circles(new Map(Object.entries(graph))).map(path => path.join(''))

    expect(found({ a: ['b', 'c'], b: ['d'], c: ['d', 'outside'], d: [] })).toEqual([])
    expect(found({ a: ['a'] })).toEqual(['aa'])
    expect(found({ a: ['b'], b: ['c'], c: ['d'], d: ['b'] })).toEqual(['bcdb'])
    expect(found({ a: ['b'], b: ['a', 'c'], c: ['b'] })).toEqual(['aba', 'bcb'])
    expect(found({ a: ['b'], b: [], c: ['b', 'd'], d: ['c'] })).toEqual(['cdc'])
  })
})

describe('the source tree', () => {
  // what stands in front of a room may import it
  it.each<[room: string, below: string[]]>([
    ['core', []],
    ['path', ['core']],
    ['api', ['core']],
    ['foreign', ['api', 'core']],
    ['options', ['foreign', 'core']],
    ['observe', ['foreign', 'core']],
    ['host', ['options', 'observe', 'foreign', 'api', 'core']],
    ['stream', ['options', 'observe', 'foreign', 'api', 'core']],
    ['muxer', ['stream', 'host', 'options', 'observe', 'foreign', 'api', 'core']]
  ])('has a room %s that imports nothing but itself and %j', (room, below) => {
    const files = sourceFiles(join(src, room))
    const strays = files.flatMap(file => read(file).imports
      .filter(specifier => specifier.startsWith('.'))
      .map(specifier => relative(src, resolve(dirname(file), specifier)).split(sep)[0])
      .filter(target => ![room, ...below].includes(target))
      .map(target => `${name(file)}: ${target}`))

    expect(files).not.toEqual([])
    expect(strays).toEqual([])
  })

  it('has a core, and controls of the path, that use no package but what holds, allocates and joins bytes', () => {
    const strays = PURE.flatMap(sourceFiles).flatMap(file => read(file).imports
      .filter(specifier => !specifier.startsWith('.') && !['uint8arraylist', 'uint8arrays/alloc', 'uint8arrays/concat'].includes(specifier))
      .map(specifier => `${name(file)}: ${specifier}`))

    expect(strays).toEqual([])
  })

  it('has a core, and controls of the path, that know no clock, no timer, no promise, no event and no platform', () => {
    const strays = PURE.flatMap(sourceFiles).flatMap(file => {
      const { globals, asynchronous } = read(file)
      const found = [...globals].filter(global => IMPURE.has(global))

      return (asynchronous ? [...found, 'async'] : found).map(found => `${name(file)}: ${found}`)
    })

    expect(strays).toEqual([])
  })

  it('asks for nothing of Node.js outside src/host/clock.ts', () => {
    const strays = sourceFiles(src)
      .filter(file => name(file) !== 'src/host/clock.ts')
      .flatMap(file => {
        const { globals, imports } = read(file)

        return [
          ...[...globals].filter(global => PLATFORM.has(global)),
          ...imports.filter(specifier => specifier.startsWith('node:'))
        ].map(found => `${name(file)}: ${found}`)
      })

    expect(strays).toEqual([])
  })
})

describe('the repository', () => {
  it.each([
    ['testing', ['src']],
    ['peers', ['testing']],
    ['live', ['src', 'testing']],
    ['benchmarks', ['src', 'testing', 'peers', 'docs']],
    ['conformance', ['testing', 'peers']],
    // for users to copy
    ['docs/recipes', []],
    ['scripts', ['src']]
  ])('has %s lean on nothing but %j: what is shared is in testing, and no way leads back', (folder, allowed) => {
    const files = sourceFiles(join(root, folder))
    const strays = files.flatMap(file => read(file).imports
      .filter(specifier => specifier.startsWith('.'))
      .map(specifier => name(resolve(dirname(file), specifier)))
      .filter(target => ![folder, ...allowed].includes(target.split('/')[0]))
      .map(target => `${name(file)}: ${target}`))

    expect(files).not.toEqual([])
    expect(strays).toEqual([])
  })

  it.each(['src', 'testing', 'peers', 'live', 'benchmarks', 'conformance', 'scripts', 'docs'])('has no circle among the files of %s, `import type` included', folder => {
    const graph = importsIn(folder)

    expect(graph.size).toBeGreaterThan(0)
    expect(circles(graph)).toEqual([])
  })

  it('has no circle among the modules of the peers in Rust', () => {
    const graph = importsInRust()

    expect(graph.get('lib')).toContain('commands')
    expect(circles(graph)).toEqual([])
  })

  it('asks at its root for no package that benchmarks, conformance or peers alone import: they have packages of their own', () => {
    const importedBy = (...folders: string[]): Set<string> => new Set(folders
      .flatMap(folder => sourceFiles(join(root, folder)))
      .flatMap(file => read(file).imports))
    const configs = readdirSync(root).filter(name => name.endsWith('.config.ts')).flatMap(name => read(join(root, name)).imports)
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const alone = importedBy('benchmarks', 'conformance', 'peers').difference(importedBy('src', 'test', 'testing', 'live', 'scripts', 'docs')).difference(new Set(configs))

    expect([...alone].filter(specifier => specifier in devDependencies)).toEqual([])
  })

  it('names no path of one machine and no package registry', () => {
    // put together here, so that this file does not contain them
    const machine = [['work'], ['root'], ['tmp', 'bash_jobs']].map(parts => `/${parts.join('/')}/`)
    const registries = [['registry', 'npmjs'], ['registry', 'yarnpkg'], ['npm', 'pkg', 'github']].map(parts => parts.join('.'))
    const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '-z'], { cwd: root, encoding: 'utf8' })
      .split('\0')
      .filter(file => file !== '')

    const strays = files.flatMap(file => {
      const text = readFileSync(join(root, file), 'utf8')

      return [...machine, ...registries]
        .filter(string => text.includes(string))
        .map(string => `${file}: ${string}`)
    })

    expect(strays).toEqual([])
  })

  it.each(['', 'benchmarks/apps/installed', 'benchmarks/quic'])('has a lockfile in "%s" that leaves the choice of registry to whoever installs', folder => {
    const { packages } = JSON.parse(readFileSync(join(root, folder, 'package-lock.json'), 'utf8'))
    const addresses = Object.values<{ resolved?: string }>(packages)
      .map(({ resolved }) => resolved ?? '')
      .filter(resolved => resolved.includes('://'))

    expect(addresses).toEqual([])
  })
})
