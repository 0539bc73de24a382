// Seeds that have found a bug of ours. What they do changes with the plan: each bug has its own test, too.

export interface PinnedSeed {
  seed: number
  bug: string
}

export const pinnedSeeds: PinnedSeed[] = [
  { seed: 248, bug: 'onDrain() of a stream that had ended never settled' },
  { seed: 21_342, bug: 'a loop within a frame never ended when this side closed the connection' },
  { seed: 28_271, bug: 'what had come before the end of the connection was delivered after an abort' }
]
