// What a case may not do, whatever it says.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../conformance/runner.ts'
import { createTransport } from '../../conformance/transport.ts'
import { listen } from '../../testing/conformance/echo-target.ts'
import { muxers } from '../../testing/muxers.ts'
import { ping, SYN } from '../../testing/protocol/frames.ts'
import type { Case } from '../../conformance/case.ts'
import type { Result } from '../../conformance/runner.ts'
import type { EchoTarget } from '../../testing/conformance/echo-target.ts'
import type { AddressInfo } from 'node:net'

let target: EchoTarget

beforeAll(async () => {
  target = await listen('127.0.0.1:0', { factory: (await muxers.ours())({}) })
})

afterAll(async () => { await target.stop() })

async function runCase (talk: Case['talk'], port = Number(target.address.split(':')[1])): Promise<Result[]> {
  const { connect } = await createTransport({ host: '127.0.0.1', port, listen: false, libp2p: false })

  return run({ cases: [{ number: '0.1', title: '', rule: '', source: '', level: 'must', needs: 'listener', talk }], connect, isDialler: true, has: [] })
}

test('a case that sends too many frames is an error of the suite', async () => {
  await expect(runCase(async target => { target.send(...Array.from({ length: 5_001 }, () => ping(1, SYN))) })).rejects.toThrow('more than 5000 frames')
})

test('a case that sends too many bytes is an error of the suite', async () => {
  await expect(runCase(async target => { target.send(new Uint8Array(8_388_609)) })).rejects.toThrow('more than 8388608 bytes')
})

test('a case that makes too many connections is an error of the suite', async () => {
  await expect(runCase(async target => {
    await target.another()
    await target.another()
  })).rejects.toThrow('more than 2 connections')
})

test('a case is given up after 5 s', async () => {
  const [{ outcome, expected }] = await runCase(async target => { await target.until('nothing', () => false, 20_000) })

  expect({ outcome, expected }).toEqual({ outcome: 'failed', expected: 'the case to be over within 5 s' })
})

// the suite's own pongs counted towards what it may send, and threw where nobody caught it
test('a target that pings without end is left, and fails the case', async () => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.write(Buffer.concat(Array.from({ length: 5_001 }, (_, value) => ping(value, SYN))))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const [{ outcome, expected }] = await runCase(async target => { await target.answers() }, (server.address() as AddressInfo).port)
  server.close()

  expect({ outcome, expected }).toEqual({ outcome: 'failed', expected: 'at most 5000 pings from the target' })
})
