// All that is sent until the running code is done leaves libp2p's TCP together, or earlier what fills the socket's buffer.
import { patchTcp } from './tcp.ts'

patchTcp(`if (socket.writableCorked === 0) {
            socket.cork();
            process.nextTick(() => { socket.uncork(); });
        }`, `if (socket.writableLength >= socket.writableHighWaterMark) {
            socket.uncork();
        }`)
