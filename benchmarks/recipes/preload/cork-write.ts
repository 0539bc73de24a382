// The pieces of one send() leave libp2p's TCP together.
import { patchTcp } from './tcp.ts'

patchTcp('socket.cork();', 'socket.uncork();')
