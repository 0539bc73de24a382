/** The member of a muxer that has its driver, for snapshot.ts. Registered, as each entry of the package may have its own copy of this file. */
export const DRIVER = Symbol.for('libp2p-coalescing-yamux.driver')
