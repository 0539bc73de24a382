// Prints how many milliseconds a fixed loop takes on one core, so that machines can be compared. It is a program of its own: the Node options of a
// benchmark do not affect it.
import { median } from 'simple-statistics'

const ROUNDS = 5
const STEPS = 50_000_000

/** An xorshift, whose steps cannot overlap */
function loopMs (): number {
  const startMs = performance.now()
  let state = 1

  for (let i = 0; i < STEPS; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
  }

  if (state === 0) {
    throw new Error('An xorshift is never 0')
  }

  return performance.now() - startMs
}

console.info(median(Array.from({ length: ROUNDS }, loopMs)))
