// Seeds that find a bug of ours that 2,000 seeds do not. What they do changes with the plan: `npm run mutants` tells when one has drifted.

export interface PinnedSeed {
  seed: number
  bug: string
}

export const pinnedSeeds: PinnedSeed[] = [
  { seed: 21_342, bug: 'a loop within a frame never ended when this side closed the connection' },
  { seed: 4695, bug: 'credit that was withheld after the last pong waited for a second, as no ping was on its way' }
]
