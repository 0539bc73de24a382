// The command line, and who may be a target.
import { isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { CASES, select } from './cases/index.ts'
import type { Case, Need } from './case.ts'

export const USAGE = `Usage: npm run conformance -- <host:port> [options]

Tries an implementation of yamux that listens there, case by case.

  --listen           listen on <host:port> instead; the target dials, again for each case
  --raw              yamux on bare TCP (the default)
  --libp2p           multistream-select, Noise and yamux on TCP
  --protocol <name>  what streams echo in libp2p (/echo/1.0.0)
  --no-echo          the target only listens: run what needs no echo
  --opens            the target also opens a stream on each connection and writes on it, as identify does in libp2p;
                     with --raw it sends back what comes on it too
  --case <number>    only this case (4.2) or group (4); may be repeated
  --json <file>      write all results
  --junit <file>     write them as JUnit's XML
  --tap              print them in the Test Anything Protocol instead of the table
  --remote           allow a target that is not on this machine
  -h, --help         print this

Exit status: 0 if no must fails, 1 if one does, 2 if nothing could be run.
`

export interface Options {
  host: string
  port: number
  listen: boolean
  libp2p: boolean
  protocol: string
  has: Need[]
  cases: Case[]
  jsonFile?: string
  junitFile?: string
  tap: boolean
}

/** Of the command line: nothing was sent yet */
export class UsageError extends Error {}

/** This machine, by name or address */
export function isLocal (host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

export function parseOptions (args: string[]): Options | 'help' {
  const { values, positionals } = parse(args)

  if (values.help) {
    return 'help'
  }

  const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(positionals[0] ?? '') ?? []

  if (positionals.length !== 1 || host == null || Number(port) > 65_535) {
    throw new UsageError('Needs one address, as in 127.0.0.1:4001')
  }

  if (values.raw && values.libp2p) {
    throw new UsageError('--raw and --libp2p exclude each other')
  }

  if (!values.remote && !isLocal(host)) {
    throw new UsageError(`${host} may be another machine's. The suite sends what is malformed, and floods: use --remote only for a target of your own`)
  }

  const unknown = values.case?.find(number => select(number).length === 0)

  if (unknown != null) {
    throw new UsageError(`There is no case or group ${unknown}`)
  }

  return {
    host,
    port: Number(port),
    listen: values.listen,
    libp2p: values.libp2p,
    protocol: values.protocol,
    has: [...(values['no-echo'] ? [] : values.listen ? ['echo'] as const : ['echo', 'two connections'] as const), ...(values.opens ? ['opener'] as const : []), ...(values.opens && !values.libp2p ? ['echoing opener'] as const : [])],
    cases: values.case == null ? CASES : CASES.filter(one => values.case?.some(number => select(number).includes(one))),
    jsonFile: values.json,
    junitFile: values.junit,
    tap: values.tap
  }
}

function parse (args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        listen: { type: 'boolean', default: false },
        raw: { type: 'boolean', default: false },
        libp2p: { type: 'boolean', default: false },
        protocol: { type: 'string', default: '/echo/1.0.0' },
        'no-echo': { type: 'boolean', default: false },
        opens: { type: 'boolean', default: false },
        case: { type: 'string', multiple: true },
        json: { type: 'string' },
        junit: { type: 'string' },
        tap: { type: 'boolean', default: false },
        remote: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
  } catch (error: any) {
    throw new UsageError(error.message)
  }
}
