// What libp2p needs with any muxer, and what an environment of pages does not have, or has of another realm than Node's modules.
import { TextDecoder, TextEncoder } from 'node:util'
import { BroadcastChannel } from 'node:worker_threads'

Object.assign(globalThis, {
  ArrayBuffer: Buffer.alloc(0).buffer.constructor,
  BroadcastChannel,
  TextDecoder,
  TextEncoder,
  Uint8Array: Object.getPrototypeOf(Buffer)
})
