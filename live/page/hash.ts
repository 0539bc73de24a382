/**
 * The setup in the address of the page, so that it can be shared.
 */
import { CHOICES, SETTINGS } from '../setup.ts'
import type { Setup } from '../setup.ts'

export function toHash (setup: Setup): string {
  return String(new URLSearchParams(SETTINGS.map(setting => [setting, String(setup[setting])])))
}

/** What is missing, or cannot be chosen, is that of `fallback` */
export function fromHash (hash: string, fallback: Setup): Setup {
  const values = new URLSearchParams(hash.replace(/^#/, ''))
  const chosen = SETTINGS.map(setting => [setting, CHOICES[setting].find(value => String(value) === values.get(setting)) ?? fallback[setting]])

  return Object.fromEntries(chosen)
}
