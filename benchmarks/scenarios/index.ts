// All scenarios by name.
import { file } from './file.ts'
import { messages } from './messages.ts'
import { requests } from './requests.ts'
import type { Row } from '../rows.ts'
import type { Scenario } from './scenario.ts'

export const scenarios: Record<Row['scenario'], Scenario> = { file, messages, requests, 'requests-on-one-stream': requests }
