// docs/examples/file-transfer.ts between two processes.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lpStream } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startExample, startWaiting } from './fixtures/terminal.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import type { Terminal } from './fixtures/terminal.ts'

const MEBIBYTE = 2 ** 20

let outbox: string
let inbox: string
let receiver: Terminal
let address: string

beforeEach(async () => {
  outbox = await mkdtemp(join(tmpdir(), 'outbox-'))
  inbox = await mkdtemp(join(tmpdir(), 'inbox-'))
  ;[receiver, address] = await startWaiting('file-transfer.ts', inbox)
})

afterEach(async () => {
  await receiver.kill()
  await Promise.all([outbox, inbox].map(async folder => rm(folder, { recursive: true })))
})

/** So large that somebody can go away in the middle */
async function createLargeFile (): Promise<string> {
  const path = join(outbox, 'large')
  await writeFile(path, '')
  await truncate(path, 128 * MEBIBYTE)

  return path
}

/** As the example does, but with any header */
async function offer (header: object, content: Uint8Array): Promise<void> {
  const node = await createNode()

  try {
    const stream = await node.dialProtocol(multiaddr(address), '/example/file/1')
    const messages = lpStream(stream)
    await messages.write(new TextEncoder().encode(JSON.stringify(header)))
    stream.send(content)
    await stream.close()
    await messages.read()
  } finally {
    await node.stop()
  }
}

test('a file arrives whole, and progress reaches 100 % at both ends', async () => {
  const path = join(outbox, 'photo')
  const content = randomBytes(8 * MEBIBYTE + 1)
  await writeFile(path, content)
  const sender = startExample('file-transfer.ts', path, address)

  expect(await sender.exitCode).toBe(0)
  await sender.shows(/Sending photo: \d{1,2} %.*\rSending photo: 100 %\nphoto has arrived/)
  await receiver.shows(/Receiving photo: \d{1,2} %.*\rReceiving photo: 100 %\nphoto is whole/)
  await expect.poll(async () => readdir(inbox)).toEqual(['photo'])
  expect(content.equals(await readFile(join(inbox, 'photo')))).toBe(true)
})

test('a file whose name is taken is not kept, and its sender is told', async () => {
  const path = join(outbox, 'photo')
  await Promise.all([writeFile(path, 'new'), writeFile(join(inbox, 'photo'), 'old')])
  const sender = startExample('file-transfer.ts', path, address)

  expect(await sender.exitCode).toBe(1)
  await sender.shows(/^Not sent: /m)
  await receiver.shows(/^Nothing is kept: EEXIST/m)
  await expect.poll(async () => readdir(inbox)).toEqual(['photo'])
  expect(await readFile(join(inbox, 'photo'), 'utf8')).toBe('old')
})

test('a sender that says it is through before all was sent leaves no short file', async () => {
  const sha256 = createHash('sha256').update('all of it').digest('hex')

  await expect(offer({ name: 'photo', sizeBytes: 9, sha256 }, Buffer.from('all of'))).rejects.toThrow('reset')
  await receiver.shows(/^Nothing is kept: What came is not photo$/m)
  await expect.poll(async () => readdir(inbox)).toEqual([])
})

test('a name that leads out of the folder does not', async () => {
  const sha256 = createHash('sha256').update('photo').digest('hex')

  await offer({ name: '../photo', sizeBytes: 5, sha256 }, Buffer.from('photo'))
  await expect.poll(async () => readdir(inbox)).toEqual(['photo'])
})

test('a sender that goes away in the middle is an error, and leaves no short file', async () => {
  const sender = startExample('file-transfer.ts', await createLargeFile(), address)
  await receiver.shows(/Receiving large: [1-9]/)
  expect(await readdir(inbox)).toEqual([expect.stringMatching(/\.part$/)])
  await sender.kill()

  await receiver.shows(/^Nothing is kept: /m)
  await expect.poll(async () => readdir(inbox)).toEqual([])
})

test('a receiver that goes away in the middle is an error', async () => {
  const sender = startExample('file-transfer.ts', await createLargeFile(), address)
  await receiver.shows(/Receiving large: [1-9]/)
  await receiver.kill()

  expect(await sender.exitCode).toBe(1)
  await sender.shows(/^Not sent: /m)
})
