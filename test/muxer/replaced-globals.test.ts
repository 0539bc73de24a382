// Environments that are neither Node nor a browser, in workers: some globals are missing there, and others are shims.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { ENVIRONMENTS, LATER } from './fixtures/replaced-globals.ts'

test.each(Object.keys({ ...ENVIRONMENTS, ...LATER }))('two muxers echo ten streams, and tell whose events are, with globals %s', async environment => {
  const worker = new Worker(new URL('./fixtures/echo-streams.ts', import.meta.url), { workerData: environment })
  const exited = once(worker, 'exit').then(() => ['The worker has ended'])
  const [result] = await Promise.race([once(worker, 'message'), exited])
  await worker.terminate()

  expect(result).toEqual({
    heard: ['message,its own,its own,relayed,remoteCloseWrite,its own,its own,close,its own,its own,undefined,10000 bytes'],
    abortError: 'Error: Enough',
    status: 'closed'
  })
})
