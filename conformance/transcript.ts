// What was said on a connection, in lines: `>` by the suite, `<` by the target. Repeated and numerous lines are left out.

const FIRST_LINES = 8
const LAST_LINES = 16

export class Transcript {
  readonly #lines: Array<{ text: string, count: number }> = []

  add (text: string): void {
    const last = this.#lines.at(-1)

    if (last?.text === text) {
      last.count++
    } else {
      this.#lines.push({ text, count: 1 })
    }
  }

  toLines (): string[] {
    const lines = this.#lines.map(({ text, count }) => count === 1 ? text : `${text} (${count} times)`)
    const leftOut = lines.length - FIRST_LINES - LAST_LINES

    return leftOut > 0 ? [...lines.slice(0, FIRST_LINES), `... ${leftOut} lines`, ...lines.slice(-LAST_LINES)] : lines
  }
}

/** The target does not do what the case is about */
export class Inapplicable extends Error {}

/** A rule that was broken: what was expected, and the transcript */
export class Failure extends Error {
  readonly expected: string
  readonly seen: string[]

  constructor (expected: string, seen: string[]) {
    super(`expected ${expected}`)
    this.name = 'Failure'
    this.expected = expected
    this.seen = seen
  }
}
