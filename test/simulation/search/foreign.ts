// Bytes and promises of another realm, as those of an iframe or of node:vm are: no `instanceof` knows them.
import { runInNewContext } from 'node:vm'
import { Uint8ArrayList } from 'uint8arraylist'

interface Realm {
  Uint8Array: Uint8ArrayConstructor
  Promise: PromiseConstructor
}

const realm: Realm = runInNewContext('({ Uint8Array, Promise })')

export function foreignCopy (bytes: Uint8Array): Uint8Array {
  return new realm.Uint8Array(bytes)
}

/** A list takes none, but has a way to be made of some */
export function foreignList (...parts: Uint8Array[]): Uint8ArrayList {
  return Uint8ArrayList.fromUint8Arrays(parts.map(foreignCopy))
}

/** Not an async function, which would answer with a promise of this realm */
export function foreignRejected (reason: unknown): Promise<never> {
  return realm.Promise.reject(reason) as Promise<never>
}
