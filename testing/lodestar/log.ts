// What libp2p and its components log as errors, and what else goes wrong in a process, kept to look at.
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

/** All that goes wrong in this process and is not to end it */
export function collectFailures (): { failures: string[], onFailure (what: string, err: unknown): void } {
  const failures: string[] = []

  function onFailure (what: string, err: unknown): void {
    failures.push(`${what}: ${err instanceof Error ? err.stack : String(err)}`)
  }

  process.on('uncaughtException', err => { onFailure('uncaught', err) })
  process.on('unhandledRejection', err => { onFailure('unhandled', err) })
  process.on('warning', warning => { onFailure('warning', warning) })

  return { failures, onFailure }
}
