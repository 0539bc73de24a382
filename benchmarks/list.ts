// All benchmarks. Whoever adds one adds a line here: its name, what runs, Node's options for it, and what it measures.
export interface Benchmark {
  name: string
  /** In this folder */
  module: string
  nodeOptions?: string[]
  about: string
}

/** V8's compilers stand still */
const INTERPRETED = ['--no-opt', '--no-sparkplug', '--no-maglev']

export const benchmarks: Benchmark[] = [
  { name: 'matrix', module: 'matrix/matrix.ts', about: 'scenario × muxer × transport, beside no muxer, QUIC, HTTP/2, go-yamux and rust-yamux; --short is what CI runs' },
  { name: 'uplink', module: 'uplink/uplink.ts', about: 'urgent messages during bulk transfers, on a slow link between network namespaces; needs root' },
  { name: 'downlink', module: 'uplink/downlink.ts', about: 'urgent messages of a peer during its bulk, by what the receiver runs; needs root' },
  { name: 'recorded', module: 'uplink/recorded.ts', about: 'urgent messages beside bulk on a mobile link that somebody has recorded; needs root' },
  { name: 'lodestar-uplink', module: 'lodestar/uplink.ts', about: 'gossip of a validator\'s node at home, beside blocks; needs root' },
  { name: 'lodestar', module: 'lodestar/lodestar.ts', about: 'CPU, memory and scores of a node as Lodestar runs it, with 100 peers that come and go; also beside quic' },
  { name: 'apps', module: 'apps/apps.ts', about: 'Helia, gossipsub, ReqResp and kad-dht: what a user of each gets' },
  { name: 'idle', module: 'idle.ts', about: 'lone requests on a quiet connection, by strategy' },
  { name: 'first-requests', module: 'first-requests.ts', about: 'the first lone requests of new processes, while V8 compiles' },
  { name: 'imports', module: 'imports.ts', about: 'how long an import of each muxer takes; ours is what `npm run build` has made' },
  { name: 'busy', module: 'busy/busy.ts', about: 'turns of the event loop that a reader and a server need, which work in each of them' },
  { name: 'bulk', module: 'bulk.ts', about: 'large messages in processes that are new; with --node, options of Node for them' },
  { name: 'recipes', module: 'recipes/recipes.ts', about: 'what docs/recipes.md is worth below each muxer: crypto for Noise, tcp_notsent_lowat, cork()' },
  { name: 'browser', module: 'browser/browser.ts', about: 'messages of a page in Chromium' },
  { name: 'attacks', module: 'attacks.ts', nodeOptions: ['--expose-gc'], about: 'what a million frames of each attack cost' },
  { name: 'calls', module: 'micro/calls.ts', about: 'function calls of a lone request, counted' },
  { name: 'cold', module: 'micro/cold.ts', nodeOptions: INTERPRETED, about: 'a lone request while V8\'s compilers stand still' },
  { name: 'size', module: 'size.ts', about: 'what each muxer adds to a bundle, minified and compressed' },
  { name: 'idle-memory', module: 'micro/idle-memory.ts', nodeOptions: ['--expose-gc'], about: 'what the muxer of an idle connection holds in memory' },
  { name: 'gossip', module: 'gossip/gossip.ts', about: 'CPU of gossip among 100 hosts' },
  { name: 'links', module: 'studies/links.ts', about: 'finished study: how much of a link is used, in virtual time' },
  { name: 'go-yamux', module: 'studies/go-yamux/go-yamux.ts', about: 'finished study: the go-yamux study of write coalescing, by strategy' }
]

/** `npm start`, which is none of them */
export const start: Benchmark = { name: 'start', module: 'start.ts', about: 'the same work through each muxer in turn, over TCP and Noise' }
