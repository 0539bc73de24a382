/**
 * Replaces young-memory.ts, which is only for Node, in bundles for browsers: see "browser" in package.json.
 */

export const YOUNG_FROM_BYTES = Infinity

export function fillYoungMemory (): void {}
