// The rows of the table: what is done with each muxer, and what a user of it waits for.
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { StartEnd } from './application.ts'

export interface Application {
  id: string
  label: string
  /** What its user notices: how long all of it takes, or the slowest hundredth of what is timed by itself */
  noticed: 'durationS' | 'p99Ms'
  /** @default 'tcp-noise' */
  transport?: TransportName
  /** Loaded only by the processes that run it; none where others than these processes do it */
  load? (): Promise<StartEnd[]>
  /** Where gossip and bulk share a connection, so that a lane can make a difference */
  hasGossipBesideBulk?: boolean
}

export const applications = {
  bigFile: {
    id: 'helia-file',
    label: 'Helia,\na big file',
    noticed: 'durationS',
    load: async () => (await import('./helia/fetching.ts')).bigFile
  },
  smallFiles: {
    id: 'helia-small',
    label: 'Helia,\nsmall files',
    noticed: 'durationS',
    load: async () => (await import('./helia/fetching.ts')).smallFiles
  },
  besideGossip: {
    id: 'helia-gossip',
    label: 'Helia, gossip\nbeside a file',
    noticed: 'p99Ms',
    hasGossipBesideBulk: true,
    load: async () => (await import('./helia/beside-gossip.ts')).besideGossip
  },
  page: {
    id: 'helia-page',
    label: 'Helia, a file\nto a page',
    noticed: 'durationS',
    transport: 'ws-noise',
    load: async () => (await import('./helia/fetching.ts')).bigFile
  },
  gossip: { id: 'gossipsub', label: 'gossipsub', noticed: 'p99Ms' },
  statuses: {
    id: 'reqresp',
    label: 'ReqResp,\nstatuses',
    noticed: 'durationS',
    load: async () => (await import('./req-resp.ts')).statuses
  },
  blocks: {
    id: 'reqresp-blocks',
    label: 'ReqResp,\nblocks',
    noticed: 'durationS',
    load: async () => (await import('./req-resp.ts')).blocks
  },
  kadDht: {
    id: 'kad-dht',
    label: 'kad-dht',
    noticed: 'durationS',
    load: async () => (await import('./kad-dht.ts')).kadDht
  }
} satisfies Record<string, Application>

export const allApplications: Application[] = Object.values(applications)

export function isMeasuredWith ({ id, hasGossipBesideBulk = false }: Application, muxer: ContestantMuxer): boolean {
  // pages have no QUIC, and where nothing is beside gossip there is nothing to overtake
  return muxer === 'quic' ? id !== applications.page.id : muxer !== 'ours-gossip' || hasGossipBesideBulk
}
