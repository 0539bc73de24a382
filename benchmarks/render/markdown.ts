// Puts rendered tables, figures and descriptions of charts into a document, where its comments ask for them.
import { fromMarkdown } from 'mdast-util-from-markdown'
import type { Nodes } from 'mdast'

/** What the comments of a document name; they throw for what there is not */
export interface Sources {
  table(name: string): string
  figure(address: string): string
  /** Of charts/<name>.svg; undefined leaves it as it is */
  description(chart: string): string | undefined
}

interface Edit {
  from: number
  to: number
  text: string
  /** What is wrong if it is not there already */
  problem: string
}

export interface Rendered {
  /** From the root of the repository */
  path: string
  text: string
  /** What it had that was not recorded, by line */
  differences: string[]
}

/** The figure is what stands directly in front of the comment: a number or two with a dash. A new one may be typed as "?" */
const FIGURE = /<!--=(\S+)-->/g
const NUMBER = /(?:\d[\d,]*(?:\.\d+)?(?:–\d[\d,]*(?:\.\d+)?)?|\?)$/
const TABLE = /<!-- table: (\S+) -->/
const TABLE_END = '<!-- /table -->'
/** With what stands in front of the description */
const PICTURE = /(<img [^>]*src="[^"]*charts\/([\w-]+)\.svg"[^>]*alt=")([^"]*)"/g

/** Comments and tags of a document; what is code is none */
function htmlOf (text: string): Array<{ from: number, html: string }> {
  const flatten = (node: Nodes): Nodes[] => 'children' in node ? node.children.flatMap(flatten) : [node]

  return flatten(fromMarkdown(text)).filter(({ type }) => type === 'html').map(({ position }) => {
    const [from = 0, to] = [position?.start.offset, position?.end.offset]

    return { from, html: text.slice(from, to) }
  })
}

function lineAt (text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** Errors say where in the document the comment is */
export function renderMarkdown (path: string, text: string, sources: Sources): Rendered {
  const edits: Edit[] = []
  const html = htmlOf(text)

  function at (offset: number, edit: () => Edit | undefined): void {
    try {
      edits.push(...[edit()].filter(edit => edit !== undefined))
    } catch (err) {
      throw new Error(`${path}:${lineAt(text, offset)}: ${(err as Error).message}`, { cause: err })
    }
  }

  for (const [index, { from, html: own }] of html.entries()) {
    const [comment, name] = TABLE.exec(own) ?? []

    if (comment !== undefined) {
      at(from, () => {
        const end = html.slice(index + 1).find(({ html }) => html.includes(TABLE_END) || TABLE.test(html))

        if (end?.html.includes(TABLE_END) !== true) {
          throw new Error(`${TABLE_END} is missing after ${comment}`)
        }

        return { from: from + own.indexOf(comment) + comment.length, to: end.from + end.html.indexOf(TABLE_END), text: `\n${sources.table(name)}\n`, problem: `the table ${name} is not as recorded` }
      })
    }

    for (const { index, 0: comment, 1: address } of own.matchAll(FIGURE)) {
      at(from + index, () => {
        const [before] = NUMBER.exec(text.slice(0, from + index)) ?? []

        if (before === undefined) {
          throw new Error(`there is no figure directly in front of ${comment}`)
        }

        const figure = sources.figure(address)

        return { from: from + index - before.length, to: from + index, text: figure, problem: `${before} is recorded as ${figure} (${address})` }
      })
    }

    for (const { index, 1: front, 2: chart, 3: before } of own.matchAll(PICTURE)) {
      const start = from + index + front.length

      at(start, () => {
        const description = sources.description(chart)

        return description === undefined ? undefined : { from: start, to: start + before.length, text: description, problem: `the description of the chart ${chart} is not as recorded` }
      })
    }
  }

  const changes = edits.filter(({ from, to, text: own }) => text.slice(from, to) !== own)

  return {
    path,
    text: changes.toSorted((a, b) => b.from - a.from).reduce((text, { from, to, text: own }) => text.slice(0, from) + own + text.slice(to), text),
    differences: changes.map(({ from, problem }) => `${path}:${lineAt(text, from)}: ${problem}`)
  }
}
