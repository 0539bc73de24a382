// The files that Helia fetches, and the check that they are right. For pages and Node alike.
import { equals } from 'uint8arrays/equals'
import { pattern } from '../../../testing/pattern.ts'
import { timeEach } from '../application.ts'
import type { Worked } from '../application.ts'
import type { Helia } from '../installed/helia.js'

export interface File {
  cid: string
  seed: number
  byteLength: number
}

/** As kubo cuts files */
const BLOCK_BYTES = 262_144

export async function addFile (helia: Helia, seed: number, byteLength: number): Promise<File> {
  return { cid: await helia.add(pattern(byteLength, seed), BLOCK_BYTES), seed, byteLength }
}

async function fetchFile (helia: Helia, { cid }: File): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []

  for await (const chunk of helia.cat(cid)) {
    chunks.push(chunk)
  }

  return chunks
}

function checkFile (chunks: Uint8Array[], { cid, seed, byteLength }: File): void {
  const expected = pattern(byteLength, seed)
  let offset = 0

  for (const chunk of chunks) {
    if (!equals(chunk, expected.subarray(offset, offset + chunk.byteLength))) {
      throw new Error(`${cid} differs from what was added within ${chunk.byteLength} bytes from ${offset} on`)
    }

    offset += chunk.byteLength
  }

  if (offset !== byteLength) {
    throw new Error(`${cid} has ${offset} bytes instead of ${byteLength}`)
  }
}

export async function fetchFiles (helia: Helia, files: File[], atOnce: number): Promise<Worked> {
  const fetched = new Map<File, Uint8Array[]>()
  const latenciesMs = await timeEach(files, atOnce, async file => { fetched.set(file, await fetchFile(helia, file)) })

  return {
    latenciesMs,
    check () {
      for (const [file, chunks] of fetched) {
        checkFile(chunks, file)
      }
    }
  }
}
