// A muxer that libp2p made, with a view of the frames that pass below it.
import { Decoder } from '../../src/core/wire/decoder.ts'
import { FLAG_ACK, FLAG_SYN, TYPE_GO_AWAY, TYPE_PING } from '../../src/core/wire/frame.ts'
import { StrictWire } from '../protocol/strict-peer.ts'
import type { MessageStream, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

/** What the muxers in question have beyond the interface */
export interface PingingMuxer extends StreamMuxer {
  ping(): Promise<number>
}

export interface WatchedMuxer {
  muxer: PingingMuxer
  /** Of yamux itself, not of libp2p's protocol */
  pings: { received: number, answered: number }
  /** The codes of the GoAway frames received */
  goAways: number[]
  /** What the muxer has sent that a peer somewhere refuses, the first of it */
  complaints: Error[]
  /** Resolves when the connection below the muxer is gone, with the error if there was one */
  ended: Promise<Error | undefined>
}

type OnHeader = (type: number, flags: number, length: number) => void

function watch (onHeader: OnHeader): (bytes: Iterable<Uint8Array> | Uint8Array) => void {
  const decoder = new Decoder({
    onHeader (type, flags, _streamId, length) {
      onHeader(type, flags, length)

      return false
    },
    onBody () {},
    onBodyEnd () {}
  })

  return bytes => {
    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      decoder.push(part)
    }
  }
}

/** Hands on what passes until the muxer has sent something that a peer refuses */
function judge (maConn: MessageStream, complaints: Error[]): (pass: (wire: StrictWire, part: Uint8Array) => void, bytes: Iterable<Uint8Array> | Uint8Array) => void {
  const wire = new StrictWire(maConn.direction === 'outbound')

  return (pass, bytes) => {
    try {
      for (const part of complaints.length > 0 ? [] : bytes instanceof Uint8Array ? [bytes] : bytes) {
        pass(wire, part)
      }
    } catch (err: any) {
      complaints.push(err)
    }
  }
}

export function watchMuxer (factory: StreamMuxerFactory, maConn: MessageStream): WatchedMuxer {
  const pings = { received: 0, answered: 0 }
  const goAways: number[] = []
  const complaints: Error[] = []
  const onPassed = judge(maConn, complaints)

  const onReceived = watch((type, flags, length) => {
    if (type === TYPE_PING && (flags & FLAG_SYN) !== 0) {
      pings.received++
    } else if (type === TYPE_GO_AWAY) {
      goAways.push(length)
    }
  })
  const onSent = watch((type, flags) => {
    if (type === TYPE_PING && (flags & FLAG_ACK) !== 0) {
      pings.answered++
    }
  })

  const ended = new Promise<Error | undefined>(resolve => {
    maConn.addEventListener('close', evt => { resolve(evt.error) }, { once: true })
  })
  const send = maConn.send.bind(maConn)
  maConn.addEventListener('message', evt => {
    onReceived(evt.data)
    onPassed((wire, part) => { wire.received(part) }, evt.data)
  })
  maConn.send = bytes => {
    // before the transport takes it apart
    onSent(bytes)
    onPassed((wire, part) => { wire.wrote(part) }, bytes)

    return send(bytes)
  }

  return { muxer: factory.createStreamMuxer(maConn) as PingingMuxer, pings, goAways, complaints, ended }
}
