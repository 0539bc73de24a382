/**
 * The lanes that streams' data goes out in, the first in front.
 */

export const LANES = ['urgent', 'normal', 'bulk'] as const

/**
 * - `urgent`: asks for a write at once, and leads it
 * - `normal`: what nothing is said about
 * - `bulk`: what can wait for the others
 */
export type Lane = typeof LANES[number]

/** As they stand in LANES */
export const URGENT = 0
export const NORMAL = 1
export const BULK = 2
