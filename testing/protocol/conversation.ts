/**
 * What a test and a muxer say to each other: streams opened from either side, what they deliver,
 * how they end, and frames in a form that is easy to compare.
 */
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { expect } from 'vitest'
import { ACK, GO_AWAY, PING, SYN, windowUpdate } from './frames.ts'
import { createRawPeer, nextTurn } from './raw-peer.ts'
import type { Frame } from './frames.ts'
import type { RawPeer, RawPeerInit } from './raw-peer.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { StreamCloseEvent } from '@libp2p/interface'

/** What a stream delivers without any grant */
export const WINDOW_BYTES = 262_144

/** Type, flags, id and length of a frame */
export type Header = [type: number, flags: number, id: number, length: number]

export function headers (frames: Frame[]): Header[] {
  return frames.map(({ type, flags, id, length }) => [type, flags, id, length])
}

/** Bytes written as hex digits, with blanks between the fields */
export function hex (digits: string): Uint8Array {
  return fromString(digits.replaceAll(/\s/g, ''), 'base16')
}

/** A header of 12 bytes as hex digits, blanks between the fields */
export function hexOf (bytes: Uint8Array): string {
  return toString(bytes, 'base16').replace(/^(..)(..)(.{4})(.{8})(.{8})/, '$1 $2 $3 $4 $5 ').trim()
}

export interface Conversation extends RawPeer {
  /** The streams the peer has opened, in order */
  inbound: YamuxStream[]
  /** The headers written since the last call, after the turn has ended; without this side's own pings, which it may send when it likes */
  written (): Promise<Header[]>
  /** Opens a stream and forgets the frame that says so */
  open (): Promise<YamuxStream>
  /** Lets the peer open a stream, and forgets the answer */
  accept (id: number): Promise<YamuxStream>
}

export function converse (init: RawPeerInit = {}): Conversation {
  const peer = createRawPeer(init)
  const inbound: YamuxStream[] = []
  peer.muxer.addEventListener('stream', evt => { inbound.push(evt.detail) })

  const written = async (): Promise<Header[]> => {
    await nextTurn()

    return headers(peer.takeFrames()).filter(([type, flags]) => type !== PING || flags !== SYN)
  }

  return {
    ...peer,
    inbound,
    written,
    open: async () => {
      const stream = await peer.muxer.createStream()
      await written()

      return stream
    },
    accept: async id => {
      peer.deliver(windowUpdate(id, 0, SYN))
      await written()

      return inbound[inbound.length - 1]
    }
  }
}

export interface Received {
  chunks: Uint8Array[]
  byteLength: number
}

/** Listens for messages, and keeps what they bring */
export function receive (stream: YamuxStream): Received {
  const received: Received = { chunks: [], byteLength: 0 }
  stream.addEventListener('message', evt => {
    received.chunks.push(evt.data.subarray())
    received.byteLength += evt.data.byteLength
  })

  return received
}

/** Reads a stream with `for await` to its end; rejects as the loop throws */
export async function readAll (stream: YamuxStream): Promise<number> {
  let byteLength = 0

  for await (const chunk of stream) {
    byteLength += chunk.byteLength
  }

  return byteLength
}

/** The close events of a stream, to be looked at later */
export function endings (stream: YamuxStream): StreamCloseEvent[] {
  const events: StreamCloseEvent[] = []
  stream.addEventListener('close', evt => { events.push(evt) })

  return events
}

/** The connection was ended by a GoAway of this code, said once and last, and the transport aborted behind it, once it has taken that */
export async function expectEnded (peer: Conversation, code: number): Promise<Header[]> {
  peer.transport.drain()
  const frames = await peer.written()
  expect(frames.filter(([type]) => type === GO_AWAY)).toEqual([[GO_AWAY, 0, 0, code]])
  expect(frames.at(-1)).toEqual([GO_AWAY, 0, 0, code])
  expect(peer.transport.status).not.toBe('open')
  expect(peer.muxer.status).toBe('closed')
  expect(peer.muxer.streams).toHaveLength(0)

  return frames
}

/** The values of the pings this side has sent since the last call, and nothing else */
export async function pingValues (peer: Conversation): Promise<number[]> {
  await nextTurn()
  const frames = headers(peer.takeFrames())
  expect(frames).toEqual(frames.map(([, , , value]) => [PING, SYN, 0, value]))

  return frames.map(([, , , value]) => value)
}

/** The connection goes on: a ping is answered */
export async function expectAlive (peer: Conversation): Promise<void> {
  peer.takeFrames()
  peer.deliver(hex('00 02 0001 00000000 a1b2c3d4'))
  expect(await peer.written()).toContainEqual([PING, ACK, 0, 0xa1b2c3d4])
  expect(peer.muxer.status).toBe('open')
}
