// Helia as installed here, with bitswap over the libp2p node that it is handed, and no HTTP gateways.
import { withBitswap } from '@helia/bitswap'
import { withLibp2pLight } from '@helia/libp2p'
import { unixfs } from '@helia/unixfs'
import { createHeliaLight } from 'helia'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { CID } from 'multiformats/cid'

export async function startHelia (libp2pOptions) {
  const helia = withBitswap(withLibp2pLight(createHeliaLight(), libp2pOptions))
  await helia.start()
  const files = unixfs(helia)

  return {
    libp2p: helia.libp2p,

    async add (bytes, blockBytes) {
      return (await files.addBytes(bytes, { chunker: fixedSize({ chunkSize: blockBytes }) })).toString()
    },

    cat (cid) {
      return files.cat(CID.parse(cid))
    },

    // nothing is pinned here
    async forgetAll () {
      await helia.gc()
    }
  }
}
