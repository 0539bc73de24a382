// The page: a Helia that fetches over a WebSocket whenever it is told to.
import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import { webSockets } from '@libp2p/websockets'
import { muxers } from '../../muxers.ts'
import { connect } from '../helia/connect.ts'
import { fetchFiles } from '../helia/files.ts'
import { startHelia } from '../installed/helia.js'
import type { MuxerName } from '../../contestants.ts'
import type { Worked } from '../application.ts'
import type { File } from '../helia/files.ts'
import type { Helia } from '../installed/helia.js'

export interface HeliaPage {
  connectTo (muxer: MuxerName, addresses: string[]): Promise<void>
  forgetAll (): Promise<void>
  /** Returns how many milliseconds it took */
  fetchAll (files: File[]): Promise<number>
  /** Throws unless what was fetched is right */
  check (): void
}

let helia: Helia
let fetched: Worked

Object.assign(globalThis, {
  async connectTo (muxer, addresses) {
    helia = await startHelia({
      transports: [webSockets()],
      connectionEncrypters: [noise()],
      streamMuxers: [await muxers[muxer]()],
      // browsers refuse to dial local peers otherwise
      connectionGater: { denyDialMultiaddr: () => false },
      services: { identify: identify() }
    })
    await connect(helia, addresses)
  },

  async forgetAll () {
    await helia.forgetAll()
  },

  async fetchAll (files) {
    const startMs = performance.now()
    fetched = await fetchFiles(helia, files, 1)

    return performance.now() - startMs
  },

  check () {
    fetched.check?.()
  }
} satisfies HeliaPage)
