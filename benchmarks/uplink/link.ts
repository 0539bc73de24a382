// What the two ends are connected by: a link of a fixed rate between network namespaces, or a relay that imitates one.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../../testing/programs/child.ts'
import { atPort, portOf } from '../../testing/relay/address.ts'
import { CONGESTION, MBIT_BYTES_PER_MS, rateOf, SEGMENT_BYTES } from './workload.ts'
import type { Child } from '../../testing/programs/child.ts'
import type { RecordedLink, RelayedLink } from '../../testing/relay/link.ts'
import type { RelayCommands } from '../../testing/relay/relay.ts'
import type { Rate } from './workload.ts'

/** What passes at once. 65 ms at 2 Mbit/s, so no more. */
export const BURST = '16kb'
const LATENCY_S = 1
/** What waits longer than this is dropped, as by a router with so much memory */
export const LATENCY = `${LATENCY_S}s`

export interface Link {
  label: string
  /** By the end, 0 or 1 */
  addresses: string[]
  /** What comes ahead of a command line to run it at an end */
  commands: string[][]
  /** What to dial to come to these addresses at the other end */
  reach(addresses: string[]): Promise<string[]>
  halve(): void
  remove(): void | Promise<void>
}

export interface ShapedLink extends Link {
  /** Of what an end has sent, what waits for the link */
  queuedBytes(end: number): number
  remove(): void
}

/** Reserved for documentation, so nobody's own */
const NETWORK = '192.0.2.0/24'
const LOOPBACK = '127.0.0.1'
const addresses = ['192.0.2.1', '192.0.2.2']
/** The name of an end's own device */
const DEVICE = 'uplink'

let links = 0

const relayProcess = new URL('../../testing/relay/relay.ts', import.meta.url)

function run (command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  } catch (err: any) {
    throw new Error(`${command} ${args.join(' ')}: ${String(err.stderr ?? err.message).trim()}`, { cause: err })
  }
}

/**
 * A veth pair with a token bucket at both ends, in namespaces of its own, so that kernels remember nothing of links before. A kernel
 * lets a connection have little in a queue of its own machine; with a modem the queue is in a bridge between the ends, where the sender's
 * kernel knows nothing of it.
 */
export function layLink ({ mbit, backMbit, label }: Rate, hasModem = false): ShapedLink {
  const id = `uplink-${process.pid}-${links++}`
  const ends = [`${id}-a`, `${id}-b`]
  const modem = `${id}-modem`
  const laid: string[] = []
  /** By the end whose output waits there */
  const queues = hasModem ? [[modem, 'port1'], [modem, 'port0']] : [[ends[0], DEVICE], [ends[1], DEVICE]]

  function addNamespace (name: string): void {
    run('ip', 'netns', 'add', name)
    laid.push(name)
  }

  function connect (end: string, to: string, device: string): void {
    run('ip', '-n', end, 'link', 'add', DEVICE, 'type', 'veth', 'peer', 'name', device, 'netns', to)
  }

  function connectByModem (): void {
    addNamespace(modem)
    run('ip', '-n', modem, 'link', 'add', 'bridge', 'up', 'type', 'bridge')

    ends.forEach((end, index) => {
      connect(end, modem, `port${index}`)
      run('ip', '-n', modem, 'link', 'set', `port${index}`, 'master', 'bridge', 'up')
    })
  }

  function shape (action: string, part: number): void {
    queues.forEach(([namespace, device], end) => {
      run('tc', '-n', namespace, 'qdisc', action, 'dev', device, 'root', 'tbf', 'rate', `${part * [mbit, backMbit][end] * 1000}kbit`, 'burst', BURST, 'latency', LATENCY)
    })
  }

  const link: ShapedLink = {
    label,
    addresses,
    commands: ends.map(end => ['ip', 'netns', 'exec', end]),
    reach: async addresses => addresses,
    halve () { shape('change', 1 / 2) },

    queuedBytes (end) {
      const [namespace, device] = queues[end]
      const [{ backlog }] = JSON.parse(run('tc', '-json', '-statistics', '-n', namespace, 'qdisc', 'show', 'dev', device))

      return backlog
    },

    remove () {
      for (const end of laid.splice(0)) {
        run('ip', 'netns', 'delete', end)
      }
    }
  }

  try {
    ends.forEach(addNamespace)

    if (hasModem) {
      connectByModem()
    } else {
      connect(ends[0], ends[1], DEVICE)
    }

    ends.forEach((end, index) => {
      run('ip', '-n', end, 'address', 'add', `${addresses[index]}/24`, 'dev', DEVICE)
      run('ip', '-n', end, 'link', 'set', DEVICE, 'up')
      // a namespace may not choose for all of its connections
      run('ip', '-n', end, 'route', 'replace', NETWORK, 'dev', DEVICE, 'congctl', CONGESTION)
    })

    shape('add', 1)
  } catch (err) {
    link.remove()
    throw err
  }

  return link
}

/** No link at all: both ends are of this machine, and nothing but they and the kernel is in the way */
export function layNoLink (): Link {
  return {
    label: rateOf(Infinity).label,
    addresses: [LOOPBACK, LOOPBACK],
    commands: [[], []],
    reach: async addresses => addresses,
    halve () {},
    remove () {}
  }
}

/**
 * A process that imitates a link, for which nobody has to be root. It is dialled at a Unix socket: the kernel's buffers of TCP
 * on the loopback interface would hold several times what a router does.
 */
export function layRelay (label: string, link: RelayedLink): Link {
  const relay = startChild<RelayCommands>(relayProcess, 'relay')
  const folder = mkdtempSync(join(tmpdir(), 'uplink-'))
  const path = join(folder, 'relay')

  return {
    ...layNoLink(),
    label,

    async reach ([address]) {
      await relay.commands.relayFrom(path, portOf(address), link)

      return [`/unix/${encodeURIComponent(path)}`]
    },

    async remove () {
      await relay.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Of that rate: between network namespaces, or with a delay one that a process imitates, whose buffer is as long */
export function layRate (rate: Rate, delayMs?: number): Link {
  const { mbit, backMbit, label } = rate

  if (delayMs == null) {
    return mbit === Infinity ? layNoLink() : layLink(rate)
  }

  if (backMbit !== mbit) {
    throw new Error(`With --delay both ways have one rate, not ${mbit} and ${backMbit} Mbit/s`)
  }

  const bytesPerMs = mbit * MBIT_BYTES_PER_MS

  return layRelay(label, { bytesPerMs, delayMs, bufferBytes: bytesPerMs * (1000 * LATENCY_S + delayMs), segmentBytes: SEGMENT_BYTES })
}

/** For the legend */
export function describeRate (delayMs?: number): string {
  return delayMs == null
    ? `Two network namespaces and a veth pair of that rate both ways: tbf with a burst of ${BURST} and a limit of ${LATENCY}. The kernel's TCP with ${CONGESTION}`
    : `A relay of that rate and ${delayMs} ms each way, dialled at a Unix socket. It holds its sender back when more waits than passes in ${LATENCY_S} s. TCP`
}

/** Of each socket: what a kernel holds of what its program has sent, and what it receives ahead of its program. About 1 MB together. */
const KERNEL_LIMITS = { tcp_wmem: '4096 65536 1000000', tcp_rmem: '4096 65536 65536' }
const MTU_BYTES = 1500

/** Both ends and the relay share a network namespace, as its kernel lets connections hold less than this machine's */
export function layRecorded (label: string, there: RecordedLink, back: RecordedLink): Link {
  const namespace = layNamespace()
  const commands = [namespace.command, namespace.command]
  const link: Link = { ...layNoLink(), label, commands }
  const relay = startAt<RelayCommands>(link, 0, relayProcess, 'relay')

  return {
    ...link,

    async reach ([address]) {
      return [atPort(address, await relay.commands.relayTo(portOf(address), there, back))]
    },

    async remove () {
      await relay.stop()
      namespace.remove()
    }
  }
}

/** Nobody but root may add one */
export function layNamespace (): { command: string[], remove(): void } {
  const name = `recorded-${process.pid}-${links++}`
  const command = ['ip', 'netns', 'exec', name]
  let isLaid = true

  function remove (): void {
    if (isLaid) {
      isLaid = false
      run('ip', 'netns', 'delete', name)
    }
  }

  run('ip', 'netns', 'add', name)

  try {
    run('ip', '-n', name, 'link', 'set', 'lo', 'mtu', String(MTU_BYTES), 'up')

    for (const [limit, bytes] of Object.entries(KERNEL_LIMITS)) {
      run('ip', 'netns', 'exec', name, 'sysctl', '--quiet', '--write', `net.ipv4.${limit}=${bytes}`)
    }
  } catch (err) {
    remove()
    throw err
  }

  return { command, remove }
}

/** A process at an end of it */
export function startAt <Commands extends object> ({ commands }: Link, end: number, module: URL, title: string, nodeOptions: string[] = []): Child<Commands> {
  const [execPath, ...execArgv] = [...commands[end], process.execPath, ...nodeOptions]

  return startChild<Commands>(module, title, { execPath, execArgv })
}

/** Says why not if this machine lets nobody lay one, and fails in CI, where it has to */
export function canLayLink (command: string, lay: () => { remove(): void } = () => layLink(rateOf(1))): boolean {
  try {
    lay().remove()

    return true
  } catch (err: any) {
    const message = `${command} needs root, ip and tc: ${err.message}`

    if (process.env.CI != null) {
      throw new Error(message, { cause: err })
    }

    console.info(message)

    return false
  }
}
