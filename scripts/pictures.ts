// Draws the pictures of docs for light pages and for dark ones: `node scripts/pictures.ts`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Scheme {
  paper: string
  ink: string
  quiet: string
  grid: string
  control: string
  urgent: string
  streams: [string, string, string]
}

/** The colours of live/style.css */
const light: Scheme = { paper: '#fff', ink: '#1b1c1f', quiet: '#5f636b', grid: '#e2e3e6', control: '#b9bcc2', urgent: '#e23b12', streams: ['#a9c1e2', '#b4d3bd', '#cbc0e4'] }
const dark: Scheme = { paper: '#0d1117', ink: '#eceef1', quiet: '#a2a8b2', grid: '#2c2f36', control: '#5b606a', urgent: '#ff6d43', streams: ['#3d5c88', '#3f6e56', '#5b5089'] }

/** Little more than a phone is wide, so that letters can be read there */
const WIDTH = 480
const CELL_HEIGHT = 22
const CELL_GAP = 2

const folder = fileURLToPath(new URL('../docs/pictures', import.meta.url))

function text (scheme: Scheme, x: number, y: number, content: string, { isQuiet = false, isBold = false, isCentred = false } = {}): string {
  return `<text x="${x}" y="${y}" fill="${isQuiet ? scheme.quiet : scheme.ink}"${isBold ? ' font-weight="600"' : ''}${isCentred ? ' text-anchor="middle"' : ''}>${content}</text>`
}

/** Side by side from `x` on; each has a width and a colour */
function cells (x: number, y: number, widths: Array<[width: number, colour: string]>): string {
  let left = x

  return widths.map(([width, colour]) => {
    const cell = `<rect x="${left}" y="${y}" width="${width}" height="${CELL_HEIGHT}" rx="2" fill="${colour}"/>`
    left += width + CELL_GAP

    return cell
  }).join('')
}

function track (scheme: Scheme, x: number, y: number, width: number): string {
  return `<rect x="${x}" y="${y - 3}" width="${width}" height="${CELL_HEIGHT + 6}" rx="4" fill="none" stroke="${scheme.grid}"/>`
}

function picture (scheme: Scheme, height: number, title: string, parts: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="${scheme.paper}"/>`,
    ...parts,
    '</svg>\n'
  ].join('\n')
}

function drawLanes (scheme: Scheme): string {
  const [a, b, backup] = scheme.streams
  const rows: Array<[lane: string, stream: string, frames: Array<[number, string]>]> = [
    ['urgent', 'chat', [[12, scheme.urgent]]],
    ['normal', 'file A', new Array(6).fill([40, a])],
    ['', 'file B', new Array(6).fill([40, b])],
    ['bulk', 'backup', new Array(7).fill([40, backup])]
  ]

  return picture(scheme, 262, 'What waits in three lanes, and the write that is made of it', [
    text(scheme, 8, 20, 'What waits', { isBold: true }),
    ...rows.flatMap(([lane, stream, frames], row) => {
      const y = 32 + row * 32

      return [text(scheme, 8, y + 16, lane, { isQuiet: true }), text(scheme, 66, y + 16, stream), track(scheme, 124, y, WIDTH - 132), cells(128, y, frames)]
    }),
    text(scheme, 8, 190, 'The next write, from its first byte on', { isBold: true }),
    track(scheme, 8, 202, WIDTH - 16),
    cells(12, 202, [[10, scheme.control], [12, scheme.urgent], [74, a], [74, b], [74, a], [74, b], [40, backup]]),
    text(scheme, 8, 250, 'control, urgent, turns of the normal lane; now and then a frame of bulk', { isQuiet: true })
  ])
}

function drawInFlight (scheme: Scheme): string {
  const [a, b] = scheme.streams
  const [streamsX, wayX, peerX] = [8, 152, 408]
  const files: Array<[number, string]> = [[38, a], [38, b], [38, a]]
  const rows: Array<[title: string, waiting: Array<[number, string]>, inFlight: Array<[number, string]>, fromX: number]> = [
    ['Handed down as soon as possible', [[38, b]], [[8, scheme.urgent], [44, a], [44, b], [44, a], [44, b], [44, a]], wayX + 4],
    ['No more handed down than the connection carries', files, [[8, scheme.urgent], [38, b]], peerX - 58]
  ]

  return picture(scheme, 186, 'An urgent message behind all that was handed down, and behind little', [
    text(scheme, streamsX, 20, 'in its stream:', { isQuiet: true }),
    text(scheme, streamsX, 36, 'can be overtaken', { isQuiet: true }),
    text(scheme, wayX, 20, 'in flight, in kernels and routers:', { isQuiet: true }),
    text(scheme, wayX, 36, 'cannot be overtaken', { isQuiet: true }),
    text(scheme, peerX + 12, 36, 'peer', { isQuiet: true }),
    ...rows.flatMap(([title, waiting, inFlight, fromX], row) => {
      const y = 78 + row * 68

      return [
        text(scheme, streamsX, y - 12, title, { isBold: true }),
        track(scheme, streamsX, y, 132),
        cells(streamsX + 132 - 4 - waiting.reduce((sum, [width]) => sum + width + CELL_GAP, -CELL_GAP), y, waiting),
        track(scheme, wayX, y, peerX - wayX - 4),
        cells(fromX, y, inFlight),
        `<circle cx="${peerX + 24}" cy="${y + CELL_HEIGHT / 2}" r="9" fill="none" stroke="${scheme.quiet}"/>`
      ]
    })
  ])
}

for (const [name, draw] of [['lanes', drawLanes], ['in-flight', drawInFlight]] as const) {
  writeFileSync(join(folder, `${name}.svg`), draw(light))
  writeFileSync(join(folder, `${name}-dark.svg`), draw(dark))
}
