// What a case is: one rule, where it is written, and the conversation that tries it.
import type { Target } from './target.ts'

/** `must` decides the exit status; `informational` cases tell what a target does, and fail only with the connection that they need */
export const LEVELS = ['must', 'should', 'informational'] as const
export type Level = typeof LEVELS[number]

/** What a case asks of its target, and what is asked of whom in words */
export const NEEDS = {
  listener: 'takes connections',
  echo: 'sends back what comes on a stream that the suite opens, and closes it after the suite has',
  opener: 'opens a stream on each connection at once, writes on it, sends back what comes, and closes it after the suite has'
} as const
export type Need = keyof typeof NEEDS

export interface Case {
  /** Group and place in it, such as 4.2; kept when others are added */
  number: string
  /** A sentence that is true of a target that passes */
  title: string
  rule: string
  /** Where the rule is written */
  source: string
  level: Level
  needs: Need
  /** Public reports of implementations that went wrong here */
  reports?: string[]
  /** Rejects if the target breaks the rule; what an informational case returns is what the target does */
  talk (target: Target): Promise<string | void>
}

export interface Group {
  number: number
  name: string
  cases: Case[]
}

const SPECIFICATION = 'https://github.com/hashicorp/yamux/blob/master/spec.md'
const LIBP2P_SPECIFICATION = 'https://github.com/libp2p/specs/blob/master/yamux/README.md'

function anchor (section: string): string {
  return section.toLowerCase().replaceAll(' ', '-')
}

export function specification (section: string): string {
  return `${SPECIFICATION}#${anchor(section)}`
}

export function libp2pSpecification (section: string): string {
  return `${LIBP2P_SPECIFICATION}#${anchor(section)}`
}

/** Not written, and observed in all implementations of verdicts.md */
export const ALL_ACCEPT = 'all implementations accept'

/** Not written: what keeps a process alive on a network of strangers */
export const ALL_NEED = 'all implementations need'
