// Profiles what a process does with its CPU: the part of the process, and the part of who asks it to.
import { mkdir, writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'

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

/** In a round of their own, as profiling takes time itself */
export async function profileAll <Contestant extends { id: string }> (folder: string, name: string, contestants: Contestant[], measure: (contestant: Contestant, path: string) => Promise<unknown>): Promise<void> {
  await mkdir(folder, { recursive: true })

  for (const contestant of contestants) {
    await measure(contestant, join(folder, `${name}-${contestant.id}.cpuprofile`))
  }

  console.info(`Profiles of ${name} are in ${folder}`)
}
