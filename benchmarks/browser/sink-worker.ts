// A worker at whose end of a message port a muxer takes messages.
import { MessagePortStream } from '../../testing/browser/message-port-stream.ts'
import { muxers } from '../muxers.ts'
import { receiveMessages } from './messages.ts'
import type { MuxerName } from '../contestants.ts'

globalThis.onmessage = async ({ data: { port, name } }: MessageEvent<{ port: MessagePort, name: MuxerName }>) => {
  const createMuxer = await muxers[name]()
  const muxer = createMuxer().createStreamMuxer(new MessagePortStream(port, 'inbound'))

  muxer.addEventListener('stream', ({ detail: stream }) => { receiveMessages(stream) })
}
