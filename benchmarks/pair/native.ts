// Peers in Go and Rust as contestants: the commands of a child process in the peers' lines.
import { raceSignal } from 'race-signal'
import { PEERS } from '../../peers/list.ts'
import { PeerProcess } from '../../peers/process.ts'
import { nativeNames } from '../contestants.ts'
import { COMMAND_TIMEOUT_MS, EXIT_TIMEOUT_MS } from '../../testing/programs/child.ts'
import type { PeerKind } from '../../peers/list.ts'
import type { End } from './end-process.ts'

export const nativePeers = PEERS.filter(peer => nativeNames.some(name => name === peer.name))

export function startNativePeer ({ command }: PeerKind, title: string): End {
  const program = new PeerProcess({ name: `The ${title}`, command })

  async function call (...words: Array<string | number>): Promise<string> {
    return raceSignal(program.call(...words), AbortSignal.timeout(COMMAND_TIMEOUT_MS), {
      translateError: () => new Error(`The ${title} did not finish "${words[0]}" in ${COMMAND_TIMEOUT_MS / 1000} seconds`)
    })
  }

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
