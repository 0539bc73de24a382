// What libp2p's TCP does with the pieces of one send(), and what patches put in its place.
import { patchModule } from './patch.ts'

const SEND_DATA = `        let sentBytes = 0;
        let canSendMore = true;
        for (const buf of data) {
            sentBytes += buf.byteLength;
            canSendMore = this.socket.write(buf);
            if (!canSendMore) {
                break;
            }
        }
        return {
            sentBytes,
            canSendMore
        };`

/** `cork` and `uncork` stand around the writes. Every piece is written, as a corked socket is full until it has been uncorked */
export function patchTcp (cork: string, uncork: string): void {
  patchModule('@libp2p/tcp/dist/src/socket-to-conn.js', SEND_DATA, `
        const { socket } = this;
        ${cork}
        for (const buf of data) {
            socket.write(buf);
        }
        ${uncork}
        return {
            sentBytes: data.byteLength,
            canSendMore: socket.writableLength < socket.writableHighWaterMark
        };`)
}
