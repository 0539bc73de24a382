// Which values the options take, and what is said about the others.
import { describe, expect, test } from 'vitest'
import { createConfig } from '../../src/config.ts'
import { yamux } from '../../src/index.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'

function init (path: string, value: unknown): YamuxMuxerInit {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as YamuxMuxerInit
}

test('without options all have the documented defaults', () => {
  expect(createConfig({})).toEqual({
    enableKeepAlive: true,
    keepAliveInterval: 30_000,
    maxInboundStreams: 1000,
    maxOutboundStreams: 1000,
    maxEarlyStreams: 10,
    frameBytes: 16_384,
    loneFrameBytes: 65_507,
    strategy: 'turn',
    maxBatchBytes: 65_519,
    mergesMessages: true,
    streamOptions: {
      initialStreamWindowSize: 262_144,
      maxStreamWindowSize: 16_777_216,
      inactivityTimeout: 120_000,
      maxReadBufferLength: 4_194_304,
      maxWriteBufferLength: Infinity
    }
  })
})

describe.each([
  ['keepAliveInterval', 1, 2 ** 31 - 1, [0, -1, 2 ** 31, NaN, '30']],
  ['maxInboundStreams', 0, Infinity, [-1, NaN]],
  ['maxOutboundStreams', 0, Infinity, [-1, NaN]],
  ['maxEarlyStreams', 0, Infinity, [-1, NaN]],
  ['maxMessageSize', 1024, Infinity, [1023, 1024.5]],
  ['streamOptions.initialStreamWindowSize', 262_144, 2 ** 32 - 1, [262_143, 2 ** 32, 262_144.5]],
  ['streamOptions.maxStreamWindowSize', 262_144, 2 ** 32 - 1, [262_143, 2 ** 32]],
  ['streamOptions.inactivityTimeout', 0, Infinity, [-1, NaN]],
  ['streamOptions.maxReadBufferLength', 0, Infinity, [-1, NaN]],
  ['streamOptions.maxWriteBufferLength', 0, Infinity, [-1, NaN]],
  ['coalesce.maxBytes', 2048, 2 ** 24, [2047, 2 ** 24 + 1, 4096.5]]
] as const)('%s', (path, min, max, refused) => {
  test(`takes ${min} and ${max}`, () => {
    expect(() => yamux(init(path, min))).not.toThrow()
    expect(() => yamux(init(path, max))).not.toThrow()
  })

  test.each(refused.map(value => ({ value })))('refuses $value, and names the option, the value and what is allowed', ({ value }) => {
    expect(() => yamux(init(path, value))).toThrow(expect.objectContaining({ name: 'InvalidParametersError' }))
    expect(() => yamux(init(path, value))).toThrow(new RegExp(`^${path} is ${String(value)}, it must be a (number from ${min} to ${max}|whole number)$`))
  })
})

test('a largest window below the initial one is refused', () => {
  expect(() => yamux({ streamOptions: { initialStreamWindowSize: 400_000, maxStreamWindowSize: 300_000 } }))
    .toThrow('streamOptions.maxStreamWindowSize is 300000, it must be a number from 400000 to 4294967295')
})

test('an unknown strategy is refused', () => {
  expect(() => yamux({ coalesce: { strategy: 'sometimes' as 'turn' } })).toThrow('coalesce.strategy is sometimes, it must be \'turn\' or \'off\'')
})

test('a delay other than 0 is refused', () => {
  expect(() => yamux({ coalesce: { delayMs: 2 as 0 } })).toThrow('coalesce.delayMs is 2, it must be a number from 0 to 0')
})

test('messages larger than 64 KiB are sent in frames of 64 KiB', () => {
  expect(createConfig({ maxMessageSize: 1_000_000 })).toMatchObject({ frameBytes: 65_536, loneFrameBytes: 65_536 })
})

test('options that are undefined count as left out', () => {
  expect(createConfig({ keepAliveInterval: undefined, streamOptions: { inactivityTimeout: undefined }, coalesce: undefined }))
    .toEqual(createConfig({}))
})
