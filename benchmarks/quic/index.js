// QUIC as installed here, and not with the rest: it has native code, which is not published for every platform.
export { quic } from '@chainsafe/libp2p-quic'
