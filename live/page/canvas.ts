/**
 * A canvas with the pixels of its screen, and the colours of the page.
 */
export interface Surface {
  context: CanvasRenderingContext2D
  /** In CSS pixels */
  width: number
  height: number
}

const BULK_COLOURS = 6
/** Of the stream that a contestant opens first */
const URGENT_ID = 1
const ID_STEP = 2

export function prepare (canvas: HTMLCanvasElement): Surface {
  const { clientWidth: width, clientHeight: height } = canvas
  const scale = devicePixelRatio
  const context = canvas.getContext('2d') as CanvasRenderingContext2D

  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
  }

  context.setTransform(scale, 0, 0, scale, 0, 0)
  context.clearRect(0, 0, width, height)

  return { context, width, height }
}

export class Palette {
  readonly #probe = document.body.appendChild(document.createElement('span'))
  #colours = new Map<string, string>()

  constructor () {
    this.#probe.hidden = true
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.#colours.clear() })
  }

  /** A colour of the style sheet, as canvases want it */
  get (name: string): string {
    const known = this.#colours.get(name)

    if (known != null) {
      return known
    }

    this.#probe.style.color = `var(--${name})`
    const { color } = getComputedStyle(this.#probe)
    this.#colours.set(name, color)

    return color
  }

  ofStream (id: number): string {
    return this.get(id === 0 ? 'control' : id === URGENT_ID ? 'urgent' : `stream-${((id - URGENT_ID) / ID_STEP - 1) % BULK_COLOURS}`)
  }
}

export function isUrgent (id: number): boolean {
  return id === URGENT_ID
}
