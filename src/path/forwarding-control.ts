/** A control that forwards everything to another one. Extend it, and override the members that differ. */
import type { PeerControl } from '../core/peer-control.ts'
import type { PathControl, PathFigures, WritePlan } from '../core/path-control.ts'

export class ForwardingControl implements PathControl {
  protected readonly inner: PathControl

  constructor (inner: PathControl) {
    this.inner = inner
  }

  get peer (): PeerControl | undefined { return this.inner.peer }
  get isHeld (): boolean { return this.inner.isHeld }
  get isUrgentSpent (): boolean { return this.inner.isUrgentSpent }
  get isMarkDue (): boolean { return this.inner.isMarkDue }
  get leavesRoomFromBytes (): number { return this.inner.leavesRoomFromBytes }
  get fullWriteBytes (): number { return this.inner.fullWriteBytes }
  get lookDelayMs (): number { return this.inner.lookDelayMs }

  needsNoMark (byteLength: number): boolean {
    return this.inner.needsNoMark(byteLength)
  }

  planWrite (recordBytes: number, queuedBytes: number, streamCount: number, hasUrgent: boolean): Readonly<WritePlan> {
    return this.inner.planWrite(recordBytes, queuedBytes, streamCount, hasUrgent)
  }

  onWritten (byteLength: number, urgentBytes: number, hasData: boolean, isAppLimited: boolean, nowMs: number): boolean {
    return this.inner.onWritten(byteLength, urgentBytes, hasData, isAppLimited, nowMs)
  }

  mark (nowMs: number): number | undefined {
    return this.inner.mark(nowMs)
  }

  requestMark (isLast?: boolean): boolean {
    return this.inner.requestMark(isLast)
  }

  onPong (value: number, nowMs: number): boolean {
    return this.inner.onPong(value, nowMs)
  }

  onRoundTrip (positionBytes: number, roundTripMs: number, nowMs: number): void {
    this.inner.onRoundTrip(positionBytes, roundTripMs, nowMs)
  }

  onPing (value: number, nowMs: number): void {
    this.inner.onPing(value, nowMs)
  }

  onChunk (byteLength: number, nowMs: number): void {
    this.inner.onChunk(byteLength, nowMs)
  }

  onTransportFull (nowMs: number): void {
    this.inner.onTransportFull(nowMs)
  }

  look (nowMs: number): void {
    this.inner.look(nowMs)
  }

  onClosing (nowMs: number): void {
    this.inner.onClosing(nowMs)
  }

  end (): void {
    this.inner.end()
  }

  figures (nowMs: number): PathFigures | undefined {
    return this.inner.figures(nowMs)
  }
}
