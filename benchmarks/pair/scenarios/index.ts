// All scenarios by name.
import { besideBulk } from './beside-bulk.ts'
import { file } from './file.ts'
import { messages } from './messages.ts'
import { onePerTurn } from './one-per-turn.ts'
import { requests } from './requests.ts'
import { slowReader } from './slow-reader.ts'
import { storm } from './storm.ts'
import type { ScenarioName } from '../../rows.ts'
import type { Scenario } from './scenario.ts'

export const scenarios: Record<ScenarioName, Scenario> = {
  file,
  messages,
  requests,
  'requests-on-one-stream': requests,
  'beside-bulk': besideBulk,
  'one-per-turn': onePerTurn,
  'slow-reader': slowReader,
  storm
}
