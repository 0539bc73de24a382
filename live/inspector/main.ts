/**
 * The inspector: opens a capture, and shows the window, the row and the frame that are chosen.
 */
import { Palette } from '../page/canvas.ts'
import { toCount, toTime } from '../page/text.ts'
import { AXIS_PX, drawScene, HEAD_PX, isUpperHalf, ROW_PX, rowAt } from './draw.ts'
import { CaptureError, PcapngReader } from './pcapng.ts'
import { isStream, nameOf, textOf, toClock } from './summary.ts'
import { showNumbers, showWaits } from './tables.ts'
import { Capture } from './timeline.ts'
import { around, firstFrom, lengthUs, nearest, pan, streamsIn, within, zoom } from './window.ts'
import type { Scene } from './draw.ts'
import type { Row, Wait } from './summary.ts'
import type { Connection, Frame } from './timeline.ts'
import type { TimeWindow } from './window.ts'

const ZOOM_STEP = 2
const PAN_PART = 0.25
/** Of a wait that is shown, on both sides of it */
const BESIDE_PART = 1
const FOLLOWED_US = 10e6
/** A pointer that is so near to a frame means it */
const REACH_PX = 8
const DRAG_PX = 4
/** Then the page may draw, and take keys */
const READING_MS = 30
const TABLES_EVERY_MS = 400
/** For those who want less motion */
const STILL_EVERY_MS = 1000
const US_PER_MS = 1000

/** What moves the window: nothing, the whole capture as it grows, or its end */
type Mode = 'still' | 'all' | 'follow'

const stillness = matchMedia('(prefers-reduced-motion: reduce)')

function byId<Kind extends HTMLElement> (id: string): Kind {
  return document.getElementById(id) as Kind
}

const palette = new Palette()
const timeline = byId('timeline')
const picture = byId<HTMLCanvasElement>('picture')
const tip = byId('tip')
const select = byId<HTMLSelectElement>('connection')
const fileInput = byId<HTMLInputElement>('file')
const addressInput = byId<HTMLInputElement>('address')

let capture = new Capture()
let connection: Connection | undefined
let shownWindow: TimeWindow = { fromUs: 0, toUs: 1 }
let mode: Mode = 'all'
let current: Row | undefined
let chosen: Scene['chosen']
/** The frame under the pointer goes before the chosen one */
let pointed: Scene['chosen']
let reading: AbortController | undefined
let isDrawing = false
let areTablesDue = false
/** New frames are shown later */
let isStill = false

// Opening

async function open (source: string, getStream: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>): Promise<void> {
  reading?.abort()
  const own = reading = new AbortController()
  const opened = new Capture()
  const reader = new PcapngReader(opened)
  capture = opened
  connection = current = chosen = pointed = undefined
  mode = 'all'
  select.replaceChildren()
  byId('failure').hidden = true
  byId('stage').hidden = true
  byId('status').textContent = `Reading ${source} …`

  try {
    const pieces = (await getStream(own.signal)).getReader()
    own.signal.addEventListener('abort', () => { pieces.cancel().catch(() => { /* it has ended anyway */ }) })

    let pausedMs = performance.now()

    for (let piece = await pieces.read(); !piece.done && !own.signal.aborted; piece = await pieces.read()) {
      reader.push(piece.value)
      onFrames()

      if (performance.now() - pausedMs > READING_MS) {
        await new Promise(resolve => { setTimeout(resolve) })
        pausedMs = performance.now()
      }
    }
  } catch (err) {
    if (own === reading && !own.signal.aborted) {
      fail(err instanceof CaptureError ? err.message : `${source} cannot be read: ${err instanceof Error ? err.message : String(err)}`)
    }

    own.abort()
  }

  if (own === reading) {
    reading = undefined
    showWatching(false)
    byId('status').textContent = `${source}: ${count(capture.frameCount, 'frame')} of ${count(capture.connections.length, 'connection')}${capture.frameCount === 0 ? '' : `, ${toTime(lengthUs(capture) / US_PER_MS)}`}.`
    onFrames()
  }
}

function openFile (file: File): void {
  showWatching(false)
  open(file.name, async () => file.stream())
}

function watch (address: string): void {
  showWatching(true)
  open(address, async signal => {
    const response = await fetch(address, { signal }).catch((err: unknown) => {
      throw new CaptureError(`Nothing that this page may read answers at ${address}. The program there has to run, and to send access-control-allow-origin, as docs/examples/capture-server.ts does. (${String(err)})`)
    })

    if (!response.ok || response.body == null) {
      throw new CaptureError(`${address} answers ${response.status}, and no capture.`)
    }

    byId('status').textContent = `Watching ${address}`

    return response.body
  })
}

function fail (message: string): void {
  byId('failure').hidden = false
  byId('failure').textContent = message
}

function count (number: number, thing: string): string {
  return `${toCount(number)} ${thing}${number === 1 ? '' : 's'}`
}

function showWatching (isWatching: boolean): void {
  byId('watch-button').textContent = isWatching ? 'Stop' : 'Watch'
  byId('follow').hidden = !isWatching
}

/** There may be more of them than before */
function onFrames (): void {
  capture.connections.slice(select.options.length).forEach(({ peer, direction }) => {
    select.add(new Option(`${peer === '' ? 'unknown peer' : peer} ${direction}`))
  })

  if (connection == null && capture.frameCount > 0) {
    // the one that has begun to talk
    const first = capture.connections.findIndex(({ frameCount }) => frameCount > 0)
    select.selectedIndex = first
    connection = current = capture.connections[first]
    byId('stage').hidden = false
    byId<HTMLDetailsElement>('how').open = false
  }

  if (mode === 'all' && !byId('follow').hidden && lengthUs(capture) > FOLLOWED_US) {
    mode = 'follow'
  }

  if (!stillness.matches) {
    update()
  } else if (!isStill) {
    isStill = true
    setTimeout(() => {
      isStill = false
      update()
    }, STILL_EVERY_MS)
  }
}

// Showing

function setWindow (wanted: TimeWindow, newMode: Mode = 'still'): void {
  mode = newMode
  shownWindow = within(wanted, around(capture))
  update()
}

function update (): void {
  if (!isDrawing) {
    isDrawing = true
    requestAnimationFrame(draw)
  }

  if (!areTablesDue) {
    areTablesDue = true
    setTimeout(fillTables, TABLES_EVERY_MS)
  }
}

function scene (shown: Connection): Scene {
  return {
    connection: shown,
    streams: streamsIn(shown.streams, shownWindow),
    window: shownWindow,
    startUs: capture.fromUs,
    endUs: capture.endUs(shown),
    scrolledPx: timeline.scrollTop,
    chosen: pointed ?? chosen,
    current: document.activeElement === timeline ? current : undefined
  }
}

function draw (): void {
  isDrawing = false

  if (connection == null) {
    return
  }

  if (mode === 'all') {
    shownWindow = around(capture)
  } else if (mode === 'follow') {
    shownWindow = within({ fromUs: capture.toUs - FOLLOWED_US, toUs: capture.toUs }, around(capture))
  }

  byId('rows').style.height = `${HEAD_PX + streamsIn(connection.streams, shownWindow).length * ROW_PX}px`
  picture.style.height = `${timeline.clientHeight}px`
  byId('follow').setAttribute('aria-pressed', String(mode === 'follow'))
  byId('shown').textContent = `${toTime(lengthUs(shownWindow) / US_PER_MS)} from ${toClock(shownWindow.fromUs)}, ${count(connection.frameCount, 'frame')} in all`
  const drawn = scene(connection)
  drawScene(picture, palette, drawn)
  placeTip(drawn)
}

/** Beside the frame, within the picture; none if the frame is out of view */
function placeTip (shown: Scene): void {
  tip.hidden = true

  if (shown.chosen != null) {
    const { row, frame } = shown.chosen
    const x = (frame.atUs - shownWindow.fromUs) / lengthUs(shownWindow) * picture.clientWidth
    const top = isStream(row) ? HEAD_PX + shown.streams.indexOf(row) * ROW_PX - timeline.scrollTop : AXIS_PX
    const below = top + (isStream(row) ? ROW_PX : HEAD_PX - AXIS_PX)
    tip.hidden = x < 0 || x > picture.clientWidth || below < HEAD_PX || top > timeline.clientHeight
    tip.textContent = textOf(frame, capture.fromUs)
    tip.style.left = `${Math.max(4, Math.min(x + 12, picture.clientWidth - tip.offsetWidth - 4))}px`
    tip.style.top = `${below + tip.offsetHeight < timeline.clientHeight ? below : Math.max(0, top - tip.offsetHeight)}px`
  }
}

function fillTables (): void {
  areTablesDue = false

  if (connection != null) {
    showWaits(byId('waits'), capture, connection, showWait)
    showNumbers(byId('numbers'), byId('numbers-note'), capture, connection, shownWindow)
  }
}

// Choosing

function showWait ({ row, fromUs, toUs }: Wait): void {
  const besideUs = (toUs - fromUs) * BESIDE_PART
  setWindow({ fromUs: fromUs - besideUs, toUs: toUs + besideUs })
  choose(row, nearest(row.frames, fromUs))
  timeline.focus()
  timeline.scrollIntoView({ block: 'nearest' })
}

/** By keys or a click, so it is said aloud and brought into view */
function choose (row: Row, frame?: Frame): void {
  current = row
  chosen = frame == null ? undefined : { row, frame }
  pointed = undefined
  byId('said').textContent = `${nameOf(row)}: ${frame == null ? 'no frames' : textOf(frame, capture.fromUs)}`

  if (frame != null && (frame.atUs < shownWindow.fromUs || frame.atUs > shownWindow.toUs)) {
    setWindow(pan(shownWindow, frame.atUs - (shownWindow.fromUs + shownWindow.toUs) / 2))
  }

  if (isStream(row) && connection != null) {
    const top = streamsIn(connection.streams, shownWindow).indexOf(row) * ROW_PX
    timeline.scrollTop = Math.min(top, Math.max(timeline.scrollTop, top + ROW_PX + HEAD_PX - timeline.clientHeight))
  }

  update()
}

function chooseRow (step: number): void {
  if (connection != null) {
    const rows: Row[] = [connection, ...streamsIn(connection.streams, shownWindow)]
    const row = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(current ?? connection) + step))]
    choose(row, nearest(row.frames, chosen?.frame.atUs ?? (shownWindow.fromUs + shownWindow.toUs) / 2))
  }
}

function chooseFrame (step: number): void {
  const row = current ?? connection

  if (row != null) {
    // without a choice so far, the first one in the window
    const at = chosen?.row === row ? row.frames.indexOf(chosen.frame, firstFrom(row.frames, chosen.frame.atUs)) + step : firstFrom(row.frames, shownWindow.fromUs)
    choose(row, row.frames[Math.max(0, Math.min(row.frames.length - 1, at))])
  }
}

/** The frame at a point of the picture, of the direction whose half it is in, or else of the other */
function frameAt (x: number, y: number): Scene['chosen'] {
  if (connection == null) {
    return undefined
  }

  const row = rowAt(y, scene(connection))

  if (row == null) {
    return undefined
  }

  const usPerPx = lengthUs(shownWindow) / picture.clientWidth
  const atUs = shownWindow.fromUs + x * usPerPx
  const frame = nearest(row.frames, atUs, REACH_PX * usPerPx, isUpperHalf(y, scene(connection))) ?? nearest(row.frames, atUs, REACH_PX * usPerPx)

  return frame == null ? undefined : { row, frame }
}

const middleUs = (): number => chosen != null && chosen.frame.atUs >= shownWindow.fromUs && chosen.frame.atUs <= shownWindow.toUs
  ? chosen.frame.atUs
  : (shownWindow.fromUs + shownWindow.toUs) / 2

const zoomIn = (): void => { setWindow(zoom(shownWindow, 1 / ZOOM_STEP, middleUs())) }
const zoomOut = (): void => { setWindow(zoom(shownWindow, ZOOM_STEP, middleUs())) }
const showAll = (): void => { setWindow(around(capture), 'all') }
const move = (part: number): void => { setWindow(pan(shownWindow, part * lengthUs(shownWindow))) }

const keys: Record<string, () => void> = {
  '+': zoomIn,
  '=': zoomIn,
  '-': zoomOut,
  0: showAll,
  ArrowLeft: () => { chooseFrame(-1) },
  ArrowRight: () => { chooseFrame(1) },
  ArrowUp: () => { chooseRow(-1) },
  ArrowDown: () => { chooseRow(1) },
  'Shift+ArrowLeft': () => { move(-PAN_PART) },
  'Shift+ArrowRight': () => { move(PAN_PART) },
  Home: () => { chooseFrame(-Infinity) },
  End: () => { chooseFrame(Infinity) },
  Escape: () => {
    chosen = pointed = undefined
    update()
  }
}

timeline.addEventListener('keydown', event => {
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event
  const action = keys[shiftKey && key.startsWith('Arrow') ? `Shift+${key}` : key]

  if (action != null && !ctrlKey && !metaKey && !altKey) {
    event.preventDefault()
    action()
  }
})

// Pointing

let dragged: { fromX: number, window: TimeWindow, hasMoved: boolean } | undefined

picture.addEventListener('pointerdown', ({ offsetX, pointerId, button }) => {
  if (button === 0) {
    dragged = { fromX: offsetX, window: shownWindow, hasMoved: false }
    picture.setPointerCapture(pointerId)
  }
})

picture.addEventListener('pointermove', ({ offsetX, offsetY }) => {
  if (dragged == null) {
    pointed = frameAt(offsetX, offsetY)
    update()
  } else if (dragged.hasMoved || Math.abs(offsetX - dragged.fromX) > DRAG_PX) {
    dragged.hasMoved = true
    pointed = undefined
    setWindow(pan(dragged.window, (dragged.fromX - offsetX) / picture.clientWidth * lengthUs(dragged.window)))
  }
})

picture.addEventListener('pointerup', ({ offsetX, offsetY }) => {
  if (dragged?.hasMoved === false) {
    const found = frameAt(offsetX, offsetY)
    found != null && choose(found.row, found.frame)
  }

  dragged = undefined
})

picture.addEventListener('pointercancel', () => { dragged = undefined })
picture.addEventListener('pointerleave', () => {
  pointed = undefined
  update()
})

timeline.addEventListener('wheel', event => {
  const { ctrlKey, shiftKey, deltaX, deltaY, offsetX } = event
  const alongPx = shiftKey && deltaX === 0 ? deltaY : deltaX

  if (ctrlKey) {
    event.preventDefault()
    setWindow(zoom(shownWindow, ZOOM_STEP ** (deltaY / 100), shownWindow.fromUs + offsetX / picture.clientWidth * lengthUs(shownWindow)))
  } else if (Math.abs(alongPx) > Math.abs(shiftKey ? 0 : deltaY)) {
    event.preventDefault()
    setWindow(pan(shownWindow, alongPx / picture.clientWidth * lengthUs(shownWindow)))
  }
}, { passive: false })

// The page

timeline.addEventListener('scroll', update)
timeline.addEventListener('focus', update)
timeline.addEventListener('blur', update)
byId('zoom-in').addEventListener('click', zoomIn)
byId('zoom-out').addEventListener('click', zoomOut)
byId('all').addEventListener('click', showAll)
byId('follow').addEventListener('click', () => { setWindow(shownWindow, mode === 'follow' ? 'still' : 'follow') })
byId('earlier').addEventListener('click', () => { move(-PAN_PART) })
byId('later').addEventListener('click', () => { move(PAN_PART) })
new ResizeObserver(update).observe(timeline)
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', update)

select.addEventListener('input', () => {
  connection = current = capture.connections[select.selectedIndex]
  chosen = pointed = undefined
  timeline.scrollTop = 0
  update()
})

fileInput.addEventListener('input', () => {
  const file = fileInput.files?.[0]
  file != null && openFile(file)
})

byId('watch').addEventListener('submit', event => {
  event.preventDefault()

  if (byId('follow').hidden) {
    watch(addressInput.value)
  } else {
    reading?.abort()
  }
})

addEventListener('dragover', event => {
  event.preventDefault()
  document.body.dataset.dropping = ''
})
addEventListener('dragleave', ({ relatedTarget }) => {
  if (relatedTarget == null) {
    delete document.body.dataset.dropping
  }
})
addEventListener('drop', event => {
  event.preventDefault()
  delete document.body.dataset.dropping
  const file = event.dataTransfer?.files[0]
  file != null && openFile(file)
})
