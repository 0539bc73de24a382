// The pieces of one send() are one message of libp2p's WebSockets.
import { patchModule } from './patch.ts'

const SEND_PIECES = `        for (const buf of data) {
            this.websocket.send(withArrayBuffer(buf));
        }`

patchModule('@libp2p/websockets/dist/src/websocket-to-conn.js', SEND_PIECES, `
        this.websocket.send(withArrayBuffer(data.subarray()));`)
