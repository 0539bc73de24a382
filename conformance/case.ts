// What a case is: one rule, where it is written, and the conversation that tries it.
import type { Target } from './target.ts'

/** `must` decides the exit status. `informational` cases record what a target does, and fail only if it does not answer. */
export const LEVELS = ['must', 'should', 'informational'] as const
export type Level = typeof LEVELS[number]

/** What a case asks of its target: a target that ... */
export const NEEDS = {
  listener: 'takes connections',
  echo: 'sends back what comes on a stream that the suite opens, and closes it after the suite has',
  'two connections': 'listens, and echoes on two connections at the same time',
  opener: 'opens a stream as soon as a connection is up, and writes on it, as identify does in libp2p',
  'echoing opener': 'opens a stream as soon as a connection is up, writes on it, and sends back what comes on it'
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
  /** Public reports of implementations that went wrong here, as their repositories number them */
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

/** Not written, and so in all implementations of verdicts.md, or they could not talk with each other */
export const ALL_ACCEPT = 'not written: all implementations accept it'

/** Not written: strangers connect */
export const SAFETY = 'not written: memory and processes have an end'

export const NOT_ENDED = 'What comes from the network must not end the process.'
