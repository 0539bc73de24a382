// The bound on bytes in flight, on drawn paths of all kinds, compared with no bound: who loses, who gains. `npm run simulate -- --paths 5000` goes on.
import { mean, quantile } from 'simple-statistics'
import { beforeAll, describe, expect, test } from 'vitest'
import { judge } from './paths/judge.ts'
import { drawMobile } from './paths/mobile.ts'
import { drawPlan, drawRequests } from './paths/plan.ts'
import type { Verdict } from './paths/judge.ts'

const SEEDS = 80
const REQUEST_SEEDS = 50
const MOBILE_SEEDS = 60
const TIMEOUT_MS = 300_000

let verdicts: Verdict[]

beforeAll(() => {
  verdicts = Array.from({ length: SEEDS }, (_, index) => judge(drawPlan(index + 1))).flat()
}, TIMEOUT_MS)

function goodputOf (isMeant: (verdict: Verdict) => boolean): number[] {
  return verdicts.filter(isMeant).map(({ goodput }) => goodput)
}

describe('with the bound bulk carries', () => {
  test('0.98 of what it does without, in the median', () => {
    expect(quantile(goodputOf(() => true), 0.5)).toBeGreaterThanOrEqual(0.98)
  })

  test('0.88 of it at least where a connection is alone and sends, however busy programs are and whatever becomes of pongs', () => {
    const goodput = goodputOf(({ isAlone, isTwoWay }) => isAlone && !isTwoWay)

    expect(Math.min(...goodput)).toBeGreaterThanOrEqual(0.88)
    expect(quantile(goodput, 0.05)).toBeGreaterThanOrEqual(0.94)
    expect(quantile(goodput, 0.5)).toBeGreaterThanOrEqual(0.998)
  })

  test('0.89 of it in nine of ten cases where up to 20 connections of a node send, on links that they share or do not', () => {
    expect(quantile(goodputOf(({ isAlone, isTwoWay }) => !isAlone && !isTwoWay), 0.1)).toBeGreaterThanOrEqual(0.89)
  })

  test('0.84 of it in the median where it goes both ways, and each end waits behind the other', () => {
    expect(quantile(goodputOf(({ isTwoWay }) => isTwoWay), 0.5)).toBeGreaterThanOrEqual(0.84)
  })
})

describe('an urgent message', () => {
  test('is no later than without it, within a tenth, in 97 of 100 cases', () => {
    const urgent = verdicts.map(({ urgent }) => urgent).filter(Number.isFinite)

    expect(urgent.length).toBeGreaterThan(130)
    expect(quantile(urgent, 0.97)).toBeLessThanOrEqual(1.1)
  })

  test('takes a quarter of the time in nine of ten cases where the path is what is slow, and less than 0.04 in half of them', () => {
    const urgent = verdicts.filter(({ isSlow, urgent }) => isSlow && Number.isFinite(urgent)).map(({ urgent }) => urgent)

    expect(urgent.length).toBeGreaterThan(20)
    expect(quantile(urgent, 0.9)).toBeLessThanOrEqual(0.25)
    expect(quantile(urgent, 0.5)).toBeLessThanOrEqual(0.04)
  })
})

describe('answers to requests, up to 20 of 1 KiB to 1 MiB at once on each connection,', () => {
  let requests: Verdict[]

  beforeAll(() => {
    requests = Array.from({ length: REQUEST_SEEDS }, (_, index) => judge(drawRequests(index + 1))).flat()
  }, TIMEOUT_MS)

  test('come at the pace that they have without the bound: 0.99 in the median, 0.95 in nine of ten cases', () => {
    const paces = requests.map(({ goodput }) => goodput)

    expect(paces.length).toBeGreaterThan(70)
    expect(quantile(paces, 0.5)).toBeGreaterThanOrEqual(0.99)
    expect(quantile(paces, 0.1)).toBeGreaterThanOrEqual(0.95)
  })

  test('come at 0.85 of it at least where a connection is alone', () => {
    expect(Math.min(...requests.filter(({ isAlone }) => isAlone).map(({ goodput }) => goodput))).toBeGreaterThanOrEqual(0.85)
  })
})

describe('on mobile links bulk carries', () => {
  let mobile: Verdict[]

  beforeAll(() => {
    mobile = Array.from({ length: MOBILE_SEEDS }, (_, index) => judge(drawMobile(index + 1))).flat()
  }, TIMEOUT_MS)

  const meanOf = (isMeantTwoWay: boolean): number => mean(mobile.filter(({ isTwoWay }) => isTwoWay === isMeantTwoWay).map(({ goodput }) => goodput))

  test('0.92 of what it does without the bound, in the mean', () => {
    expect(meanOf(false)).toBeGreaterThan(0.92)
  })

  // 0.64
  test('0.67 of it where both ends send', () => {
    expect(meanOf(true)).toBeGreaterThan(0.67)
  })
})
