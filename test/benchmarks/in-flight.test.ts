// What the uplink's benchmark calls in flight, from what two processes noted at instants of their own.
import { expect, test } from 'vitest'
import { inFlightBytes } from '../../benchmarks/uplink/in-flight.ts'
import type { Instant } from '../../benchmarks/uplink/in-flight.ts'

const handedDown = (...entries: Array<[atMs: number, bytes: number]>): Instant[] => entries.map(([atMs, handedDownBytes]) => ({ atMs, handedDownBytes, arrivedBytes: 0 }))
const arrived = (...entries: Array<[atMs: number, bytes: number]>): Instant[] => entries.map(([atMs, arrivedBytes]) => ({ atMs, handedDownBytes: 0, arrivedBytes }))

test('what came between two instants of the receiver counts by the part of the time that had passed', () => {
  expect(inFlightBytes(handedDown([25, 1000]), arrived([20, 400], [40, 800]))).toEqual([500])
})

test('a receiver that noted nothing for a while is not taken to have received nothing', () => {
  expect(inFlightBytes(handedDown([20, 1000], [220, 3000]), arrived([0, 0], [300, 3000]))).toEqual([800, 800])
})

test('instants that the receiver has none around are left out', () => {
  expect(inFlightBytes(handedDown([10, 1000], [50, 1000]), arrived([20, 400], [40, 800]))).toEqual([])
})
