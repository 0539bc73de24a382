// Ours and stock at the two ends of a connection, over TCP and Noise: programs that take one event for one send, and use their memory again behind send().
import { Uint8ArrayList } from 'uint8arraylist'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { createNode } from '../libp2p/fixtures/node.ts'
import { concat, pattern } from '../fixtures/frames.ts'
import type { TestNode } from '../libp2p/fixtures/node.ts'
import type { Stream } from '@libp2p/interface'

const PROTOCOL = '/boundaries/1'

describe.each(MUXER_PAIRS)('$dialler that sends to $listener', names => {
  let dialler: TestNode
  let listener: TestNode

  beforeAll(async () => {
    dialler = await createNode(names.dialler)
    listener = await createNode(names.listener)
  })

  afterAll(async () => {
    await Promise.all([dialler.libp2p.stop(), listener.libp2p.stop()])
  })

  /** The bytes of each `message` event, or of each chunk of a loop */
  async function exchange (send: (stream: Stream) => void | Promise<void>, reads: 'by event' | 'by loop' = 'by event'): Promise<Uint8Array[]> {
    const messages: Uint8Array[] = []
    const received = new Promise<Uint8Array[]>((resolve, reject) => {
      listener.libp2p.handle(PROTOCOL, async stream => {
        if (reads === 'by loop') {
          for await (const chunk of stream) {
            messages.push(Uint8Array.from(chunk.subarray()))
          }

          resolve(messages)
        } else {
          stream.addEventListener('message', ({ data }) => { messages.push(Uint8Array.from(data.subarray())) })
          stream.addEventListener('remoteCloseWrite', () => { resolve(messages) })
          stream.addEventListener('close', ({ error }) => { error == null ? resolve(messages) : reject(error) })
        }
      }, { force: true }).catch(reject)
    })
    const stream = await dialler.libp2p.dialProtocol(listener.libp2p.getMultiaddrs(), PROTOCOL)
    await send(stream)
    await stream.close()

    return received
  }

  test.each(['by event', 'by loop'] as const)('each of 50 sends in a turn is a message, read %s', async reads => {
    const sent = Array.from({ length: 50 }, (_, i) => pattern(1 + i * 10, i))

    expect(await exchange(stream => { sent.forEach(bytes => stream.send(bytes)) }, reads)).toEqual(sent)
  })

  test('a message as long as a frame stays whole, behind a short one and in front of one', async () => {
    const sent = [pattern(20, 1), pattern(16_000, 2), pattern(100, 3)]

    expect(await exchange(stream => { sent.forEach(bytes => stream.send(bytes)) })).toEqual(sent)
  })

  test('a message in parts is one message', async () => {
    const parts = [pattern(3, 1), pattern(500, 2), pattern(9000, 3)]
    const messages = await exchange(stream => {
      stream.send(new Uint8ArrayList(...parts))
      stream.send(new Uint8ArrayList(...parts.slice(0, 2)))
    })

    expect(messages).toEqual([concat(...parts), concat(...parts.slice(0, 2))])
  })

  test('a header that is written again and again into the same memory arrives as it was each time', async () => {
    const header = new Uint8Array(4)
    const messages = await exchange(stream => {
      for (let i = 0; i < 4; i++) {
        header.fill(i)
        stream.send(header)
      }
    })

    expect(messages).toEqual([0, 1, 2, 3].map(i => new Uint8Array(4).fill(i)))
  })

  test('memory of any length may be used again when the stream is idle', async () => {
    const block = new Uint8Array(20_000)
    const messages = await exchange(async stream => {
      for (let i = 0; i < 40; i++) {
        block.fill(i)
        const idle = new Promise(resolve => { stream.addEventListener('idle', resolve, { once: true }) })
        stream.send(block)
        await idle
      }
    })

    expect(concat(...messages)).toEqual(concat(...Array.from({ length: 40 }, (_, i) => new Uint8Array(20_000).fill(i))))
  })

  test('a list whose parts are used again arrives as it was', async () => {
    const header = new Uint8Array(2)
    const body = new Uint8Array(3000)
    const messages = await exchange(stream => {
      for (let i = 0; i < 3; i++) {
        header.fill(i)
        body.fill(10 + i)
        stream.send(new Uint8ArrayList(header, body))
      }
    })

    expect(messages).toEqual([0, 1, 2].map(i => new Uint8Array(3002).fill(10 + i).fill(i, 0, 2)))
  })
})
