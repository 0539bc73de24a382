// The frame around every benchmark: its children end with it, whatever ends it.
const INTERRUPTED_EXIT_CODE = 130

export interface Stoppable {
  stop(): void | Promise<void>
}

export type StopAtEnd = (started: Stoppable[]) => void

/** `main` names what it has started to the function that it gets */
export async function runBenchmark (main: (stopAtEnd: StopAtEnd) => Promise<void>): Promise<void> {
  const running: Stoppable[] = []
  let isInterrupted = false

  async function stopAll (): Promise<void> {
    await Promise.all(running.map(async child => child.stop()))
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      isInterrupted = true
      stopAll().catch(err => { console.error(err) })
    })
  }

  try {
    await main(started => { running.push(...started) })
  } catch (err) {
    process.exitCode = 1

    if (!isInterrupted) {
      console.error(`\nIt failed: ${err instanceof Error ? err.message : String(err)}`)
    }
  } finally {
    await stopAll()
  }

  if (isInterrupted) {
    process.exitCode = INTERRUPTED_EXIT_CODE
  }
}

/** Says of an error whose it is. Some of libp2p's have no message. */
export async function named <Result> (label: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (err) {
    throw new Error(`${label}: ${err instanceof Error ? err.message || err.name : String(err)}`, { cause: err })
  }
}

/** What is new for each measurement ends behind it, or with the benchmark */
export async function endAfter <Started extends Stoppable, Result> (started: Started, stopAtEnd: StopAtEnd, work: (started: Started) => Promise<Result>): Promise<Result> {
  stopAtEnd([started])

  try {
    return await work(started)
  } finally {
    await started.stop()
  }
}
