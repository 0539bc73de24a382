// Helia over bitswap: one end has files, the other fetches them.
import { identify } from '@libp2p/identify'
import { connect } from './connect.ts'
import { addFile, fetchFiles } from './files.ts'
import { addressesOf, createHelia } from './node.ts'
import type { EndInit, StartEnd } from '../application.ts'
import type { File } from './files.ts'

interface Load {
  files: number
  byteLength: number
  atOnce: number
}

/** Apart from those of other rounds, which would have files of the same bytes */
const SEEDS_OF_ROUND = 10_000

function createEnds (loadOf: (isShort: boolean) => Load): StartEnd[] {
  return [
    async init => {
      const helia = await createHelia(init, { identify: identify() })
      const { files, byteLength } = loadOf(init.isShort)

      return {
        addresses: addressesOf(helia),

        async prepare (round) {
          await helia.forgetAll()
          const added: File[] = []

          for (let index = 0; index < files; index++) {
            added.push(await addFile(helia, round * SEEDS_OF_ROUND + index, byteLength))
          }

          return added
        }
      }
    },
    async init => {
      const helia = await createHelia(init, { identify: identify() })

      return {
        addresses: addressesOf(helia),
        async connect ([server]) { await connect(helia, server) },
        async prepare () { await helia.forgetAll() },
        work: async ([files]) => fetchFiles(helia, files as File[], loadOf(init.isShort).atOnce)
      }
    }
  ]
}

export function bigFileBytes ({ isShort }: Pick<EndInit, 'isShort'>): number {
  return isShort ? 10_000_000 : 100_000_000
}

export const bigFile = createEnds(isShort => ({ files: 1, byteLength: bigFileBytes({ isShort }), atOnce: 1 }))

/** Below the 1,024 wants that bitswap remembers of a peer */
export const smallFiles = createEnds(isShort => ({ files: isShort ? 200 : 2000, byteLength: 4096, atOnce: 64 }))
