// What attacks of 1,000,000 frames cost: processor time and memory, in chunks as large as a Noise record and in chunks of one frame, from peers that read what they are answered and from peers that do not.
import { endure, measureHandover } from '../testing/hazards/attacked.ts'
import { ATTACKS } from '../testing/hazards/attacks.ts'
import { parseCount } from '../testing/programs/names.ts'
import { recordOptions, recordPathOf, thisBenchmark } from './harness/options.ts'
import { report } from './harness/report.ts'
import { readOptions } from '../testing/programs/options.ts'
import { format, renderGroups } from './harness/table.ts'
import { runBenchmark } from '../testing/programs/run.ts'
import type { Manner } from '../testing/hazards/attacked.ts'
import type { Sample } from './harness/samples.ts'

/** What fits into a Noise record, nearly */
const FRAMES_PER_RECORD = 5000
/** The bars: an attack costs less, or the connection ends before */
const MAX_CPU_S = 2
const MAX_BEYOND_WINDOWS_BYTES = 2 ** 20

/** A row with a manner in a muxer's place */
interface AttackSample extends Sample<'frameCount' | 'cpuS' | 'beyondWindowsKib'> {
  endedWith?: string
}

const headings = ['chunks of', 'peer reads', 'frames\nuntil the end', 'CPU s', 'held beyond\nwindows, KiB', 'ended by']

const legend = [
  'One muxer by itself, without Noise or sockets. CPU is of the process while it deals with the frames, less what it takes to',
  'hand over as many chunks to somebody who ignores them. Held is what the connection adds to heap and buffers behind a',
  'garbage collection, less the windows of its open streams, which the peer may fill.'
].join('\n')

await runBenchmark(async () => {
  const values = readOptions(thisBenchmark(), {
    ...recordOptions,
    frames: { takes: 'number', about: 'how many frames of each', default: '1000000' },
    attack: { takes: 'words', about: 'those that have this in their name', default: '' }
  })
  const frameCount = parseCount('frames', values.frames)
  const manners: Manner[] = [FRAMES_PER_RECORD, 1].flatMap(framesPerChunk => [true, false].map(isReading => ({ frameCount, framesPerChunk, isReading })))
  const attacks = ATTACKS.filter(({ name }) => name.includes(values.attack))

  if (attacks.length === 0) {
    throw new Error(`No attack has "${values.attack}" in its name, only ${ATTACKS.map(({ name }) => name).join(', ')}`)
  }

  const groups = []
  const samples: AttackSample[] = []
  const failures: string[] = []

  // the first warms up
  await endure(attacks[0], { ...manners[0], frameCount: 100_000 })
  await measureHandover({ ...manners[0], frameCount: 100_000 })
  const handoverS = new Map<Manner, number>()

  for (const manner of manners) {
    handoverS.set(manner, await measureHandover(manner) / frameCount)
  }

  for (const attack of attacks) {
    const lines: string[][] = []

    for (const manner of manners) {
      const outcome = await endure(attack, manner)
      const { frameCount, endedWith, beyondWindowsBytes: beyondBytes } = outcome
      const cpuS = Math.max(0, outcome.cpuS - frameCount * (handoverS.get(manner) ?? 0))
      const chunks = manner.framesPerChunk === 1 ? 'frames' : 'records'
      samples.push({ rowId: attack.name, muxer: `${chunks}, ${manner.isReading ? 'read' : 'unread'}`, endedWith, round: 1, metrics: { frameCount, cpuS, beyondWindowsKib: beyondBytes / 1024 } })
      lines.push([manner.framesPerChunk === 1 ? 'a frame' : 'a record', manner.isReading ? 'yes' : 'no', frameCount.toLocaleString('en'), format(cpuS), format(beyondBytes / 1024), endedWith ?? '-'])

      if (attack.isService !== true && (cpuS > (attack.maxCpuS ?? MAX_CPU_S) || beyondBytes > MAX_BEYOND_WINDOWS_BYTES)) {
        failures.push(`${attack.name}: ${format(cpuS)} s, ${format(beyondBytes / 1024)} KiB`)
      }
    }

    groups.push({ label: attack.name, lines })
    console.info(attack.name)
  }

  await report({ tables: [renderGroups(headings, groups)], extent: `${frameCount.toLocaleString('en')} frames of each`, legend, json: recordPathOf(values), measured: { samples } })

  if (failures.length > 0) {
    throw new Error(`over ${MAX_CPU_S} s or ${MAX_BEYOND_WINDOWS_BYTES / 1024} KiB:\n${failures.join('\n')}`)
  }
})
