// The command: what it refuses before it sends anything, how it is told what to run, what it writes, and how it exits.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLocal, parseOptions } from '../../conformance/options.ts'
import { dialAgainAndAgain, echo, listen, toAddress, toMultiaddr } from '../../testing/conformance/echo-target.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { closeOf } from '../../testing/libp2p/streams.ts'
import { muxers } from '../../testing/muxers.ts'
import { createMutantTarget } from './fixtures/mutant-target.ts'
import { MUTANTS } from './fixtures/mutants.ts'
import type { AddressInfo } from 'node:net'
import type { EchoTarget } from '../../testing/conformance/echo-target.ts'

const PROGRAM = fileURLToPath(new URL('../../conformance/run.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'conformance-'))

let target: EchoTarget

beforeAll(async () => {
  target = await listen('127.0.0.1:0', { factory: (await muxers.ours())({}) })
})

afterAll(async () => {
  await target.stop()
  rmSync(folder, { recursive: true })
})

async function conformance (...args: string[]): Promise<{ status: number, output: string, log: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args])
  const [output, log, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])

  return { status, output, log }
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()

  return port
}

describe('before it sends anything', () => {
  test('an address that is not of this machine is refused without --remote', async () => {
    expect(() => parseOptions(['192.0.2.1:4001'])).toThrow('--remote')
    expect(parseOptions(['192.0.2.1:4001', '--remote'])).toMatchObject({ host: '192.0.2.1', port: 4001 })
    expect(['127.0.0.1', '127.8.8.8', '::1', 'localhost', '10.0.0.1', '0.0.0.0', '127.example.org', 'localhost.example.org'].filter(isLocal)).toEqual(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])
  })

  test('--help prints the usage, and a run of nothing exits with 2', async () => {
    expect(await conformance('--help')).toMatchObject({ status: 0, output: expect.stringContaining('Usage:'), log: '' })
    expect(await conformance(target.address, '--case', '2.25')).toMatchObject({ status: 2, output: expect.stringContaining('1 not run') })
  })

  test.each([
    [[], 'one address'],
    [['127.0.0.1'], 'one address'],
    [['127.0.0.1:99999'], 'one address'],
    [['127.0.0.1:4001', '--case', '9.9'], 'no case or group 9.9'],
    [['127.0.0.1:4001', '--raw', '--libp2p'], 'exclude each other'],
    [['127.0.0.1:4001', '--flood'], '--flood']
  ])('%j is a usage error', (args, message) => {
    expect(() => parseOptions(args)).toThrow(message)
  })

  test('usage errors exit with 2, and so does a target that is not there', async () => {
    const [usage, absent] = await Promise.all([conformance('192.0.2.1:4001'), conformance(`127.0.0.1:${await freePort()}`)])

    expect(usage).toMatchObject({ status: 2, output: '' })
    expect(usage.log).toContain('Usage:')
    expect(absent).toMatchObject({ status: 2, output: '' })
    expect(absent.log).toContain('The suite could not run')
  })

  test('it says what it will send', async () => {
    const { log } = await conformance(target.address, '--case', '4.1')

    expect(log).toContain('Cases: 1. Each takes at most 5 s and 2 connections, and sends at most 8 MiB in 5,000 frames on each.')
  })
})

describe('cases are chosen', () => {
  test.each([
    ['4.2', ['4.2']],
    ['5', ['5.1', '5.2', '5.3', '5.4', '5.5', '5.6', '5.7', '5.8', '5.9']]
  ])('by --case %s', (number, expected) => {
    const options = parseOptions([target.address, '--case', number])
    expect(options !== 'help' && options.cases.map(one => one.number)).toEqual(expected)
  })

  test('by what the target is said to have', async () => {
    const { status, output } = await conformance(target.address, '--no-echo', '--case', '2.1', '--case', '4.1')

    expect(status).toBe(0)
    expect(output).toContain('- 2.1')
    expect(output).toContain('not run: 2.1 for want of a target that sends back')
    expect(output).toContain('✓ 4.1')
  })
})

describe('results', () => {
  const args = ['--case', '4.1', '--case', '4.8', '--case', '1.8']

  test('of a must that fails are in the table with what was expected and seen, and exit with 1', async () => {
    const mutant = await createMutantTarget(MUTANTS['answers pings with another value'], Number(target.address.split(':')[1]))
    const { status, output } = await conformance(`127.0.0.1:${mutant.port}`, '--case', '4.1')
    mutant.stop()

    expect(status).toBe(1)
    expect(output).toContain('✗ 4.1')
    expect(output).toContain('expected PING ACK value 0x01020304 within 2 s')
    expect(output).toContain('> PING SYN value 0x01020304')
    expect(output).toContain('< PING ACK value 0x01020305')
  })

  test('of a should that fails exit with 0', async () => {
    const mutant = await createMutantTarget(MUTANTS['does not look at versions'], Number(target.address.split(':')[1]))
    const { status, output } = await conformance(`127.0.0.1:${mutant.port}`, '--case', '1.8')
    mutant.stop()

    expect(status).toBe(0)
    expect(output).toContain('✗ 1.8')
    expect(output).toContain('> PING SYN value 0x00000001 (version 1)')
  })

  test('are written as JSON and JUnit', async () => {
    const [jsonFile, junitFile] = [join(folder, 'results.json'), join(folder, 'results.xml')]
    await conformance(target.address, ...args, '--json', jsonFile, '--junit', junitFile)

    expect(JSON.parse(readFileSync(jsonFile, 'utf8'))).toMatchObject({
      target: target.address,
      cases: [
        { number: '1.8', level: 'should', outcome: 'passed' },
        { number: '4.1', level: 'must', outcome: 'passed' },
        { number: '4.8', level: 'informational', outcome: 'noted', note: 'goes on' }
      ]
    })
    const xml = readFileSync(junitFile, 'utf8')
    expect(xml.match(/<testcase /g)).toHaveLength(3)
    expect(xml).toContain('<testsuite name="4 ping" tests="2" failures="0">')
  })

  test('are printed in the Test Anything Protocol instead of the table', async () => {
    const { output } = await conformance(target.address, ...args, '--tap')

    expect(output).toBe([
      'TAP version 13',
      '1..3',
      'ok 1 - 1.8 A frame of another version ends the connection',
      'ok 2 - 4.1 A ping is answered with its value',
      'ok 3 - 4.8 An unexpected pong: goes on',
      ''
    ].join('\n'))
  })
})

describe('a connection', () => {
  const few = ['--case', '1.3', '--case', '2', '--case', '4.1', '--case', '7.2']

  test('may be dialled by the target', async () => {
    const address = `127.0.0.1:${await freePort()}`
    const stopping = new AbortController()
    const dialling = dialAgainAndAgain(address, { factory: (await muxers.ours())({}), opens: true }, stopping.signal)
    const { status, output } = await conformance(address, '--listen', '--opens', ...few)
    stopping.abort()
    await dialling

    expect(status, output).toBe(0)
    expect(output).not.toContain('✗')
    expect(output).toContain('must          22 passed\n')
  })

  test('may be dialled by a libp2p node', async () => {
    const address = `127.0.0.1:${await freePort()}`
    const node = await createNode('ours', { addresses: { listen: [] } })
    await node.handle('/echo/1.0.0', echo)
    const over = new AbortController()
    const running = conformance(address, '--listen', '--libp2p', '--case', '2.1', '--case', '4', '--case', '7.2').finally(() => { over.abort() })

    while (!over.signal.aborted) {
      await node.dial(toMultiaddr(address)).then(async connection => closeOf(connection), async () => sleep(20))
    }

    const { status, output } = await running
    await node.stop()

    expect(status, output).toBe(0)
    expect(output).not.toContain('✗')
  })

  test('may be one of libp2p, with Noise', async () => {
    const node = await createNode()
    await node.handle('/echo/1.0.0', echo, { maxInboundStreams: 1_000 })
    const { status, output } = await conformance(toAddress(node.getMultiaddrs()[0]), '--libp2p', ...few)
    await node.stop()

    expect(status, output).toBe(0)
    expect(output).not.toContain('✗')
  })
})
