/**
 * What somebody who misspelt an option may have meant.
 */

/** A name that takes more edits than this part of its length is another name */
const MAX_EDITS_BY_LENGTH = 1 / 2

/** Of the paths in the section of `path`, at the top level of all, that whose last name is nearest to its own, if it is near; of several the last */
export function findNearest (path: string, known: string[]): string | undefined {
  const name = lastName(path)
  const section = path.slice(0, path.length - name.length)
  let nearest: string | undefined
  let fewest = name.length * MAX_EDITS_BY_LENGTH

  for (const other of known) {
    const edits = countEdits(name, lastName(other))

    if (edits <= fewest && other.startsWith(section)) {
      nearest = other
      fewest = edits
    }
  }

  return nearest
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
