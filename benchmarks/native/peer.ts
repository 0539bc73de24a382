// A native program as one end of a pair: the commands of a child process in the program's lines.
import { setTimeout as sleep } from 'node:timers/promises'
import { PeerProcess } from '../../peers/process.ts'
import { COMMAND_TIMEOUT_MS, EXIT_TIMEOUT_MS } from '../child.ts'
import type { Peer } from '../pair.ts'
import type { NativeProgram } from './programs.ts'

export function startNativePeer ({ command }: NativeProgram, title: string): Peer {
  const program = new PeerProcess({ name: `The ${title}`, command })

  async function call (...words: Array<string | number>): Promise<string> {
    const giveUp = new AbortController()
    const late = sleep(COMMAND_TIMEOUT_MS, undefined, { signal: giveUp.signal }).then(() => {
      throw new Error(`The ${title} did not finish "${words[0]}" in ${COMMAND_TIMEOUT_MS / 1000} seconds`)
    })

    try {
      return await Promise.race([program.call(...words), late])
    } finally {
      late.catch(() => {})
      giveUp.abort()
    }
  }

  return {
    commands: {
      async start (_, isListening) {
        return isListening ? [JSON.parse(await call('listen'))] : []
      },

      async dial ([address]) {
        await call('dial', address)
      },

      async receive (row) {
        if (row.scenario === 'messages') {
          await call('receive', 'messages', row.streams, row.messageBytes, row.unitBytesPerStream)
        } else {
          await call('receive', 'requests', row.messageBytes)
        }
      },

      async open (row) {
        const streams = row.scenario === 'messages' ? [row.streams] : []
        await call('open', row.scenario, ...streams, row.messageBytes, row.unitBytesPerStream)
      },

      send: async atLeastMs => JSON.parse(await call('send', atLeastMs)),
      async count () { await call('count') },
      spent: async () => JSON.parse(await call('spent')),
      async close () { await call('close') }
    },

    async stop () {
      const killing = setTimeout(() => { program.kill().catch(() => {}) }, EXIT_TIMEOUT_MS)
      await program.end()
      clearTimeout(killing)
    }
  }
}
