// Whom this muxer is tried against: how each peer is started, over what it speaks, and what its API can do.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Toolchain = 'javascript' | 'go' | 'rust' | 'python'

export interface PeerKind {
  name: string
  toolchain: Toolchain
  /** What this side speaks to it over: plain TCP with a bare muxer, or a libp2p node with Noise */
  over: 'plain' | 'tcp' | 'ws'
  command: string[]
  /** Its resets carry error codes, and it reads ours */
  hasErrorCodes: boolean
  /** Pings when it is asked to; others ping by themselves when a connection begins */
  pingsOnRequest: boolean
  /** Sends a FIN on every open stream before it closes a connection; for others such streams are cut off */
  closesStreams?: boolean
  /** Closes a connection by resetting its socket */
  resetsSocket?: boolean
  /** Gives credit for all that a scenario sends before it has read it: so the other side never waits for it to read */
  grantsUnread?: boolean
  /** Streams of its own that it can have open at once, where that is less than the scenarios want */
  maxOwnStreams?: number
}

/** What the toolchains make, kept between runs */
export const BUILD_FOLDER = fileURLToPath(new URL('.build', import.meta.url))

const JS_PEER = fileURLToPath(new URL('javascript/peer.ts', import.meta.url))
const PY_PEER = fileURLToPath(new URL('python/peer.py', import.meta.url))

function javaScript (name: string, muxer: string, over: 'tcp' | 'ws'): PeerKind {
  return {
    name: `${name} over ${over === 'tcp' ? 'TCP' : 'WebSockets'}`,
    toolchain: 'javascript',
    over,
    command: [process.execPath, JS_PEER, muxer, over],
    hasErrorCodes: false,
    pingsOnRequest: true,
    closesStreams: true,
    grantsUnread: true
  }
}

function go (name: string, over: 'plain' | 'tcp', hasErrorCodes: boolean): PeerKind {
  return { name, toolchain: 'go', over, command: [join(BUILD_FOLDER, 'go', name)], hasErrorCodes, pingsOnRequest: true }
}

function rust (name: string, over: 'plain' | 'tcp'): PeerKind {
  return { name, toolchain: 'rust', over, command: [join(BUILD_FOLDER, 'rust', 'release', name)], hasErrorCodes: false, pingsOnRequest: false }
}

const rustYamux = rust('rust-yamux', 'plain')

export const PEERS: PeerKind[] = [
  javaScript('@libp2p/yamux', 'libp2p', 'tcp'),
  javaScript('@libp2p/yamux', 'libp2p', 'ws'),
  javaScript('@chainsafe/libp2p-yamux', 'chainsafe', 'tcp'),
  javaScript('@chainsafe/libp2p-yamux', 'chainsafe', 'ws'),
  { ...go('go-libp2p', 'tcp', true), resetsSocket: true },
  go('go-yamux', 'plain', true),
  go('hashicorp-yamux', 'plain', false),
  rust('rust-libp2p', 'tcp'),
  rustYamux,
  { ...rustYamux, name: 'rust-yamux-buffered', command: [...rustYamux.command, 'buffered'] },
  {
    name: 'py-libp2p',
    toolchain: 'python',
    over: 'tcp',
    command: [join(BUILD_FOLDER, 'python', 'bin', 'python'), PY_PEER],
    hasErrorCodes: false,
    pingsOnRequest: false,
    // it agrees on a protocol in reads of a few bytes, and each that comes within four round trips of the last doubles its window
    grantsUnread: true,
    // its limit for streams that are not acknowledged counts every stream that it has not closed
    maxOwnStreams: 256
  }
]
