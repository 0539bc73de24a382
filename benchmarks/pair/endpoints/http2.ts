// HTTP/2 as Node has it: a request's and its response's body are the two directions of a stream.
import { once } from 'node:events'
import { connect, createSecureServer, createServer } from 'node:http2'
import { defaultLogger } from '@libp2p/logger'
import { AbstractStream } from '@libp2p/utils'
import { streamLimits } from '../../muxers.ts'
import type { Endpoint, OnStream } from './endpoint.ts'
import type { MessageStreamDirection } from '@libp2p/interface'
import type { SendResult } from '@libp2p/utils'
import type { ClientHttp2Session, Http2Server, Http2Session, Http2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What yamux may grow to: HTTP/2 leaves it to the receiver, and Node's 64 KiB would wait for the other side all the time */
const WINDOW_BYTES = 16 * 1024 * 1024
const MAX_SESSION_MEMORY_MB = 1024

const options = {
  settings: { initialWindowSize: WINDOW_BYTES, maxConcurrentStreams: streamLimits.maxInboundStreams },
  maxSessionMemory: MAX_SESSION_MEMORY_MB
}

/** A key that both sides know stands for certificates; the cipher is that of Noise */
const tlsOptions = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  maxVersion: 'TLSv1.2' as const,
  ALPNProtocols: ['h2']
}
const identity = 'benchmark'
const psk = Buffer.alloc(32, identity)

class BodyStream extends AbstractStream {
  readonly #body: Http2Stream

  constructor (body: Http2Stream, direction: MessageStreamDirection) {
    super({ id: String(body.id), direction, log: defaultLogger().forComponent('libp2p:http2') })
    this.#body = body
    body.on('data', (bytes: Buffer) => { this.onData(bytes) })
    body.on('drain', () => { this.safeDispatchEvent('drain') })
    body.on('end', () => { this.onRemoteCloseWrite() })
    body.on('error', err => { this.abort(err) })
  }

  sendData (data: Uint8ArrayList): SendResult {
    let canSendMore = true

    for (const part of data) {
      canSendMore = this.#body.write(part)
    }

    return { sentBytes: data.byteLength, canSendMore }
  }

  sendReset (): void {
    this.#body.destroy()
  }

  async sendCloseWrite (): Promise<void> {
    this.#body.end()
  }

  async sendCloseRead (): Promise<void> {}

  sendPause (): void {
    this.#body.pause()
  }

  sendResume (): void {
    this.#body.resume()
  }
}

function widenWindow (session: Http2Session): void {
  session.setLocalWindowSize(WINDOW_BYTES)
}

export function createHttp2Endpoint (isEncrypted: boolean): Endpoint {
  let onStream: OnStream
  let client: ClientHttp2Session

  function createHttp2Server (): Http2Server {
    // its types want the certificate that a known key replaces
    return isEncrypted ? createSecureServer({ ...options, ...tlsOptions, pskCallback: () => psk } as object) : createServer(options)
  }

  return {
    // these are made by native code, not by the socket
    countsWrites: false,

    async listen () {
      const server = createHttp2Server()
      server.on('session', widenWindow)
      server.on('stream', stream => {
        stream.respond()
        onStream(new BodyStream(stream, 'inbound'))
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')

      return [`${isEncrypted ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`]
    },

    async dial ([address]) {
      const known = { ...tlsOptions, pskCallback: () => ({ psk, identity }), checkServerIdentity: () => undefined }
      client = connect(address, { ...options, ...isEncrypted && known })
      await once(client, 'remoteSettings')
      widenWindow(client)
    },

    async handle (handler) {
      onStream = handler
    },

    async unhandle () {},

    async openStream () {
      return new BodyStream(client.request({ ':method': 'POST' }, { endStream: false }), 'outbound')
    }
  }
}
