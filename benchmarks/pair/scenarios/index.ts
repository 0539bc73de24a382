// All scenarios by name.
import { file } from './file.ts'
import { messages } from './messages.ts'
import { requests } from './requests.ts'
import type { ScenarioName } from '../../rows.ts'
import type { Scenario } from './scenario.ts'

export const scenarios: Record<ScenarioName, Scenario> = {
  file,
  messages,
  requests,
  'requests-on-one-stream': requests
}
