// Makes the crypto of docs/recipes what noise() takes by default, so that nothing else of a benchmark's node changes.
import { defaultCrypto } from '@chainsafe/libp2p-noise/crypto'
import { noiseCrypto } from '../../../docs/recipes/noise-crypto.ts'

Object.assign(defaultCrypto, noiseCrypto)
