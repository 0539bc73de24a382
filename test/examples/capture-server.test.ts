// docs/examples/capture-server.ts, read as the inspector of the live page reads it.
import { expect, test } from 'vitest'
import { PcapngReader } from '../../live/inspector/pcapng.ts'
import { nameOf } from '../../live/inspector/summary.ts'
import { Capture } from '../../live/inspector/timeline.ts'
import { startExample } from './fixtures/terminal.ts'

const ORIGIN = 'http://localhost:5173'

test('a page of this machine gets the frames as they come, with the names of the protocols, and no other page does', async () => {
  const [url] = await startExample('capture-server.ts').shows(/Capture at (\S+)/)

  for (const origin of ['https://example.com', 'http://localhost.example.com', undefined]) {
    const { status, headers } = await fetch(url, origin === undefined ? {} : { headers: { origin } })
    expect([origin, status, headers.get('access-control-allow-origin')]).toEqual([origin, 403, null])
  }

  const ended = new AbortController()
  const response = await fetch(url, { headers: { origin: ORIGIN }, signal: ended.signal })
  expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
  const capture = new Capture()
  const reader = new PcapngReader(capture)
  const names = (): string[] => capture.connections.flatMap(({ streams }) => streams.map(nameOf))
  const pieces = response.body?.getReader()

  while (!names().some(name => /\/example\/file\/1 outbound/.test(name))) {
    const { value } = await pieces?.read() ?? {}
    expect(value).toBeDefined()
    reader.push(value as Uint8Array)
  }

  ended.abort()
  expect(names().join()).toMatch(/stream \d+ \/example\/chat\/1 outbound/)
})
