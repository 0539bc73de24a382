// Blocks by slot, each of 64 KiB to 1 MiB, and the messages that ask for them. As much as of real blocks is compressible.
import { bytesAt } from '../verified/pattern.ts'

export interface Range {
  startSlot: number
  count: number
}

const STEP = 1n
const RANGE_BYTES = 24
const SLOT_BYTES = 8
const KIB = 1024
const LONGEST_BYTES = 1024 * KIB
/** Of every two runs the second is zeros */
const RUN_BYTES = 32

/** What all blocks have behind their slots */
const template = Buffer.alloc(LONGEST_BYTES)

for (let start = 0; start < LONGEST_BYTES; start += 2 * RUN_BYTES) {
  template.set(bytesAt(start, RUN_BYTES), start)
}

export function encodeRange ({ startSlot, count }: Range): Uint8Array {
  const bytes = Buffer.alloc(RANGE_BYTES)

  bytes.writeBigUInt64LE(BigInt(startSlot), 0)
  bytes.writeBigUInt64LE(BigInt(count), 8)
  bytes.writeBigUInt64LE(STEP, 16)

  return bytes
}

export function decodeRange (bytes: Uint8Array): Range {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

  return { startSlot: Number(view.getBigUint64(0, true)), count: Number(view.getBigUint64(8, true)) }
}

/** Most are small, as on the chain */
export function blockBytes (slot: number): number {
  const kib = [64, 96, 128, 80, 256, 112, 512, 72, 160, 1024]

  return kib[slot % kib.length] * KIB
}

export function createBlock (slot: number, byteLength = blockBytes(slot)): Uint8Array {
  const block = Buffer.from(template.subarray(0, byteLength))

  block.writeBigUInt64LE(BigInt(slot), 0)

  return block
}

/** Throws unless it is the block of that slot */
export function checkBlock (block: Uint8Array, slot: number, byteLength = blockBytes(slot)): void {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength)
  const isRight = block.byteLength === byteLength && Number(view.getBigUint64(0, true)) === slot &&
    template.compare(block, SLOT_BYTES, byteLength, SLOT_BYTES, byteLength) === 0

  if (!isRight) {
    throw new Error(`What came for slot ${slot} is not its block: ${block.byteLength} of ${byteLength} bytes`)
  }
}

export async function * blocksOf (range: Uint8Array): AsyncGenerator<Uint8Array> {
  const { startSlot, count } = decodeRange(range)

  for (let slot = startSlot; slot < startSlot + count; slot++) {
    yield createBlock(slot)
  }
}
