// A writer that was at something else when its stream ended, such as reading a disk, learns why at its next send().
import { expect, test } from 'vitest'
import { ACK, RST, windowUpdate } from '../../testing/protocol/frames.ts'
import { converse } from '../../testing/protocol/conversation.ts'

function thrownBy (call: () => unknown): unknown {
  try {
    return call()
  } catch (err) {
    return err
  }
}

test('send() on a stream that the peer has reset throws with the reset, and its code, as the cause', async () => {
  const peer = converse()
  const stream = await peer.open()
  peer.deliver(windowUpdate(1, 0, ACK), windowUpdate(1, 70_000, RST))

  expect(thrownBy(() => stream.send(Uint8Array.of(1)))).toMatchObject({
    name: 'StreamStateError',
    message: 'Cannot write to a stream that is closed',
    cause: { name: 'StreamResetError', errorCode: 70_000 }
  })
})

test('send() on a stream that was aborted here throws with what it was aborted with as the cause', async () => {
  const stream = await converse().open()
  const reason = new Error('Enough')
  stream.abort(reason)

  expect(thrownBy(() => stream.send(Uint8Array.of(1)))).toMatchObject({ cause: reason })
})

test('send() behind close() has no cause while the stream is still read', async () => {
  const stream = await converse().open()
  stream.close().catch(() => {})

  expect(thrownBy(() => stream.send(Uint8Array.of(1)))).toMatchObject({ message: expect.stringMatching(/^Cannot write to a stream that is clos/), cause: undefined })
})
