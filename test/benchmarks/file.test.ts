// The benchmarks' file arrives as it was sent, or ends them.
import { expect, test } from 'vitest'
import { findRow, rows } from '../../benchmarks/rows.ts'
import { file } from '../../benchmarks/pair/scenarios/file.ts'
import type { Stream } from '@libp2p/interface'

/** A stream whose peer answers the whole file with a hash of its own making */
function streamWithAnswer (answer: Uint8Array, fileBytes: number): Stream {
  const stream = new EventTarget() as Stream
  let missingBytes = fileBytes

  stream.send = data => {
    missingBytes -= data.byteLength

    if (missingBytes === 0) {
      stream.dispatchEvent(new MessageEvent('message', { data: answer }))
    }

    return true
  }

  return stream
}

test('a file whose SHA-256 is another at the receiver ends the benchmark with an error', async () => {
  const row = findRow('file', rows)
  const sending = await file.send(async () => streamWithAnswer(new Uint8Array(32), row.unitBytesPerStream), row)

  await expect(sending.work(1)).rejects.toThrow(/^The SHA-256 of the file is [0-9a-f]{64}, but what arrived has 0{64}$/)
})
