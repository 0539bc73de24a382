// Runs lanes of commands side by side. What a lane says is shown when it is over, so that lines stay together; the first that fails ends the others.
import { spawn } from 'node:child_process'

const lanes = process.argv.slice(2).map(commands => {
  const startMs = performance.now()
  console.info(`=== begins: ${commands}`)
  // a group of its own, so that all it has started can be ended; one pipe, so that errors stand where they came
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${commands}`], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const said = []
  child.stdout.on('data', bytes => { said.push(bytes) })
  child.once('close', (code, signal) => {
    process.stdout.write(`\n=== ${((performance.now() - startMs) / 1000).toFixed(0)} s: ${commands}\n${Buffer.concat(said)}`)

    if (code !== 0) {
      console.error(`=== ${signal ?? `status ${code}`}: ${commands}`)
      process.exitCode ||= code ?? 1
      end()
    }
  })

  return child
})

function end () {
  for (const { pid } of lanes) {
    try {
      process.kill(-pid, 'SIGTERM')
    } catch {
      // it is over
    }
  }
}

process.once('SIGINT', end)
process.once('SIGTERM', end)
