/**
 * Makes Node free the buffers of bulk by its cheap collections, those of young objects, instead of by full ones. Hot.
 *
 * Each record that is read or written is memory outside of V8's heap, which only a collection of the object in front of it frees. V8
 * collects young objects when their space is full. Since its version 13.6 that space grows to four times what it was, and bulk makes next
 * to no objects, so what is outside reaches its own limit of 64 MiB first, and that asks for a full collection: half of the CPU time of
 * bulk. Empty arrays, dropped at once, fill the space in time, unless the program's own objects do: with 2,000 small files, whose programs
 * make many, arrays beside them cost 5 % of the time.
 *
 * In new processes, Node 24, 10 × 1 MiB and 1 × 64 KiB: 1.3 and 1.5 times the rate at 0.75 and 0.65 of the CPU time. Node 22 gains nothing.
 * See docs/tuning-node.md.
 */

/** What is shorter brings young objects enough of its own, and is not worth the call */
export const YOUNG_FROM_BYTES = 16_384
/**
 * Of each byte that passes two are outside: as it came from the network, and decrypted. In bulk the full collections are back from 28 MiB on. With
 * requests of 60 KB, whose program copies what it reads, they were there at 16 MiB in every run, at 12 in some, and at 10 where the
 * program's own objects are waited for: 1.6 times the CPU time.
 */
const COLLECT_EVERY_BYTES = 8 * 2 ** 20
/** Until so much has passed since a collection the program may bring about the next */
const FILL_FROM_BYTES = 4 * 2 ** 20
/** How full the space is, and whether it was collected: a look takes a microsecond */
const LOOK_EVERY_BYTES = 2 ** 20
/** V8 gives each array a page of its own where two do not fit, and writes to half of it only: 76 us for a mebibyte of the space, else 155 */
const PAGE_BYTES = 262_144
/** The longest that is an object among others: 128 KiB with 8 bytes a slot, as Node's V8 does not compress pointers */
const ARRAY_SLOTS = 16_382
const FROM_V8_VERSION = 13.6

type Versions = Partial<Record<string, string>>

interface HeapSpace { space_name: string, space_used_size: number, space_available_size: number }

interface Process {
  versions?: Versions
  getBuiltinModule? (name: 'node:v8'): { getHeapSpaceStatistics(): HeapSpace[] } | undefined
}

const { process } = globalThis as { process?: Process }
const v8 = needsYoungMemory(process?.versions) ? process?.getBuiltinModule?.('node:v8') : undefined
/** Since the last collection, as far as looks have shown */
let passedBytes = 0
/** Of the space, at the last look */
let usedBytes = 0
/** Of the space, for each byte that passes */
let youngBytesPerByte = 0
let owedBytes = 0
let bytesUntilLook = 0
/** Holds an array for a moment, so that it is really made */
const held: { array?: unknown[] } = {}

/** So many bytes were read at once, or are written */
export function fillYoungMemory (byteLength: number): void {
  if (v8 === undefined || byteLength < YOUNG_FROM_BYTES) {
    return
  }

  passedBytes += byteLength
  bytesUntilLook -= byteLength

  if (bytesUntilLook <= 0) {
    look(v8.getHeapSpaceStatistics())
  }

  for (owedBytes += youngBytesPerByte * byteLength; owedBytes >= PAGE_BYTES; owedBytes -= PAGE_BYTES) {
    held.array = new Array(ARRAY_SLOTS)
  }

  held.array = undefined
}

/** By `process.versions`. Browsers, Bun, Deno and Electron are not Node: nobody has measured a gain there. */
export function needsYoungMemory ({ node, v8, bun, deno, electron }: Versions = {}): boolean {
  return node !== undefined && v8 !== undefined && bun === undefined && deno === undefined && electron === undefined && Number.parseFloat(v8) >= FROM_V8_VERSION
}

function look (spaces: HeapSpace[]): void {
  const { space_used_size: nowUsedBytes = 0, space_available_size: availableBytes = 0 } = spaces.find(({ space_name: name }) => name === 'new_space') ?? {}

  if (nowUsedBytes < usedBytes) {
    passedBytes = 0
    owedBytes = 0
  }

  usedBytes = nowUsedBytes
  bytesUntilLook = LOOK_EVERY_BYTES
  youngBytesPerByte = passedBytes < FILL_FROM_BYTES ? 0 : availableBytes / Math.max(LOOK_EVERY_BYTES, COLLECT_EVERY_BYTES - passedBytes)
}
