// Profiles what this process does with its CPU.
import { writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'

/** The returned function ends the profile and writes it to the path, for any tool that reads .cpuprofile */
export async function startProfiling (path: string): Promise<() => Promise<void>> {
  const session = new Session()

  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.start')

  return async () => {
    const { profile } = await session.post('Profiler.stop')

    session.disconnect()
    await writeFile(path, JSON.stringify(profile))
  }
}
