/**
 * The lanes that streams' data goes out in, the first in front.
 */

export const LANES = ['urgent', 'normal', 'bulk'] as const

/**
 * Whose data goes first: the `priority` option says what each means
 *
 * @useDeclaredType
 */
export type Lane = typeof LANES[number]

/** As they stand in LANES */
export const URGENT = 0
export const NORMAL = 1
export const BULK = 2
