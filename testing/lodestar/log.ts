// What libp2p and its components log as errors, kept to look at.
import { formatWithOptions } from 'node:util'
import type { ComponentLogger, Logger } from '@libp2p/interface'

export interface ErrorLog {
  logger: ComponentLogger
  errors: string[]
}

function ignore (): void {}

export function createErrorLog (): ErrorLog {
  const errors: string[] = []

  function createLogger (name: string): Logger {
    const error = (message: any, ...details: any[]): void => {
      // libp2p's own formatters, such as %e, are not Node's; the details follow the message
      errors.push(`${name}: ${formatWithOptions({ depth: 1 }, message, ...details)}`)
    }

    return Object.assign(() => {}, { error, trace: ignore, enabled: false, newScope: (scope: string) => createLogger(`${name}:${scope}`) })
  }

  return { errors, logger: { forComponent: createLogger } }
}
