// The steps of a message's way, each by itself. A run takes MESSAGES messages through one step, and its check says whether all came through.
import { setImmediate } from 'node:timers/promises'
import { ReadBuffer } from '../../src/core/buffers/read-buffer.ts'
import { Batch } from '../../src/core/scheduler/batch.ts'
import { Decoder } from '../../src/core/wire/decoder.ts'
import { encodeHeader, FLAG_ACK, FLAG_SYN, HEADER_BYTES, TYPE_DATA, TYPE_WINDOW_UPDATE } from '../../src/core/wire/frame.ts'
import { yamux } from '../../src/index.ts'
import { createScheduler, createStream } from '../../testing/core/lanes.ts'
import { createSession } from '../../testing/core/sessions.ts'
import { parseFrames } from '../../testing/protocol/frames.ts'
import { frameOf, Transport } from './transport.ts'
import type { Session } from '../../src/core/session.ts'
import type { StreamState } from '../../src/core/stream-state.ts'
import type { FrameSink } from '../../src/core/wire/decoder.ts'
import type { Run } from './timed.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** All of it fits into one write */
export const STREAMS = 50
export const MESSAGES_PER_STREAM = 10
export const MESSAGES = STREAMS * MESSAGES_PER_STREAM
export const MESSAGE_BYTES = 100

const WRITE_BYTES = 65_519
/** The muxer's default */
const MERGE_FROM_BYTES = 16_384
/** Ten of them are more than half a window, so each stream owes an update at the end of a run */
const CREDIT_BYTES = 16_384

const message = new Uint8Array(MESSAGE_BYTES)
const ids = Array.from({ length: STREAMS }, (_, i) => i * 2 + 1)

/** What was taken last is held here: V8 would not allocate what nobody else sees */
let taken: Uint8ArrayList

/** One frame a message, for the streams in turn */
function createChunk (): Uint8Array {
  const frames = Array.from({ length: MESSAGES }, (_, i) => frameOf(TYPE_DATA, 0, ids[i % STREAMS], MESSAGE_BYTES, MESSAGE_BYTES))

  return Buffer.concat(frames)
}

function expectBytes (bytes: number, expectedBytes = MESSAGES * MESSAGE_BYTES): void {
  if (bytes !== expectedBytes) {
    throw new Error(`${bytes} bytes came through instead of ${expectedBytes}`)
  }
}

function encode (): Run {
  const target = new Uint8Array(MESSAGES * HEADER_BYTES)

  return {
    run () {
      let offset = 0

      for (let i = 0; i < MESSAGES; i++) {
        offset = encodeHeader(target, offset, TYPE_DATA, 0, ids[i % STREAMS], MESSAGE_BYTES)
      }
    },
    check () {
      const view = new DataView(target.buffer)
      let bytes = 0

      for (let i = 0; i < MESSAGES; i++) {
        bytes += view.getUint32(i * HEADER_BYTES + 4) === ids[i % STREAMS] ? view.getUint32(i * HEADER_BYTES + 8) : 0
      }

      expectBytes(bytes)
    }
  }
}

function decode (): Run {
  const chunk = createChunk()
  let bodyBytes = 0
  const sink: FrameSink = {
    onHeader: () => true,
    onBody: piece => { bodyBytes += piece.byteLength },
    onBodyEnd: () => {}
  }
  const decoder = new Decoder(sink)

  return {
    run () {
      bodyBytes = 0
      decoder.push(chunk)
    },
    check () { expectBytes(bodyBytes) }
  }
}

/** Messages are queued, and frames of them chosen; `laysOut` also makes the write of them */
function schedule (laysOut: boolean): Run {
  let finishedBytes = 0
  const scheduler = createScheduler()
  const streams = ids.map(id => createStream(id))
  const batch = new Batch()
  const counting = { frameCount: 0, maxFrames: Infinity, roomBytes: 0, header () {}, piece (bytes: Uint8Array) { finishedBytes += bytes.byteLength } }

  return {
    run () {
      finishedBytes = 0

      for (let i = 0; i < MESSAGES; i++) {
        const stream = streams[i % STREAMS]
        stream.sendQueue.push(message)
        scheduler.data.onQueued(stream, MESSAGE_BYTES)
      }

      streams.forEach(stream => { stream.creditBytes += MESSAGES_PER_STREAM * MESSAGE_BYTES })

      if (laysOut) {
        batch.begin(2 * MESSAGES * MESSAGE_BYTES, Infinity)
        scheduler.fill(batch, 0, 0)
        finishedBytes = batch.finish().byteLength - STREAMS * HEADER_BYTES
      } else {
        counting.roomBytes = 2 * MESSAGES * MESSAGE_BYTES
        scheduler.fill(counting as unknown as Batch, 0, 0)
      }
    },
    check () { expectBytes(finishedBytes) }
  }
}

/** Each message is a write of its own, as on a quiet connection */
function writeAndPull (): Run {
  const session = createSession()
  const streams = ids.map(() => session.open(0))
  session.sender.pull(WRITE_BYTES, Infinity, 0, 0)
  session.onTransportTook()
  let pulledBytes = 0

  return {
    run () {
      pulledBytes = 0
      streams.forEach(stream => { stream.creditBytes += MESSAGES_PER_STREAM * MESSAGE_BYTES })

      for (let i = 0; i < MESSAGES; i++) {
        session.send(streams[i % STREAMS], message)
        pulledBytes += session.sender.pull(WRITE_BYTES, Infinity, 0, 0)?.byteLength ?? 0
        session.onTransportTook()
      }
    },
    check () { expectBytes(pulledBytes, MESSAGES * (HEADER_BYTES + MESSAGE_BYTES)) }
  }
}

/** Ten messages wait, and are taken one by one */
function keepAndTake (): Run {
  const buffers = ids.map(() => new ReadBuffer(MERGE_FROM_BYTES))
  let takenBytes = 0
  let takenMessages = 0

  return {
    run () {
      takenBytes = 0
      takenMessages = 0

      for (const buffer of buffers) {
        for (let i = 0; i < MESSAGES_PER_STREAM; i++) {
          buffer.append(message)
        }

        while (buffer.readyBytes > 0) {
          taken = buffer.take()
          takenBytes += taken.byteLength
          takenMessages++
        }
      }
    },
    check () {
      expectBytes(takenBytes)

      if (takenMessages !== MESSAGES) {
        throw new Error(`${takenMessages} messages were taken instead of ${MESSAGES}`)
      }
    }
  }
}

/** A session with streams that the peer has opened */
function accept (): { session: Session<unknown>, streams: Array<StreamState<unknown>> } {
  const session = createSession({ isDialler: false, mergeFromBytes: MERGE_FROM_BYTES })
  ids.forEach(id => { session.receive(frameOf(TYPE_DATA, FLAG_SYN, id, 0), 0) })
  const streams = session.eventful.splice(0)
  streams.forEach(stream => { stream.events = 0 })
  session.sender.pull(WRITE_BYTES, Infinity, 0, 0)
  session.onTransportTook()

  return { session, streams }
}

/** What was read is counted, and one message in ten brings a window update */
function giveBackCredit (): Run {
  const { session, streams } = accept()
  let updates: Uint8Array = new Uint8Array(0)

  return {
    run () {
      for (let i = 0; i < MESSAGES; i++) {
        const stream = streams[i % STREAMS]
        stream.receiveWindow.receive(CREDIT_BYTES, stream.id)
        session.credit.giveBack(stream, CREDIT_BYTES)
      }

      updates = session.sender.pull(WRITE_BYTES, Infinity, 0, 0)?.subarray() ?? updates
      session.onTransportTook()
    },
    check () {
      const grantedBytes = parseFrames(updates).reduce((bytes, { type, length }) => bytes + (type === TYPE_WINDOW_UPDATE ? length : 0), 0)
      expectBytes(grantedBytes, MESSAGES * CREDIT_BYTES)
    }
  }
}

/** All that the core does with a chunk */
function receiveAndTake (): Run {
  const { session } = accept()
  const chunk = createChunk()
  let takenBytes = 0

  return {
    run () {
      takenBytes = 0
      session.receive(chunk, 0)

      for (const stream of session.eventful) {
        stream.events = 0

        while (stream.readBuffer.readyBytes > 0) {
          taken = stream.readBuffer.take()
          takenBytes += taken.byteLength
          session.credit.giveBack(stream, taken.byteLength)
        }
      }

      session.eventful.length = 0

      if (session.hasOutput) {
        session.sender.pull(WRITE_BYTES, Infinity, 0, 0)
        session.onTransportTook()
      }
    },
    check () { expectBytes(takenBytes) }
  }
}

/** From `send()` to the write of the whole turn */
async function send (): Promise<Run> {
  const transport = new Transport('outbound')
  // the other end answers no ping, so all that was ever sent would count as in flight to it
  const muxer = yamux({ enableKeepAlive: false, coalesce: { maxQueueDelayMs: Infinity } })().createStreamMuxer(transport.asMessageStream)
  const first = await muxer.createStream()
  // ten streams are opened to a peer that has answered nothing
  transport.deliver(frameOf(TYPE_WINDOW_UPDATE, FLAG_ACK, ids[0], 0))
  const streams = [first, ...await Promise.all(ids.slice(1).map(async () => muxer.createStream()))]
  const grants = Buffer.concat(ids.map(id => frameOf(TYPE_WINDOW_UPDATE, 0, id, MESSAGES_PER_STREAM * MESSAGE_BYTES)))
  await setImmediate()
  transport.writtenBytes = 0

  return {
    async run () {
      transport.writtenBytes = 0
      transport.deliver(grants)

      for (let i = 0; i < MESSAGES; i++) {
        streams[i % STREAMS].send(message)
      }

      await setImmediate()
    },
    // a frame for each
    check () { expectBytes(transport.writtenBytes, MESSAGES * (HEADER_BYTES + MESSAGE_BYTES)) }
  }
}

/** From one chunk of frames to one `message` event a stream, and the window updates that follow */
async function deliver (): Promise<Run> {
  const transport = new Transport('inbound')
  const muxer = yamux({ enableKeepAlive: false })().createStreamMuxer(transport.asMessageStream)
  const chunk = createChunk()
  let receivedBytes = 0

  muxer.addEventListener('stream', ({ detail: stream }) => {
    stream.addEventListener('message', ({ data }) => { receivedBytes += data.byteLength })
  })
  ids.forEach(id => { transport.deliver(frameOf(TYPE_DATA, FLAG_SYN, id, 0)) })

  return {
    async run () {
      receivedBytes = 0
      transport.deliver(chunk)
      await setImmediate()
    },
    check () { expectBytes(receivedBytes) }
  }
}

/** In the order of the way, out and in */
export async function createSteps (): Promise<Record<string, Run>> {
  return {
    'encode a header': encode(),
    'queue and schedule': schedule(false),
    'and lay out': schedule(true),
    'write and pull, one by one': writeAndPull(),
    'send, all of it': await send(),
    'decode a frame': decode(),
    'keep in a read buffer and take': keepAndTake(),
    'give back credit': giveBackCredit(),
    'receive, take and give back': receiveAndTake(),
    'deliver, all of it': await deliver()
  }
}
