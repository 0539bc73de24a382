/** A control in front of another one: forwards everything. Extend it, and override what yours does otherwise. */
import type { PathBound, PathControl, PathFigures, WritePlan } from '../core/path-control.ts'

export class ForwardingControl implements PathControl {
  protected readonly inner: PathControl

  constructor (inner: PathControl) {
    this.inner = inner
  }

  get isHeld (): boolean { return this.inner.isHeld }
  get isUrgentSpent (): boolean { return this.inner.isUrgentSpent }
  get isMarkOwed (): boolean { return this.inner.isMarkOwed }
  get leavesRoomFromBytes (): number { return this.inner.leavesRoomFromBytes }
  get bound (): PathBound { return this.inner.bound }
  get lookDelayMs (): number { return this.inner.lookDelayMs }

  isQuietFor (byteLength: number): boolean {
    return this.inner.isQuietFor(byteLength)
  }

  planWrite (recordBytes: number, queuedBytes: number, streamCount: number, hasUrgent: boolean): Readonly<WritePlan> {
    return this.inner.planWrite(recordBytes, queuedBytes, streamCount, hasUrgent)
  }

  onWritten (byteLength: number, nowMs: number, isAppLimited: boolean, urgentBytes: number, hasData: boolean): boolean {
    return this.inner.onWritten(byteLength, nowMs, isAppLimited, urgentBytes, hasData)
  }

  mark (nowMs: number): number | undefined {
    return this.inner.mark(nowMs)
  }

  oweMark (isLast?: boolean): boolean {
    return this.inner.oweMark(isLast)
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

  letGo (nowMs: number): void {
    this.inner.letGo(nowMs)
  }

  end (): void {
    this.inner.end()
  }

  figures (nowMs: number): PathFigures | undefined {
    return this.inner.figures(nowMs)
  }
}
