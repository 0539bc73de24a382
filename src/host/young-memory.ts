/**
 * Makes Node free the buffers of bulk transfers in collections of the young generation, which are cheap, instead of in full collections. Hot.
 *
 * Each record that is read or written is a buffer outside V8's heap. It is freed when V8 collects the object that owns it. V8 collects young
 * objects once their space is full. Since V8 13.6 that space grows to four times its former size, and bulk transfers make few objects. So
 * external memory reaches its limit of 64 MiB first, which starts a full collection.
 *
 * Empty arrays, dropped at once, fill the space in time. They are not made if the program's own objects fill it anyway. Needed from V8 13.6,
 * and so not in Node 22. See docs/tuning-node.md, and docs/notebook/bulk.md#young-memory for the measurements behind these numbers.
 */

/** Shorter reads and writes come with enough young objects, and are not worth the call */
export const YOUNG_FROM_BYTES = 16_384
/**
 * The space is filled when external memory has grown by this much since the last collection: half of V8's limit. Throughput does not predict
 * it: the growth per byte differs by an order of magnitude between transports and programs.
 */
const FILL_AT_LATEST_BYTES = 32 * 2 ** 20
/** The same if the last fill was long ago: while V8 lets a heap grow slowly, the limit is a third of the heap's size, external memory included */
const FILL_FROM_BYTES = 8 * 2 ** 20
/**
 * How long ago that is, for each mebibyte of the space. With a shorter interval more buffers are still in use, and those in use at two
 * collections wait for a full one.
 */
const FILL_EVERY_MS = 3
const USUAL_SPACE_BYTES = 16 * 2 ** 20
/**
 * External memory must have grown by this part of the free space, as a large one takes long to fill. It must also have grown by this part of
 * the whole space, up to FILL_AT_LATEST_BYTES: a program whose objects fill the space will soon fill the rest.
 */
const FILL_FROM_PART = 1 / 2
/** In one turn, which takes about 1 ms */
const FILL_AT_ONCE_BYTES = USUAL_SPACE_BYTES
/** How often V8's statistics are read, as each reading has a cost */
const CHECK_EVERY_BYTES = 131_072
/** The first reading loads a module, which takes longer than a short answer */
const CHECK_FROM_BYTES = 2 ** 21
/** V8 gives each array a page of its own if two do not fit into one. It writes to half of the page only, so a fill costs half as much. */
const PAGE_BYTES = 262_144
/** The longest array that is a regular object: 128 KiB with 8 bytes per slot, as Node's V8 does not compress pointers */
const ARRAY_SLOTS = 16_382
const FROM_V8_VERSION = 13.6

type Versions = Partial<Record<string, string>>

interface HeapSpace { space_name: string, space_available_size: number, space_used_size: number }

interface V8 {
  getHeapStatistics(): { external_memory: number }
  getHeapSpaceStatistics(): HeapSpace[]
}

interface Process {
  versions?: Versions
  getBuiltinModule? (name: 'node:v8'): V8 | undefined
}

const { process } = globalThis as { process?: Process }
const isNeeded = needsYoungMemory(process?.versions)
/** Loaded at the first bulk transfer, as it would slow the import of this package */
let v8: V8 | undefined
let bytesUntilCheck = CHECK_FROM_BYTES
/** External memory after the last fill, or the least since */
let keptBytes = Infinity
let filledMs = 0
/** Keeps the compiler from removing the allocation */
const held: { array?: unknown[] } = {}

/** Called with the bytes of each chunk and write; fills the space if that is due */
export function fillYoungMemory (byteLength: number): void {
  if (!isNeeded || byteLength < YOUNG_FROM_BYTES) {
    return
  }

  bytesUntilCheck -= byteLength

  if (bytesUntilCheck <= 0) {
    bytesUntilCheck = CHECK_EVERY_BYTES
    v8 ??= process?.getBuiltinModule?.('node:v8')

    if (v8 !== undefined) {
      checkHeap(v8)
    }
  }
}

/** Takes `process.versions`. Only Node needs it, from V8 13.6: not browsers, Bun, Deno or Electron. */
export function needsYoungMemory ({ node, v8, bun, deno, electron }: Versions = {}): boolean {
  return node !== undefined && v8 !== undefined && bun === undefined && deno === undefined && electron === undefined && Number.parseFloat(v8) >= FROM_V8_VERSION
}

/** External memory has grown by `grownBytes`; `availableBytes` of the space are free, `usedBytes` in use */
export function isFillDue (grownBytes: number, sinceFillMs: number, availableBytes: number, usedBytes: number): boolean {
  const isLongAgo = sinceFillMs >= FILL_EVERY_MS * Math.max(USUAL_SPACE_BYTES, availableBytes) / 2 ** 20
  const soonestBytes = Math.max(FILL_FROM_BYTES, Math.min(FILL_AT_LATEST_BYTES, FILL_FROM_PART * (availableBytes + usedBytes)))

  return grownBytes >= Math.max(isLongAgo ? soonestBytes : FILL_AT_LATEST_BYTES, FILL_FROM_PART * availableBytes)
}

function checkHeap (v8: V8): void {
  const externalBytes = v8.getHeapStatistics().external_memory
  keptBytes = Math.min(keptBytes, externalBytes)
  const grownBytes = externalBytes - keptBytes

  if (grownBytes < FILL_FROM_BYTES) {
    return
  }

  const nowMs = performance.now()
  const space = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  const availableBytes = space?.space_available_size ?? 0

  if (isFillDue(grownBytes, nowMs - filledMs, availableBytes, space?.space_used_size ?? 0)) {
    // V8 collects once a page does not fit
    const bytes = availableBytes + PAGE_BYTES
    fill(Math.min(bytes, FILL_AT_ONCE_BYTES))

    if (bytes <= FILL_AT_ONCE_BYTES) {
      keptBytes = externalBytes
      filledMs = nowMs
    }
  }
}

function fill (bytes: number): void {
  for (let filledBytes = 0; filledBytes < bytes; filledBytes += PAGE_BYTES) {
    held.array = new Array(ARRAY_SLOTS)
  }

  held.array = undefined
}
