/**
 * The page: what is chosen starts a contest, and what that reports is drawn.
 */
import { presets } from '../presets.ts'
import { LINE_SETTINGS } from '../setup.ts'
import { Palette } from './canvas.ts'
import { Contest } from './contest.ts'
import { createControls } from './controls.ts'
import { fromHash, toHash } from './hash.ts'
import { LatencyChart } from './latency-chart.ts'
import { Numbers } from './numbers.ts'
import { chooseScaleMs, drawPipe, longestMs } from './pipe.ts'
import { toBytes, toTick, toTime } from './text.ts'
import { drawWrites, longestBytes } from './writes.ts'
import type { ContestantName, Setup } from '../setup.ts'

/** A slider on its way begins one contest, not ten */
const SETTLED_MS = 250
const NUMBERS_EVERY_MS = 250
const SAY_EVERY_MS = 8000
const CHART_EVERY_MS = 50
/** For those who want less motion */
const STILL_EVERY_MS = 1000
const LEAST_WRITE_SCALE_BYTES = 65_536
/** Timers of a thread that is busy with its muxer alone fire less late */
const TOO_LATE_MS = 20

const names: ContestantName[] = ['ours', 'stock']
const stillness = matchMedia('(prefers-reduced-motion: reduce)')

function byId<Kind extends HTMLElement> (id: string): Kind {
  return document.getElementById(id) as Kind
}

const palette = new Palette()
const chart = new LatencyChart(byId('latency'), palette)
const numbers = new Numbers(byId('numbers'), byId('verdict'))
const pauseButton = byId<HTMLButtonElement>('pause')

let setup = fromHash(location.hash, presets[0].setup)
let contest: Contest | undefined
let isPaused = false
let scaleMs = 0
/** When the pictures were last drawn */
let drawnMs = 0
let settling: ReturnType<typeof setTimeout> | undefined

function start (): void {
  clearTimeout(settling)
  contest?.end()
  chart.clear()
  numbers.clear()
  showDoubt()
  byId('failure').hidden = true
  contest = new Contest(setup, (name, failure) => {
    byId('failure').hidden = false
    byId('failure').textContent = `${name === 'ours' ? 'libp2p-coalescing-yamux' : '@libp2p/yamux'} has stopped: ${failure}`
  })
  setPaused(false)
}

function setPaused (shallPause: boolean): void {
  if (isPaused !== shallPause) {
    isPaused = shallPause
    contest?.setPaused(isPaused)
  }

  pauseButton.setAttribute('aria-pressed', String(isPaused))
}

const controls = createControls(change => {
  setup = { ...setup, ...change }
  showSetup()
  history.replaceState(undefined, '', `#${toHash(setup)}`)

  if (Object.keys(change).every(name => LINE_SETTINGS.includes(name as keyof Setup))) {
    contest?.changeLink(setup)
  } else {
    clearTimeout(settling)
    settling = setTimeout(start, SETTLED_MS)
  }
})

function showSetup (): void {
  controls.show(setup)
  document.body.dataset.link = setup.mbitPerS === Infinity ? 'unlimited' : 'limited'
}

function drawPictures (nowMs: number): void {
  drawnMs = nowMs
  const reported = names.flatMap(name => {
    const { report, reportedAtMs } = contest?.of(name) ?? {}

    return report == null || reportedAtMs == null ? [] : [{ name, report, elapsedMs: Math.max(0, nowMs - reportedAtMs) }]
  })
  scaleMs = chooseScaleMs(Math.max(0, ...reported.map(({ report }) => longestMs(report.cells))), scaleMs)

  for (const { name, report, elapsedMs } of reported) {
    drawPipe(byId(`${name}-pipe`), palette, report.cells, scaleMs, elapsedMs)
  }

  label('pipe-axis', [`arrives in ${toTick(scaleMs)}`, toTick(scaleMs / 2), 'now'])
}

function label (axis: string, texts: string[]): void {
  byId(axis).replaceChildren(...texts.map(text => Object.assign(document.createElement('span'), { textContent: text })))
}

function drawLastWrites (): void {
  const reports = names.flatMap(name => contest?.of(name).report ?? [])
  const longest = Math.max(LEAST_WRITE_SCALE_BYTES, ...reports.map(({ lastWrites }) => longestBytes(lastWrites)))
  const scaleBytes = 2 ** Math.ceil(Math.log2(longest))

  names.forEach(name => {
    const report = contest?.of(name).report

    if (report != null) {
      drawWrites(byId(`${name}-writes`), palette, report.lastWrites, scaleBytes)
      byId(`${name}-in-flight`).textContent = `${toBytes(report.inFlightBytes)}, the last byte arrives in ${toTime(longestMs(report.cells))}`
    }
  })
  names.forEach(name => { label(`${name}-writes-axis`, ['0', toBytes(scaleBytes / 2), toBytes(scaleBytes)]) })
}

function showDoubt (lateMs = 0): void {
  byId('doubt').hidden = lateMs < TOO_LATE_MS
}

function drawNumbers (shallSay: boolean): void {
  const [ours, stock] = names.map(name => {
    const { report, statistics } = contest?.of(name) ?? {}
    const figures = statistics?.figures(setup.mbitPerS)

    return report == null || figures == null ? undefined : { report, figures }
  })

  if (ours != null && stock != null) {
    numbers.show({ ours, stock })
    showDoubt(Math.max(ours.figures.lateMs, stock.figures.lateMs))
    shallSay && numbers.say({ ours, stock })
  }
}

/** Returns whether so much time has passed since the last time that it did */
function every (intervalMs: number): (nowMs: number) => boolean {
  let lastMs = -Infinity

  return nowMs => {
    const isDue = nowMs - lastMs >= (stillness.matches ? Math.max(STILL_EVERY_MS, intervalMs) : intervalMs)
    lastMs = isDue ? nowMs : lastMs

    return isDue
  }
}

const due = { pictures: every(0), chart: every(CHART_EVERY_MS), numbers: every(NUMBERS_EVERY_MS), saying: every(SAY_EVERY_MS) }

function draw (nowMs: number): void {
  requestAnimationFrame(draw)

  if (isPaused) {
    return
  }

  if (due.pictures(nowMs)) {
    drawPictures(nowMs)
  }

  if (due.chart(nowMs)) {
    const [ours, stock] = names.map(name => contest?.of(name).statistics.figures(setup.mbitPerS)?.latencyMs)
    chart.add(nowMs / 1000, { ours, stock })
    chart.draw()
  }

  if (due.numbers(nowMs)) {
    drawLastWrites()
    drawNumbers(due.saying(nowMs))
  }
}

pauseButton.addEventListener('click', () => { setPaused(!isPaused) })
byId('restart').addEventListener('click', start)
byId('to-setup').addEventListener('click', () => { byId('setup').scrollIntoView() })
addEventListener('hashchange', () => {
  setup = fromHash(location.hash, setup)
  showSetup()
  start()
})
// pictures that stand still have the colours of their page too
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  drawPictures(drawnMs)
  drawLastWrites()
})
document.addEventListener('visibilitychange', () => { contest?.setPaused(document.hidden || isPaused) })

// on a small screen they would be in front of all that they are for
byId<HTMLDetailsElement>('settings').open = matchMedia('(min-width: 901px)').matches
showSetup()
start()
requestAnimationFrame(draw)
