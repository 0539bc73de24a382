/**
 * What goes out next, given a budget of bytes: control first, then the streams' data, lane by lane. Hot.
 */
import { ControlLane } from './control-lane.ts'
import { DataLanes } from './data-lanes.ts'
import type { WriteBatch } from '../flush/write-batch.ts'
import type { ControlLaneInit } from './control-lane.ts'
import type { DataLaneInit } from './data-lane.ts'

export class WriteScheduler<Owner> {
  readonly control: ControlLane<Owner>
  readonly data: DataLanes<Owner>

  constructor (init: ControlLaneInit<Owner> & DataLaneInit<Owner>) {
    this.control = new ControlLane(init)
    this.data = new DataLanes(init)
  }

  get hasOutput (): boolean {
    return this.control.hasOutput || this.data.streamCount > 0
  }

  /** `reservedBytes` of the batch are left to control and urgent data */
  fill (batch: WriteBatch, maxFrames: number, reservedBytes: number, nowMs: number): void {
    this.control.fill(batch, maxFrames, nowMs)
    this.data.fill(batch, maxFrames, reservedBytes, nowMs)
  }
}
