/**
 * What somebody who misspelt an option may have meant.
 */

/** The path whose last name is nearest to that of `path`; of several the last */
export function findNearest (path: string, known: string[]): string {
  const distance = (other: string): number => countEdits(lastName(path), lastName(other))

  return known.reduce((nearest, other) => distance(other) <= distance(nearest) ? other : nearest)
}

function lastName (path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

/** How many characters have to be inserted, dropped or replaced to make one of the other */
function countEdits (from: string, to: string): number {
  // between the part of `from` that was looked at and each beginning of `to`
  let edits = Array.from({ length: to.length + 1 }, (_, length) => length)

  for (const character of from) {
    const before = edits
    edits = [before[0] + 1]

    for (let i = 0; i < to.length; i++) {
      edits.push(Math.min(before[i + 1] + 1, edits[i] + 1, before[i] + Number(character !== to[i])))
    }
  }

  return edits[to.length]
}
