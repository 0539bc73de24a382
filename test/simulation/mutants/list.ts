// Bugs that the simulation has to find, each put into a copy of the sources: what it is, and what it changes. One that it comes upon too rarely names a test. What is to be
// replaced has to be there, once: `search.test.ts` looks, so that a change of the sources cannot make a mutant harmless unseen.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Mutant {
  name: string
  /** What is wrong then */
  bug: string
  /** Finds what random applications come upon too rarely */
  test?: string
  edits: Array<[file: string, find: string, replace: string]>
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

export const mutants: Mutant[] = [
  {
    name: 'credit-behind-fin',
    bug: 'Behind its FIN a side gives credit as before, also to a peer that has enough.',
    edits: [['src/core/stream-state.ts', '(this.life.writeStatus !== \'closed\' || this.receiveWindow.isRunningShort)', 'true']]
  },
  {
    name: 'node-keeps-windows',
    bug: 'The node does not get back by how much a window was about to be raised when its stream ends.',
    edits: [
      ['src/core/window/connection-budget.ts',
        'this.shrink(holder, holder.windowBytes + holder.raiseBytes)',
        'this.shrink(holder, holder.windowBytes)']
    ]
  },
  {
    name: 'credit-for-put-back',
    bug: 'Bytes that the application puts back give credit when they are read again.',
    edits: [['src/stream/readable-half.ts', 'this.#pushedBackBytes += bytes', 'this.#pushedBackBytes += Math.min(bytes, 100)']]
  },
  {
    name: 'loop-leaves-silently',
    bug: 'What a loop has taken when it ends gives no credit.',
    test: 'test/simulation/credit.test.ts',
    edits: [['src/stream/readable-half.ts', '      loops.remove(loop)\n      this.#onAsk(loops, false)', '      loops.remove(loop)']]
  },
  {
    name: 'credit-off-by-one',
    bug: 'A frame spends one byte of credit less than it has.',
    edits: [['src/core/scheduler/lanes.ts', 'stream.creditBytes -= payloadBytes', 'stream.creditBytes -= Math.max(1, payloadBytes - 1)']]
  },
  {
    name: 'credit-not-asked-alone',
    bug: 'A message that waits alone goes out without a look at the credit for it.',
    edits: [['src/core/scheduler/lanes.ts', 'isFollowed || stream.creditBytes < payloadBytes ? undefined', 'isFollowed ? undefined']]
  },
  {
    name: 'announced-behind-fin',
    bug: 'A stream that is announced late is told of the peer\'s FIN before the data.',
    edits: [
      ['src/stream/stream.ts', 'this.handle(EVENT_DATA | this.#heldBackEvents)', 'this.handle(this.#heldBackEvents)'],
      ['src/stream/readable-half.ts', 'this.#isReadToEnd = this.#isComplete', '']
    ]
  },
  {
    name: 'broken-behind-fin',
    bug: 'A reset behind the FIN is an error for a loop that has all bytes.',
    edits: [['src/stream/readable-half.ts', 'this.#endError ??= this.#isComplete ? undefined : err', 'this.#endError ??= err']]
  },
  {
    name: 'cut-short-close',
    bug: 'A muxer that closes does not wait for what its streams have queued.',
    edits: [
      ['src/muxer/muxer.ts', 'await Promise.all([...this.streams].map(async stream => {', 'this.streams.forEach(stream => {'],
      ['src/muxer/muxer.ts', 'await stream.close({ signal })', 'stream.close({ signal })'],
      ['src/muxer/muxer.ts', '    }))\n', '    })\n']
    ]
  },
  {
    name: 'delivered-after-abort',
    bug: 'What had come before the end of the connection is delivered after an abort.',
    edits: [['src/stream/readable-half.ts', 'if (this.readBufferLength > 0 && this.#hasReader) {\n      this.discard(err)\n    }\n', '']]
  },
  {
    name: 'delivered-while-paused',
    bug: 'Data that arrives is delivered although the stream is paused.',
    edits: [
      ['src/stream/readable-half.ts',
        'while (readBuffer.readyBytes > 0 && this.readStatus === \'readable\' && !this.#awaitsRetry',
        'while (readBuffer.readyBytes > 0 && (this.readStatus === \'readable\' || (this.readStatus === \'paused\' && readBuffer.byteLength < 1000)) && !this.#awaitsRetry']
    ]
  },
  {
    name: 'dropped-drain',
    bug: 'A drain of the transport while nothing is queued is forgotten.',
    edits: [
      ['src/host/writer.ts',
        '    this.#drains++\n\n    if (this.isTransportFull) {',
        '    this.#drains++\n\n    if (this.isTransportFull && this.#session.lanes.queuedBytes > 0) {']
    ]
  },
  {
    name: 'closed-gate',
    bug: 'Data that was held back once is held back for good.',
    edits: [
      ['src/path/bytes-in-flight.ts',
        '} else if (!isHeld && this.isHeld) {',
        '} else if (!isHeld && this.isHeld && this.acknowledgedBytes === 0) {']
    ]
  },
  {
    name: 'opened-while-closing',
    bug: 'A stream that came in one chunk with the one whose handler closes the connection is announced.',
    test: 'test/protocol/ping-and-go-away.test.ts',
    edits: [['src/muxer/muxer.ts', 'if (this.#isClosingHere || this.#isOver) {\n      // it came', 'if (this.#isOver) {\n      // it came']]
  },
  {
    name: 'reset-behind-goaway',
    bug: 'A stream that is aborted behind the GoAway is reset.',
    test: 'test/protocol/ping-and-go-away.test.ts',
    edits: [['src/core/session.ts', '    if (this.control.hasWrittenGoAway) {', '    if (false) {']]
  },
  {
    name: 'early-fin',
    bug: 'A FIN is news before the transport has taken it.',
    edits: [
      ['src/core/scheduler/lanes.ts',
        '      this.#host.onFinBatched(stream)\n',
        '      this.#host.onFinBatched(stream)\n      this.#host.onTransportTook()\n'],
      ['src/core/scheduler/control.ts',
        '      this.#host.onFinBatched(stream)\n',
        '      this.#host.onFinBatched(stream)\n      this.#host.onTransportTook()\n']
    ]
  },
  {
    name: 'early-mark',
    bug: 'A mark speaks for bytes behind it.',
    edits: [
      ['src/path/bytes-in-flight.ts',
        'this.#noteArrived(mark.positionBytes)\n',
        'this.#noteArrived(Math.min(mark.positionBytes + 5000, this.#positions.writtenBytes))\n']
    ]
  },
  {
    name: 'early-reuse',
    bug: 'Memory of what was sent is used again while a little of it waits.',
    edits: [['src/core/buffers/send-queue.ts', 'if (this.byteLength === 0) {', 'if (this.byteLength < 100) {']]
  },
  {
    name: 'endless-loop-over-half-a-frame',
    bug: 'A loop that waits for the rest of a frame waits for ever when this side closes the connection.',
    edits: [
      ['src/stream/readable-half.ts',
        '    // a truncated frame is delivered as well\n    this.#deliver()\n',
        '    if (err != null) {\n      this.#deliver()\n    }\n']
    ]
  },
  {
    name: 'endless-wait-for-drain',
    bug: 'A writer that begins to wait after the stream has ended waits for ever.',
    edits: [['src/stream/stream.ts', 'throw this.#createError()', '// forgotten']]
  },
  {
    name: 'failed-close',
    bug: 'A close() whose FIN the transport refuses at once succeeds.',
    edits: [['src/stream/stream.ts', '      await promise\n', '']]
  },
  {
    name: 'forgotten-lane-count',
    bug: 'A stream that changes its lane while it is queued leaves its bytes in the count of the old one.',
    edits: [
      ['src/core/scheduler/lanes.ts',
        '      this.queuedBytes -= stream.sendQueue.byteLength\n',
        '      this.queuedBytes -= stream.sendQueue.firstPieceBytes\n']
    ]
  },
  {
    name: 'forgotten-output',
    bug: 'What is written while a flush is in flight waits for the next flush.',
    edits: [
      ['src/host/driver.ts',
        'if (this.session.hasOutput || this.session.credit.portions !== undefined) {\n      this.request()\n',
        'if (this.session.hasOutput) {\n']
    ]
  },
  {
    name: 'frames-after-reset',
    bug: 'What a stream owed before it was reset stays owed.',
    edits: [
      ['src/core/session.ts', '    stream.pending = 0\n', ''],
      ['src/core/session.ts', '    this.control.remove(stream)\n', '']
    ]
  },
  {
    name: 'late-before-early',
    bug: 'Bytes that have just come stand in front of those that had to wait.',
    edits: [
      ['src/core/buffers/read-buffer.ts',
        '    const detachedBytes = Math.min(count, this.byteLength - this.#fresh.byteLength)\n',
        '    const freshBytes = Math.min(count, this.#fresh.byteLength)\n    this.#fresh.moveTo(sink, freshBytes)\n    count -= freshBytes\n    const detachedBytes = count\n']
    ]
  },
  {
    name: 'late-frames-as-attack',
    bug: 'What a window allowed counts as an attack when its stream has ended.',
    edits: [
      ['src/core/peer-limits.ts',
        '    this.#latePayloadBytes += payloadBytes\n    this.#lateFrames += updates + OTHER_LATE_FRAMES',
        '    this.#lateFrames += OTHER_LATE_FRAMES']
    ]
  },
  {
    name: 'leaked-place',
    bug: 'A stream that the peer resets keeps its slot among the open ones.',
    edits: [
      ['src/core/session.ts',
        '    this.forget(stream)\n    stream.errorCode = errorCode',
        '    this.#discard(stream)\n    stream.errorCode = errorCode']
    ]
  },
  {
    name: 'leaked-timer',
    bug: 'A connection that ends leaves its keep-alive timer.',
    edits: [
      ['src/host/timers.ts', '    this.#isStopped = true\n    this.#host.clock.clearTimer(this.#timer)', '    this.#isStopped = true']
    ]
  },
  {
    name: 'lost-ack',
    bug: 'The ACK does not ride on the first data, and is taken for sent.',
    edits: [
      ['src/core/scheduler/lanes.ts',
        '    const flags = stream.pending & (FLAG_SYN | FLAG_ACK)',
        '    stream.pending &= ~FLAG_ACK\n    const flags = stream.pending & FLAG_SYN']
    ]
  },
  {
    name: 'lost-fin',
    bug: 'The FIN that the batch has no room for is forgotten.',
    edits: [['src/core/scheduler/lanes.ts', 'this.#host.schedule(stream, PENDING_FIN)', '// forgotten']]
  },
  {
    name: 'lost-wake-up',
    bug: 'A window update does not bring back a stream that had used up its credit.',
    edits: [['src/core/session.ts', '    this.lanes.enlist(stream)\n', '']]
  },
  {
    name: 'recursive-delivery',
    bug: 'A listener that pauses and resumes its stream is called within itself.',
    edits: [
      ['src/stream/readable-half.ts',
        'if (this.#isDelivering || (readBuffer',
        'if ((this.#isDelivering && this.readStatus === \'closed\') || (readBuffer']
    ]
  },
  {
    name: 'shared-batch',
    bug: 'All connections share a batch, which keeps its pieces when laying them out throws.',
    edits: [
      ['src/core/sender.ts', 'export class Sender<', 'const sharedBatch = new Batch()\n\nexport class Sender<'],
      ['src/core/sender.ts', 'readonly #batch = new Batch()', 'readonly #batch = sharedBatch'],
      ['src/core/buffers/piece-queue.ts', 'if (piece.byteLength < end) {', 'if (end < 0) {']
    ]
  },
  {
    name: 'skipped-update',
    bug: 'An update that is due together with a FIN is forgotten.',
    edits: [
      ['src/core/scheduler/control.ts',
        'receiveWindow.isRaised) && stream.mayGrant',
        'receiveWindow.isRaised) && stream.mayGrant && (pending & PENDING_FIN) === 0']
    ]
  },
  {
    name: 'split-header',
    bug: 'The first byte of a header that is split across chunks is taken twice.',
    edits: [['src/core/wire/decoder.ts', 'chunk[offset++]', 'chunk[this.#partialHeaderBytes === 11 ? offset : offset++]']]
  },
  {
    name: 'swapped-order',
    bug: 'Bytes that have to wait are put together in the wrong order.',
    edits: [
      ['src/core/buffers/read-buffer.ts',
        '      detached.push(this.#block, this.#blockFill, end, true)\n',
        '      detached.unshift(view.slice(offset, offset + count))\n']
    ]
  },
  {
    name: 'two-flags',
    bug: 'SYN or ACK and FIN go in one frame.',
    edits: [['src/core/scheduler/control.ts', 'isOpening ? stream.pending & ~PENDING_FIN : stream.pending', 'stream.pending']]
  },
  {
    name: 'unnoticed-change',
    bug: 'Bytes that were changed while they waited are written as they are.',
    edits: [
      ['src/core/buffers/piece-queue.ts', 'if (piece.byteLength < end) {', 'if (end < 0) {'],
      ['src/core/buffers/piece-queue.ts',
        'sink.piece(available === piece.byteLength ? piece : view(piece, start, available))',
        'sink.piece(piece.subarray(start, end))']
    ]
  },
  {
    name: 'grants-never-confirmed',
    bug: 'While the peer is bound, credit that nobody uses counts as in flight for ever.',
    test: 'test/core/window/portions.test.ts',
    edits: [
      ['src/core/window/portions.ts', 'stream.earlierGrantBytes = 0\n\n      if', 'if'],
      ['src/core/window/portions.ts', '        this.#granted.delete(stream)', '        stream.queuedGrantBytes += 0']
    ]
  },
  {
    name: 'withheld-credit-kept',
    bug: 'When the bound of the peer is lifted, nothing is given back.',
    edits: [['src/core/window/credit.ts', 'this.giveBack(stream, 0)', 'stream.pending |= 0']]
  }
]

/** The files that a mutant changes, as they are then. Throws when what is to be replaced is not there, or more than once. */
export function mutate ({ name, edits }: Mutant, sources = root): Map<string, string> {
  const files = new Map<string, string>()

  for (const [file, find, replace] of edits) {
    const parts = (files.get(file) ?? readFileSync(`${sources}/${file}`, 'utf8')).split(find)

    if (parts.length !== 2) {
      throw new Error(`mutant ${name}: ${JSON.stringify(find)} is ${parts.length - 1} times in ${file}, it must be there once`)
    }

    files.set(file, parts.join(replace))
  }

  return files
}
