// Which values the options take, and what is said about the others.
import { describe, expect, test } from 'vitest'
import { createConfig } from '../../src/options/config.ts'
import { NodeBudget } from '../../src/core/window/node-budget.ts'
import { NORMAL } from '../../src/core/scheduler/lane.ts'
import { yamux } from '../../src/index.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'

function init (path: string, value: unknown): YamuxMuxerInit {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as YamuxMuxerInit
}

test('without options all have the documented defaults', () => {
  const { laneOf, ...config } = createConfig({})

  expect(laneOf('/any/1.0.0')).toBe(NORMAL)
  expect(config).toEqual({
    enableKeepAlive: true,
    keepAliveInterval: 30_000,
    maxInboundStreams: 1000,
    maxOutboundStreams: 1000,
    maxQueueDelayMs: 10,
    maxPeerQueueDelayMs: undefined,
    maxEarlyStreams: 10,
    frameBytes: 16_384,
    loneFrameBytes: 65_507,
    maxFrameBytes: 1_048_292,
    strategy: 'turn',
    delayMs: 2,
    maxDelayMs: 2,
    recordBytes: 65_519,
    maxWriteBytes: 1_048_304,
    watermarkBytes: 65_519 * 0.8,
    reservedBytes: 16_379,
    mergeFromBytes: 16_384,
    creditsOnReceipt: false,
    maxGrowthBytes: 33_554_432,
    nodeBudget: new NodeBudget(Infinity),
    maxToleratedBytes: 3_932_160,
    maxUnansweredStreams: 10,
    tuneGarbageCollection: true,
    streamOptions: {
      initialStreamWindowSize: 262_144,
      maxStreamWindowSize: 16_777_216,
      inactivityTimeout: Infinity,
      maxReadBufferLength: 4_194_304,
      maxWriteBufferLength: Infinity
    },
    limits: {
      pings: { burst: 10_000, perSecond: 1000 },
      resets: { burst: 10_000, perSecond: 200 },
      emptyFrames: { burst: 10_000, perSecond: 1000 },
      refusedStreams: { burst: 10_000, perSecond: 1000 },
      unknownStreamFrames: { burst: 100_000, perSecond: 10_000 },
      openTimeoutMs: 75_000,
      closeTimeoutMs: 300_000,
      writeTimeoutMs: 60_000,
      maxNodeWindow: Infinity
    }
  })
})

describe.each([
  ['keepAliveInterval', 1, Infinity, [0, -1, NaN, '30']],
  ['maxInboundStreams', 0, Infinity, [-1, NaN]],
  ['maxOutboundStreams', 0, Infinity, [-1, NaN]],
  ['maxEarlyStreams', 0, Infinity, [-1, NaN]],
  ['maxConnectionWindow', 0, Infinity, [-1, 0.5]],
  ['maxMessageSize', 1024, Infinity, [1023, 1024.5]],
  ['streamOptions.initialStreamWindowSize', 262_144, 2 ** 32 - 1, [262_143, 2 ** 32, 262_144.5]],
  ['streamOptions.maxStreamWindowSize', 262_144, 2 ** 32 - 1, [262_143, 2 ** 32]],
  ['streamOptions.inactivityTimeout', 0, Infinity, [-1, NaN]],
  ['streamOptions.maxReadBufferLength', 0, Infinity, [-1, NaN]],
  ['streamOptions.maxWriteBufferLength', 0, Infinity, [-1, NaN]],
  ...['pings', 'resets', 'emptyFrames', 'refusedStreams', 'unknownStreamFrames'].flatMap(name => [
    [`limits.${name}.burst`, 0, Infinity, [-1, NaN, '1']] as const,
    [`limits.${name}.perSecond`, 0, 1e9, [-1, Infinity, NaN]] as const
  ]),
  ['limits.openTimeoutMs', 1, Infinity, [0, NaN]],
  ['limits.closeTimeoutMs', 1, Infinity, [0, NaN]],
  ['limits.writeTimeoutMs', 1, Infinity, [0, NaN]],
  ['limits.maxNodeWindow', 0, Infinity, [-1, 0.5, NaN]],
  ['coalesce.maxBytes', 2048, 2 ** 24, [2047, 2 ** 24 + 1, 4096.5]],
  ['coalesce.delayMs', 0, 1000, [-1, 1001, NaN]],
  ['coalesce.maxDelayMs', 0, 1000, [-1, 1001, NaN]]
] as const)('%s', (path, min, max, refused) => {
  test(`takes ${min} and ${max}`, () => {
    expect(() => yamux(init(path, min))).not.toThrow()
    expect(() => yamux(init(path, max))).not.toThrow()
  })

  test.each(refused.map(value => ({ value })))('refuses $value, and names the option, the value and what is allowed', ({ value }) => {
    expect(() => yamux(init(path, value))).toThrow(expect.objectContaining({ name: 'InvalidParametersError' }))
    expect(() => yamux(init(path, value))).toThrow(new RegExp(`^${path} is ${typeof value === 'string' ? `"${value}"` : value}, it must be a (whole )?number from ${min} to ${max}$`))
  })
})

test('a largest window below the initial one is refused', () => {
  expect(() => yamux({ streamOptions: { initialStreamWindowSize: 400_000, maxStreamWindowSize: 300_000 } }))
    .toThrow('streamOptions.maxStreamWindowSize is 300000, it must be a whole number from 400000 to 4294967295')
})

test('an unknown strategy is refused', () => {
  expect(() => yamux({ coalesce: { strategy: 'sometimes' as 'turn' } })).toThrow('coalesce.strategy is "sometimes", it must be \'turn\' or \'delay\' or \'adaptive\' or \'off\'')
})

test.each([
  [{ delayMs: 5 }, 'delay'],
  [{ maxDelayMs: 5 }, 'adaptive'],
  [{ delayMs: 0 }, 'off'],
  [{ delayMs: 0, strategy: 'delay' }, 'off'],
  [{}, 'turn']
] as const)('%o means the strategy %s', (coalesce, strategy) => {
  expect(createConfig({ coalesce }).strategy).toBe(strategy)
})

test.each([
  [{ strategy: 'turn', delayMs: 2 }, 'coalesce.delayMs is 2, which has no effect with strategy \'turn\', only with \'delay\''],
  [{ strategy: 'turn', delayMs: 0 }, 'coalesce.delayMs is 0, which has no effect with strategy \'turn\', only with \'delay\' or \'off\''],
  [{ strategy: 'adaptive', delayMs: 2 }, 'coalesce.delayMs is 2, which has no effect with strategy \'adaptive\', only with \'delay\''],
  [{ delayMs: 0, maxDelayMs: 2 }, 'coalesce.maxDelayMs is 2, which has no effect with strategy \'off\', only with \'adaptive\''],
  [{ delayMs: 0, highWatermark: 0.5 }, 'coalesce.highWatermark is 0.5, which has no effect with strategy \'off\', only with \'delay\' or \'adaptive\''],
  [{ strategy: 'delay', delayMs: 0, highWatermark: 0.5 }, 'coalesce.highWatermark is 0.5, which has no effect with strategy \'off\', only with \'delay\' or \'adaptive\''],
  [{ delayMs: 2, maxDelayMs: 2 }, 'coalesce.maxDelayMs is 2, which has no effect with strategy \'delay\', only with \'adaptive\''],
  [{ highWatermark: 0.5 }, 'coalesce.highWatermark is 0.5, which has no effect with strategy \'turn\', only with \'delay\' or \'adaptive\'']
] as const)('%o are in conflict', (coalesce, message) => {
  expect(() => yamux({ coalesce })).toThrow(expect.objectContaining({ name: 'InvalidParametersError', message }))
})

test.each([0, 0.009, -0.1, 1.1, NaN])('a watermark of %d is refused', highWatermark => {
  expect(() => yamux({ coalesce: { delayMs: 2, highWatermark } })).toThrow(/^coalesce.highWatermark is \S+, it must be a number from/)
})

test('the watermark is a part of what a write holds', () => {
  expect(createConfig({ coalesce: { delayMs: 2, maxBytes: 10_000, highWatermark: 0.5 } })).toMatchObject({ watermarkBytes: 5000 })
})

test('more may not be reserved for urgent data than leaves a frame to others', () => {
  expect(createConfig({ coalesce: { maxBytes: 4096, reservedBytes: 3072 } })).toMatchObject({ reservedBytes: 3072 })
  expect(() => yamux({ coalesce: { maxBytes: 4096, reservedBytes: 3073 } }))
    .toThrow('coalesce.reservedBytes is 3073, it must be at most 3072, which is 1024 less than coalesce.maxBytes')
})

test('a quarter of a small write is reserved when nothing is said', () => {
  expect(createConfig({ coalesce: { maxBytes: 4096 } })).toMatchObject({ reservedBytes: 1024 })
})

test('an unknown window update mode is refused', () => {
  expect(() => yamux({ windowUpdateMode: 'never' as 'onRead' })).toThrow('windowUpdateMode is "never", it must be \'onRead\' or \'onReceive\'')
})

test.each([
  ['enableKeepAlive', 'no', 'enableKeepAlive is "no", it must be true or false'],
  ['coalesce.mergeMessages', 0, 'coalesce.mergeMessages is 0, it must be \'backlog\' or true or false'],
  ['keepAliveInterval', Object.create(null), 'keepAliveInterval is a value of type object that cannot be printed, it must be a number from 1 to Infinity'],
  ['streamOptions', 'large', 'streamOptions is "large", it must be an object'],
  ['coalesce', false, 'coalesce is false, it must be an object'],
  ['limits', 5, 'limits is 5, it must be an object'],
  ['limits', [5], 'limits is 5, it must be an object'],
  ['coalesce', new Map([['strategy', 'off']]), 'coalesce is [object Map], it must be an object'],
  ['limits.pings', 100, 'limits.pings is 100, it must be an object'],
  ['pathControl', 'none', 'pathControl is "none", it must be a function that makes a PathControl'],
  ['pathControl', { isHeld: false }, 'pathControl is [object Object], it must be a function that makes a PathControl'],
  ['priority', 'urgent', 'priority is "urgent", it must be an object that maps protocol patterns to lanes, or a function'],
  ['priority', ['urgent'], 'priority is urgent, it must be an object that maps protocol patterns to lanes, or a function'],
  ['priority', Promise.resolve({}), 'priority is [object Promise], it must be an object that maps protocol patterns to lanes, or a function'],
  ['priority', new Map([['/a', 'urgent']]), 'priority is [object Map], it must be an object that maps protocol patterns to lanes, or a function']
])('%s is refused when it is %j', (path, value, message) => {
  expect(() => yamux(init(path, value))).toThrow(expect.objectContaining({ name: 'InvalidParametersError', message }))
})

test.each([[5], ['text'], [() => {}], [[]]])('yamux() takes no %j', init => {
  expect(() => yamux(init as YamuxMuxerInit)).toThrow(expect.objectContaining({ name: 'InvalidParametersError', message: expect.stringMatching(/^init is .*, it must be an object$/s) }))
})

test('all windows of a connection may grow by twice what one may have, unless said otherwise', () => {
  expect(createConfig({ streamOptions: { maxStreamWindowSize: 1_000_000 } }).maxGrowthBytes).toBe(2_000_000)
  expect(createConfig({ maxConnectionWindow: 50_000_000 }).maxGrowthBytes).toBe(50_000_000)
})

test('messages larger than 64 KiB are sent in frames of 64 KiB', () => {
  expect(createConfig({ maxMessageSize: 1_000_000 })).toMatchObject({ frameBytes: 65_536, loneFrameBytes: 65_536, maxFrameBytes: 1_000_000 })
})

test('options that are undefined count as left out', () => {
  expect({ ...createConfig({ keepAliveInterval: undefined, streamOptions: { inactivityTimeout: undefined }, coalesce: undefined }), laneOf: undefined })
    .toEqual({ ...createConfig({}), laneOf: undefined })
})

describe('a name that is no option', () => {
  const STREAM_OPTIONS = 'initialStreamWindowSize, maxStreamWindowSize, inactivityTimeout, maxReadBufferLength, maxWriteBufferLength'
  const COALESCE = 'strategy, delayMs, maxDelayMs, maxBytes, highWatermark, reservedBytes, maxQueueDelayMs, maxPeerQueueDelayMs, mergeMessages'
  const LIMITS = 'pings, resets, emptyFrames, refusedStreams, unknownStreamFrames, openTimeoutMs, closeTimeoutMs, writeTimeoutMs, maxNodeWindow'

  test.each([
    ['coalesce.dealyMs', COALESCE],
    ['coalesce.maxbytes', COALESCE],
    ['coalesce.coalesce', COALESCE],
    ['streamOptions.inactivityTimeoutMs', STREAM_OPTIONS],
    ['streamOptions.foo', STREAM_OPTIONS],
    ['limits.ping', LIMITS],
    ['limits.maxStreamWindowSize', LIMITS],
    ['limits.pings.brust', 'burst, perSecond'],
    ['limits.unknownStreamFrames.perSeconds', 'burst, perSecond']
  ])('%s is refused, and those of its section are named', (path, names) => {
    expect(() => yamux(init(path, 5))).toThrow(expect.objectContaining({ name: 'InvalidParametersError', message: `${path} is not an option, use one of: ${names}` }))
  })

  test('does no harm while it is undefined', () => {
    expect(() => yamux(init('coalesce.dealyMs', undefined))).not.toThrow()
  })

  test('is only reported at the top level, where libp2p passes on what it likes', () => {
    const reports: string[] = []
    createConfig({ maxInboundStream: 5, maxStreamWindowSize: 1, keepAliveInterval: 5, peerId: undefined } as YamuxMuxerInit, report => { reports.push(report) })

    const names = 'enableKeepAlive, keepAliveInterval, maxInboundStreams, maxOutboundStreams, maxEarlyStreams, maxMessageSize, windowUpdateMode, streamOptions, maxConnectionWindow, tuneGarbageCollection, priority, pathControl, coalesce, limits'
    expect(reports).toEqual([`maxInboundStream is not an option, use one of: ${names}`, `maxStreamWindowSize is not an option, use one of: ${names}`])
  })
})
