// What users name or count, or an error that says what there is.

/** `what` is what the names are of */
export function oneOf <Name extends string> (what: string, name: string, names: readonly Name[]): Name {
  const known = names.find(known => known === name)

  if (known == null) {
    throw new Error(`There is no ${what} "${name}", only ${names.join(', ')}`)
  }

  return known
}

export function byId <Known extends { id: string }> (what: string, id: string, known: Known[]): Known {
  const ids = known.map(({ id }) => id)

  return known[ids.indexOf(oneOf(what, id, ids))]
}

export function parseCount (option: string, value: string): number {
  const count = Number(value)

  if (!Number.isInteger(count) || count < 1) {
    throw new Error(`--${option} takes a number from 1 on, not "${value}"`)
  }

  return count
}
