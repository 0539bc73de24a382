// Links lead somewhere: in this repository, and in the package as far as it can.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { anchorsOf, documents, linksOf, root } from './fixtures/documents.ts'
import type { Link } from './fixtures/documents.ts'

/**
 * What is for who works on the package, or judges it, is in the repository alone. Documents of the package may lead there: npm's site
 * resolves relative links by the repository.
 */
const IN_REPOSITORY_ONLY = ['CONTRIBUTING.md', 'benchmarks', 'conformance', 'docs/grafana.svg', 'docs/notebook', 'live', 'peers', 'test', 'testing']

const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] }
const packed = ['README.md', 'package.json', ...files]
const anchors = new Map(documents.map(document => [document, anchorsOf(document)]))

interface Target extends Link {
  /** From the root of the repository */
  path: string
  anchor?: string
}

function isWithin (path: string, places: string[]): boolean {
  return places.some(place => path === place || path.startsWith(`${place}/`))
}

function targetsOf (document: string): Target[] {
  return linksOf(document).filter(({ url }) => !/^(https|mailto):/.test(url)).map(link => {
    const [path, anchor] = decodeURI(link.url).split('#')

    return { ...link, path: path === '' ? document : relative(root, join(root, dirname(document), path)), anchor }
  })
}

function print (targets: Target[]): string[] {
  return targets.map(({ line, url }) => `line ${line}: ${url}`)
}

/** Whether there is the file, and the heading in it */
function isThere ({ path, anchor }: Target): boolean {
  return existsSync(join(root, path)) && (anchor === undefined || anchors.get(path)?.includes(anchor) === true)
}

test.each(documents)('links of %s lead to files and headings that there are', document => {
  expect(print(targetsOf(document).filter(target => !isThere(target)))).toEqual([])
})

test.each(documents.filter(document => isWithin(document, packed)))('links of %s lead to what is packed with it, or is in the repository alone', document => {
  expect(print(targetsOf(document).filter(({ path }) => !isWithin(path, [...packed, ...IN_REPOSITORY_ONLY])))).toEqual([])
})
