// A crypto for noise({ crypto }) in Node: a key object for each key instead of each record, and one buffer for a record of small pieces.
import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto'
import { asCrypto, defaultCrypto } from '@chainsafe/libp2p-noise/crypto'
import type { ICryptoInterface } from '@chainsafe/libp2p-noise'
import type { KeyObject } from 'node:crypto'

const CIPHER = 'chacha20-poly1305'
const TAG_BYTES = 16
const TAG = { authTagLength: TAG_BYTES }
/** Below this WebAssembly is faster than a cipher object of Node. Without key objects it is so up to 1,200 bytes, which is Noise's own limit */
const WASM_BELOW_BYTES = 512
/** Copying a smaller piece costs less than a call of the cipher and a piece of a socket's write */
const COPY_BELOW_BYTES = 8192

const keyObjects = new WeakMap<Uint8Array, KeyObject>()

/** Noise passes the same array for all records of one direction. Node finds out by an exception that an array is no key object, for each cipher */
function keyObjectOf (key: Uint8Array): KeyObject {
  const known = keyObjects.get(key)

  if (known !== undefined) {
    return known
  }

  const keyObject = createSecretKey(key)
  keyObjects.set(key, keyObject)

  return keyObject
}

export const noiseCrypto: ICryptoInterface = {
  ...defaultCrypto,

  chaCha20Poly1305Encrypt (plaintext, nonce, ad, key) {
    const plaintextLength = plaintext.byteLength

    if (plaintextLength < WASM_BELOW_BYTES) {
      return asCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, key)
    }

    const cipher = createCipheriv(CIPHER, keyObjectOf(key), nonce, TAG).setAAD(ad, { plaintextLength })

    if (plaintext instanceof Uint8Array || plaintextLength < [...plaintext].length * COPY_BELOW_BYTES) {
      const record = Buffer.allocUnsafe(plaintextLength + TAG_BYTES)
      let offset = 0

      for (const piece of plaintext instanceof Uint8Array ? [plaintext] : plaintext) {
        record.set(piece, offset)
        offset += piece.byteLength
      }

      record.set(cipher.update(record.subarray(0, plaintextLength)))
      cipher.final()
      record.set(cipher.getAuthTag(), plaintextLength)

      return record
    }

    const record = plaintext.sublist(0, 0)

    for (const piece of plaintext) {
      record.append(cipher.update(piece))
    }

    cipher.final()
    record.append(cipher.getAuthTag())

    return record
  },

  chaCha20Poly1305Decrypt (ciphertext, nonce, ad, key, output) {
    const plaintextLength = ciphertext.byteLength - TAG_BYTES

    if (plaintextLength < WASM_BELOW_BYTES) {
      return asCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, key, output)
    }

    const decipher = createDecipheriv(CIPHER, keyObjectOf(key), nonce, TAG).setAAD(ad, { plaintextLength }).setAuthTag(ciphertext.subarray(plaintextLength))

    if (ciphertext instanceof Uint8Array) {
      const plaintext = decipher.update(ciphertext.subarray(0, plaintextLength))
      decipher.final()

      return plaintext
    }

    const plaintext = ciphertext.sublist(0, 0)

    for (const piece of ciphertext.sublist(0, plaintextLength)) {
      plaintext.append(decipher.update(piece))
    }

    decipher.final() // throws if a byte of the record has been changed

    return plaintext
  }
}
