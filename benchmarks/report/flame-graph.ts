// A flame graph of a CPU profile as an SVG picture that needs no script.
import { hierarchy, partition } from 'd3-hierarchy'
import { escape } from './escape.ts'
import type { Profiler } from 'node:inspector'

interface Call {
  name: string
  place: string
  selfMs: number
  calls: Map<string, Call>
}

const WIDTH = 1600
const ROW_HEIGHT = 16
const CHARACTER_WIDTH = 6.2
/** Narrower calls would not be seen */
const MIN_WIDTH = 0.3

/** The last folders of where a function is, which tell packages apart */
export function placeOf ({ url, lineNumber }: { url: string, lineNumber: number }): string {
  const path = url.replace(/^.*\/node_modules\//, '').replace(/^.*\/(src|benchmarks|test)\//, '$1/')

  return url === '' ? '' : `${path}:${lineNumber + 1}`
}

/** Calls of the same function by the same caller are one */
function toCalls (profile: Profiler.Profile): Call {
  const nodes = new Map(profile.nodes.map(node => [node.id, node]))
  const selfMs = new Map<number, number>()

  profile.samples?.forEach((id, index) => {
    selfMs.set(id, (selfMs.get(id) ?? 0) + (profile.timeDeltas?.[index] ?? 0) / 1000)
  })

  function add (id: number, calls: Map<string, Call>): void {
    const node = nodes.get(id)

    if (node == null || node.callFrame.functionName === '(idle)') {
      return
    }

    const name = node.callFrame.functionName === '' ? '(anonymous)' : node.callFrame.functionName
    const place = placeOf(node.callFrame)
    const key = `${name} ${place}`
    const call = calls.get(key) ?? { name, place, selfMs: 0, calls: new Map() }

    call.selfMs += selfMs.get(id) ?? 0
    calls.set(key, call)
    node.children?.forEach(child => { add(child, call.calls) })
  }

  const root: Call = { name: 'all', place: '', selfMs: 0, calls: new Map() }
  nodes.get(profile.nodes[0].id)?.children?.forEach(id => { add(id, root.calls) })

  return root
}

/** This muxer's own functions stand out among all others */
function colourOf ({ place, name }: Call): string {
  if (/^src\/|yamux|mplex/.test(place)) {
    return '#e4572e'
  }

  if (/noise/.test(place)) {
    return '#76b041'
  }

  return place === '' || place.startsWith('node:') || name.startsWith('(') ? '#a8b8c8' : '#f3c969'
}

export function renderFlameGraph (title: string, profile: Profiler.Profile): string {
  const root = hierarchy(toCalls(profile), ({ calls }) => [...calls.values()]).sum(({ selfMs }) => selfMs).sort((a, b) => (b.value ?? 0) - (a.value ?? 0))
  const height = (root.height + 1) * ROW_HEIGHT
  const drawn = partition<Call>().size([WIDTH, height])(root).descendants().filter(({ x0, x1 }) => x1 - x0 >= MIN_WIDTH)
  const totalMs = root.value ?? 0
  const usedHeight = Math.max(...drawn.map(({ y1 }) => y1))

  const boxes = drawn.map(({ data, value = 0, x0, x1, y0 }) => {
    const width = x1 - x0
    const label = data.name.slice(0, Math.max(0, Math.floor((width - 4) / CHARACTER_WIDTH)))
    const tooltip = escape(`${data.name} ${data.place} ${value.toFixed(1)} ms, ${(value / totalMs * 100).toFixed(1)} %`)
    const text = label.length < 3 ? '' : `<text x="${(x0 + 2).toFixed(1)}" y="${y0 + 12}">${escape(label)}</text>`

    return `<g><title>${tooltip}</title><rect x="${x0.toFixed(1)}" y="${y0}" width="${width.toFixed(1)}" height="${ROW_HEIGHT - 1}" fill="${colourOf(data)}"/>${text}</g>`
  })

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -24 ${WIDTH} ${usedHeight + 24}" font-family="monospace" font-size="10">`,
    `<text x="2" y="-8" font-size="13">${escape(title)}: ${totalMs.toFixed(0)} ms of CPU; muxer red, Noise green, other packages yellow, Node grey</text>`,
    ...boxes,
    '</svg>',
    ''
  ].join('\n')
}
