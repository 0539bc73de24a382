// What a run has to have led to; everything else is a problem.
import { departures } from './plan.ts'
import type { Outcome } from './network.ts'
import type { Population } from './plan.ts'
import type { PeerReport } from './peers.ts'

/** "Internal error" is what a session says that the application aborts */
const ABORTED = /GoAway code 2/
/** The transport logs it too, once it is aborted for that */
const SESSION_ABORTED = /:yamux: .*GoAway code 2/

/** What components log as errors with every muxer, and why that is in order */
const EXPECTED_ERRORS: Array<[reason: string, pattern: RegExp]> = [
  ['identify reads until the stream ends', /closed (after|while) reading 0\/1 bytes/],
  ['peers vanish, and the kernel says so', /ECONNRESET|EPIPE|This peer vanishes/],
  ['a muxer that is aborted says so, if it can', ABORTED],
  ['a peer that vanishes resets its streams first', /gossipsub: .*RemoteResetError/],
  ['and so does one with mplex', /gossipsub: .*StreamResetError: The stream has been reset\n\s+at MplexStream\.onRemoteReset/],
  ['gossipsub writes until it hears that a peer is gone', /gossipsub: .*Cannot write to a stream that is (closed|closing|reset|aborted)/],
  ['stock yamux stops its pings when it is closed', /yamux: ping error: .*AbortError/]
]

const GOSSIP_STREAM = /^(inbound|outbound) \/meshsub\//

export function unexpectedErrors (errors: string[]): string[] {
  return errors.filter(error => !EXPECTED_ERRORS.some(([, pattern]) => pattern.test(error)))
}

function metricOf (metrics: Map<string, number>, name: string): number {
  return metrics.get(`libp2p_coalescing_yamux_${name}`) ?? NaN
}

function sumOf (metrics: Map<string, number>, start: string): number {
  return metrics.entries().filter(([name]) => name.startsWith(`libp2p_coalescing_yamux_${start}`)).reduce((sum, [, value]) => sum + value, 0)
}

/** Pairs of what is claimed and whether it holds */
export function checkOutcome ({ quiet, alone, peers, departed, peerFailures, peerLogErrors }: Outcome, { muxers }: Population, durationS: number): Array<[claim: string, isTrue: boolean]> {
  const everyPeer = [...peers, ...departed]
  const countOfMuxer = (multiplexer: string): number => quiet.multiplexers.get(multiplexer) ?? 0
  const expectedMplex = peers.filter(({ number }) => muxers[number % muxers.length] === 'mplex').length
  const sum = (count: (peer: PeerReport) => number): number => everyPeer.reduce((sum, peer) => sum + count(peer), 0)
  const isHeard = ({ number, counts }: PeerReport): boolean => counts.attestationsSent === (quiet.counts.attestationsFrom.get(number) ?? 0)

  return [
    ['nothing failed at the beacon node', alone.failures.length === 0],
    ['nothing failed at a peer', peerFailures.length === 0],
    ['the beacon node logged no error that is not expected', unexpectedErrors(alone.logErrors).length === 0],
    ['no peer logged an error that is not expected', unexpectedErrors(peerLogErrors).length === 0],
    ['no session was aborted but those of peers that vanish', alone.logErrors.filter(error => SESSION_ABORTED.test(error)).length <= Math.ceil(departed.length / departures.length)],
    ['peers came and went', departed.length > 0],
    ['each peer negotiated the muxer it has', countOfMuxer('/yamux/1.0.0') === peers.length - expectedMplex && countOfMuxer('/mplex/6.7.0') === expectedMplex],
    ['the beacon node got every attestation of every peer', everyPeer.every(isHeard)],
    ['attestations of the beacon node came to its mesh', sum(({ counts }) => counts.attestationsFrom.size) > quiet.counts.attestationsSent],
    ['blocks of the beacon node came to its mesh', sum(({ counts }) => counts.blocksReceived) >= 6 * quiet.counts.blocksGossiped],
    ['the beacon node was given the blocks that it asked for', quiet.counts.requests > durationS],
    ['peers were given the blocks that they asked for', sum(({ counts }) => counts.requests) > durationS],
    ['only gossip has streams when nothing is in flight, one each way to a peer',
      quiet.openStreams.every(stream => GOSSIP_STREAM.test(stream)) && quiet.openStreams.length === 2 * peers.length],
    ['the same at the peers', peers.every(({ openStreams }) => openStreams.length === 2 && openStreams.every(stream => GOSSIP_STREAM.test(stream)))],
    ['a peer that has left has no stream open', departed.every(({ openStreams, connections }) => openStreams.length === 0 && connections === 0)],
    ['the beacon node has no stream and no connection when all have left', alone.openStreams.length === 0 && alone.multiplexers.size === 0],
    ['metrics were scraped all the time', quiet.scrapes >= durationS * 0.9],
    ['metrics count the streams that are open', sumOf(quiet.metrics, 'streams{') === 2 * (peers.length - expectedMplex)],
    ['metrics count flushes and what is in them', sumOf(quiet.metrics, 'flushes_total{') === metricOf(quiet.metrics, 'flush_bytes_count') && metricOf(quiet.metrics, 'flush_bytes_sum') > quiet.counts.blocksGossiped * 6],
    ['metrics count no violation and nothing that is queued', sumOf(alone.metrics, 'violations_total') === 0 && metricOf(alone.metrics, 'queue_bytes') === 0],
    ['metrics count no stream in the end', sumOf(alone.metrics, 'streams{') === 0]
  ]
}
