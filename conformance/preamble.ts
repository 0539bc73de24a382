// What a stream of libp2p begins with: the offer of one protocol. The target agrees by sending the same bytes back, so it is an echo too.

function line (text: string): Uint8Array {
  const bytes = new TextEncoder().encode(`${text}\n`)

  // the length of a line is a varint; below 128 it is one byte
  return Uint8Array.of(bytes.byteLength, ...bytes)
}

export function preamble (protocol: string): Uint8Array {
  return Buffer.concat(['/multistream/1.0.0', protocol].map(line))
}
