/**
 * Watches the process, or the page, for what must never happen: errors that nobody caught.
 */
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { nextTurn } from './raw-peer.ts'

interface Emitter {
  on (event: string, listener: (incident: unknown) => void): void
  off (event: string, listener: (incident: unknown) => void): void
}

/** Node tells the process of them, browsers the page */
const emitter: Emitter = typeof process === 'object'
  ? process
  : {
      on: (event, listener) => { globalThis.addEventListener(event, listener) },
      off: (event, listener) => { globalThis.removeEventListener(event, listener) }
    }
const EVENTS = typeof process === 'object' ? ['unhandledRejection', 'uncaughtException'] : ['unhandledrejection', 'error']

/** To be called at the top of a test file: each of its tests fails when it leaves such an error behind */
export function forbidIncidents (): void {
  const incidents: unknown[] = []
  const onIncident = (incident: unknown): void => { incidents.push(incident) }

  beforeAll(() => {
    EVENTS.forEach(event => { emitter.on(event, onIncident) })
  })

  afterEach(async () => {
    await nextTurn()
    expect(incidents.splice(0)).toEqual([])
  })

  afterAll(() => {
    EVENTS.forEach(event => { emitter.off(event, onIncident) })
  })
}
