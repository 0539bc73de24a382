// Peers in Go and Rust as contestants: the commands of a child process in the peers' lines.
import { PEERS } from '../../peers/list.ts'
import { PeerProcess } from '../../peers/process.ts'
import { nativeNames } from '../contestants.ts'
import { EXIT_TIMEOUT_MS } from '../../testing/programs/child.ts'
import type { PeerKind } from '../../peers/list.ts'
import type { End } from './end-process.ts'

export const nativePeers = PEERS.filter(peer => nativeNames.some(name => name === peer.name))

export function startNativePeer ({ command }: PeerKind, title: string): End {
  const program = new PeerProcess({ name: `The ${title}`, command })

  // it shows no signs of life, so a command may take any time until its program exits
  const call = async (...words: Array<string | number>): Promise<string> => program.call(...words)

  return {
    commands: {
      start: async (_, isListening) => isListening ? [await call('listen')] : [],
      async dial ([address]) { await call('dial', address) },

      async receive ({ scenario, streams, messageBytes, unitBytesPerStream }) {
        if (scenario === 'messages') {
          await call('verify-messages', streams, unitBytesPerStream)
        } else {
          await call('answer-requests', messageBytes)
        }
      },

      async open ({ scenario, streams, messageBytes, unitBytesPerStream }) {
        await call(`open-${scenario}`, ...scenario === 'messages' ? [streams] : [], messageBytes, unitBytesPerStream)
      },

      send: async atLeastMs => JSON.parse(await call('work', atLeastMs)),
      async count () { await call('count') },
      spent: async () => JSON.parse(await call('spent')),
      async close () { await call('finish') }
    },

    async stop () {
      const killing = setTimeout(() => { program.kill().catch(() => {}) }, EXIT_TIMEOUT_MS)
      await program.end()
      clearTimeout(killing)
    }
  }
}
