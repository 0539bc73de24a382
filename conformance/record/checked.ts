// Each failure in the records, checked in the sources of the implementation: what it does, and in which function.

type Findings = Record<string, string>

const GO_UNKNOWN_TYPE = '`recvLoop` returns `ErrInvalidMsgType`, and the session closes without GoAway.'
const GO_CREDIT = '`incrSendWindow` adds in 32 bits, so the window wraps to 0 and the stream stands still.'

const STOCK: Findings = {
  2.9: '`handleData` calls `processFlags` before it hands over the data, so `for await` ends first, and the echo does not see them. A listener gets them after the `end` event.',
  2.13: 'As 2.9.',
  3.15: '`sendWindowUpdate` sends whatever is missing from the window, after each frame.',
  6.4: '`Decoder.readFrame` waits for the whole body before the window is looked at.'
}

/** By the name of the record, then the number of the case */
export const CHECKED: Record<string, Findings> = {
  'go-yamux': { 3.13: GO_CREDIT, 5.5: GO_UNKNOWN_TYPE },
  'hashicorp-yamux': {
    '1.10': '`incomingStream` takes any id.',
    2.11: '`processFlags` leaves the state `streamSYNReceived` for `streamRemoteClose` when FIN comes before `AcceptStream`; `sendFlags` then has no ACK to send.',
    2.21: '`incomingStream` takes any id.',
    3.13: GO_CREDIT,
    5.5: GO_UNKNOWN_TYPE
  },
  'rust-yamux': { 5.5: '`header::decode` fails, and the connection ends without `Frame::protocol_error`.' },
  'py-libp2p': {
    1.8: '`handle_incoming` does not look at the version.',
    1.9: '`handle_incoming` has no branch for other types: the header is skipped.',
    '1.10': '`handle_incoming` takes any id with SYN.',
    2.21: '`handle_incoming` takes any id with SYN.',
    2.27: '`handle_incoming` looks at FIN and RST only in frames without ACK.',
    '2.30': '`YamuxStream.close` sends FIN unless `send_closed` is set, and RST does not set it.',
    3.11: '`handle_incoming` logs that the peer exceeded its window, and goes on.',
    3.15: '`_auto_tune_and_send_window_update` sends credit for each read.',
    5.5: 'As 1.9: an unknown type is no violation.'
  },
  'libp2p-yamux': STOCK,
  'chainsafe-libp2p-yamux': STOCK
}
