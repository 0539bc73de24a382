/**
 * The name of a stream's protocol, as multistream-select negotiates it in the first bytes of the stream.
 *
 * @see https://github.com/multiformats/multistream-select
 */
const NEGOTIATION = '/multistream/'
const text = new TextDecoder('utf-8', { fatal: true })

/** Undefined if the bytes name none, or too few of them were captured. A line is its length (one byte), its text and a newline. */
export function findProtocol (payload: Uint8Array): string | undefined {
  for (let offset = 0; offset < payload.byteLength;) {
    const end = offset + 1 + payload[offset]

    if (end > payload.byteLength || payload[end - 1] !== 0x0a) {
      return undefined
    }

    const line = decode(payload.subarray(offset + 1, end - 1))

    if (line?.startsWith('/') !== true) {
      return undefined
    }

    if (!line.startsWith(NEGOTIATION)) {
      return line
    }

    offset = end
  }

  return undefined
}

function decode (bytes: Uint8Array): string | undefined {
  try {
    return text.decode(bytes)
  } catch {
    return undefined
  }
}
