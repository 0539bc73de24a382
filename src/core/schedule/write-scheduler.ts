/**
 * What goes out next, given a budget of bytes: control first, then the streams' data in fair turns. Hot.
 */
import { ControlLane } from './control-lane.ts'
import { DataLane } from './data-lane.ts'
import type { WriteBatch } from '../flush/write-batch.ts'
import type { ControlLaneInit } from './control-lane.ts'
import type { DataLaneInit } from './data-lane.ts'

export class WriteScheduler<Owner> {
  readonly control: ControlLane<Owner>
  readonly data: DataLane<Owner>

  constructor (init: ControlLaneInit<Owner> & DataLaneInit<Owner>) {
    this.control = new ControlLane(init)
    this.data = new DataLane(init)
  }

  get hasOutput (): boolean {
    return this.control.hasOutput || this.data.streamCount > 0
  }

  /** There is more than acknowledgements */
  get hasPressingOutput (): boolean {
    return this.data.streamCount > 0 || this.control.hasMoreThanAcks
  }

  fill (batch: WriteBatch, maxFrames: number, nowMs: number): void {
    this.control.fill(batch, maxFrames, nowMs)
    this.data.fill(batch, maxFrames, nowMs)
  }
}
