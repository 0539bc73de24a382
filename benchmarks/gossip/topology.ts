// Who is connected to whom, and who subscribes to what; the same each time.
import { Random } from '../../testing/simulation/random.ts'
import { DEGREE, HOSTS, topics } from './workload.ts'

export interface Topology {
  /** Each connection once: the host that dials and the one that listens */
  connections: Array<[from: number, to: number]>
  /** The hosts that subscribe to a topic */
  subscribers: Record<string, Set<number>>
}

function drawConnections (random: Random): Topology['connections'] {
  const neighbours = Array.from({ length: HOSTS }, () => new Set<number>())
  const connections: Topology['connections'] = []

  for (let from = 0; from < HOSTS; from++) {
    const candidates = neighbours.keys()
      .filter(to => to !== from && neighbours[to].size < DEGREE && !neighbours[from].has(to))
      .toArray()

    while (neighbours[from].size < DEGREE && candidates.length > 0) {
      const [to] = candidates.splice(random.integer(0, candidates.length - 1), 1)

      neighbours[from].add(to)
      neighbours[to].add(from)
      connections.push([from, to])
    }
  }

  return connections
}

function drawSubscribers (random: Random): Topology['subscribers'] {
  return Object.fromEntries(topics.map(({ name, chance }) => [
    name,
    new Set(Array.from({ length: HOSTS }, (_, host) => host).filter(() => random.chance(chance)))
  ]))
}

/** Whether what one of the members says can reach all of them, and every host has one to say it to */
function isReachable (members: Set<number>, connections: Topology['connections']): boolean {
  const reached = new Set(members.values().take(1))

  for (let before = 0; before < reached.size;) {
    before = reached.size

    for (const [a, b] of connections) {
      if (members.has(a) && members.has(b) && (reached.has(a) || reached.has(b))) {
        reached.add(a).add(b)
      }
    }
  }

  const hostsWithMember = new Set(connections.flatMap(([a, b]) => [...(members.has(a) ? [b] : []), ...(members.has(b) ? [a] : [])]))

  return reached.size === members.size && hostsWithMember.size === HOSTS
}

/** The first that lets every message reach every subscriber */
export function drawTopology (): Topology {
  for (let seed = 1; ; seed++) {
    const random = new Random(seed)
    const connections = drawConnections(random)
    const subscribers = drawSubscribers(random)

    if (connections.length === HOSTS * DEGREE / 2 && Object.values(subscribers).every(members => isReachable(members, connections))) {
      return { connections, subscribers }
    }
  }
}
