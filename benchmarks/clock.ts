// One clock for all processes of a machine.

/** Milliseconds of the system's monotonic clock, which has the same zero everywhere, unlike performance.timeOrigin */
export function nowMs (): number {
  return Number(process.hrtime.bigint()) / 1e6
}
