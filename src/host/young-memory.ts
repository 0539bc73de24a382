/**
 * Makes Node free the buffers of bulk by its cheap collections, those of young objects, instead of by full ones. Hot.
 *
 * Each record that is read or written is memory outside of V8's heap, which only a collection of the object in front of it frees. V8
 * collects young objects when their space is full. Since its version 13.6 that space grows to four times what it was, and bulk makes next
 * to no objects, so what is outside reaches its own limit of 64 MiB first, and that asks for a full collection: half of the CPU time of
 * bulk. Empty arrays, dropped at once, fill the space in time, unless the program's own objects do: with 2,000 small files, whose programs
 * make many, arrays beside them cost 5 % of the time.
 *
 * In new processes, Node 24, 10 × 1 MiB and 1 × 64 KiB: 1.2 and 1.5 times stock's rate at 0.81 and 0.69 of its CPU time, without it 1.0 and 1.0. Node 22
 * gains nothing.
 * See docs/tuning-node.md.
 */

/** What is shorter brings young objects enough of its own, and is not worth the call */
export const YOUNG_FROM_BYTES = 16_384
/**
 * When so much has come to be outside since the last collection, the space is filled: half of what V8 allows at best. What passes is no
 * measure of it. On plain TCP a sender brings about next to nothing, and to fill the space for it cost a third of the rate; under Noise a
 * receiver brings about three times what passes, a program that stores what it reads up to thirteen times.
 */
const FILL_AT_LATEST_BYTES = 32 * 2 ** 20
/**
 * And with so much, if the last time was long ago: while V8 wants a heap to grow slowly it allows a third of its size, outside included. Requests of
 * 60 KB have a heap of 25 MiB, and had a full collection for each 10 MiB.
 */
const FILL_FROM_BYTES = 8 * 2 ** 20
/** For each mebibyte of the space, which takes 76 us to fill. Sooner, more is still in use, and what is in use at two collections waits for a full one. */
const FILL_EVERY_MS = 3
const USUAL_SPACE_BYTES = 16 * 2 ** 20
/**
 * A large space waits until so much of what is free in it has come to be outside: one of 152 MB, as in a worker of Lodestar's, takes 11 ms to
 * fill. It also waits for this part of the whole space, up to FILL_AT_LATEST_BYTES: a program whose objects fill the space will soon fill the
 * rest of it. The objects of 2,000 small files fill two thirds of 64 MiB, and filling the rest for them took 4 % of the time.
 */
const FILL_FROM_PART = 1 / 2
/** In one turn: 1.2 ms */
const FILL_AT_ONCE_BYTES = USUAL_SPACE_BYTES
/** How much is outside: a look takes 0.4 us, one at the space 2 us */
const LOOK_EVERY_BYTES = 131_072
/** V8 gives each array a page of its own where two do not fit, and writes to half of it only: 76 us for a mebibyte of the space, else 155 */
const PAGE_BYTES = 262_144
/** The longest that is an object among others: 128 KiB with 8 bytes a slot, as Node's V8 does not compress pointers */
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
/** Loaded when bulk first passes: that takes 0.8 ms, a tenth of what an import of this package does */
let v8: V8 | undefined
let bytesUntilLook = 0
/** Outside, behind the last collection, or the least since */
let keptBytes = Infinity
let filledMs = 0
/** Holds an array for a moment, so that it is really made */
const held: { array?: unknown[] } = {}

/** So many bytes were read at once, or are written */
export function fillYoungMemory (byteLength: number): void {
  if (!isNeeded || byteLength < YOUNG_FROM_BYTES) {
    return
  }

  bytesUntilLook -= byteLength

  if (bytesUntilLook <= 0) {
    bytesUntilLook = LOOK_EVERY_BYTES
    v8 ??= process?.getBuiltinModule?.('node:v8')

    if (v8 !== undefined) {
      look(v8)
    }
  }
}

/** By `process.versions`. Browsers, Bun, Deno and Electron are not Node: nobody has measured a gain there. */
export function needsYoungMemory ({ node, v8, bun, deno, electron }: Versions = {}): boolean {
  return node !== undefined && v8 !== undefined && bun === undefined && deno === undefined && electron === undefined && Number.parseFloat(v8) >= FROM_V8_VERSION
}

/** So much has come to be outside, the last time is so long ago, and so much of the space is free and in use */
export function isFillDue (grownBytes: number, agoMs: number, availableBytes: number, usedBytes: number): boolean {
  const isLongAgo = agoMs >= FILL_EVERY_MS * Math.max(USUAL_SPACE_BYTES, availableBytes) / 2 ** 20
  const soonestBytes = Math.max(FILL_FROM_BYTES, Math.min(FILL_AT_LATEST_BYTES, FILL_FROM_PART * (availableBytes + usedBytes)))

  return grownBytes >= Math.max(isLongAgo ? soonestBytes : FILL_AT_LATEST_BYTES, FILL_FROM_PART * availableBytes)
}

function look (v8: V8): void {
  const outsideBytes = v8.getHeapStatistics().external_memory
  keptBytes = Math.min(keptBytes, outsideBytes)
  const grownBytes = outsideBytes - keptBytes

  if (grownBytes < FILL_FROM_BYTES) {
    return
  }

  const nowMs = performance.now()
  const space = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  const availableBytes = space?.space_available_size ?? 0

  if (isFillDue(grownBytes, nowMs - filledMs, availableBytes, space?.space_used_size ?? 0)) {
    // V8 collects when a page finds no room
    const bytes = availableBytes + PAGE_BYTES
    fill(Math.min(bytes, FILL_AT_ONCE_BYTES))

    if (bytes <= FILL_AT_ONCE_BYTES) {
      keptBytes = outsideBytes
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
