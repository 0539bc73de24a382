/**
 * In the place of young-memory.ts, which is for Node alone, where a bundler builds for browsers: see "browser" in package.json.
 */

export const YOUNG_FROM_BYTES = Infinity

export function fillYoungMemory (): void {}
