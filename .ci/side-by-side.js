// Runs lanes of commands side by side. What a lane says is shown when it is over, so that lines stay together; the first that fails ends the others, and is shown behind them.
import { spawn } from 'node:child_process'

let failed

const lanes = process.argv.slice(2).map(commands => {
  const startMs = performance.now()
  console.info(`=== begins: ${commands}`)
  // a group of its own, so that all it has started can be ended; one pipe, so that errors stand where they came
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${commands}`], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const said = []
  child.stdout.on('data', bytes => { said.push(bytes) })

  const over = new Promise(resolve => {
    child.once('close', (code, signal) => {
      const show = () => { process.stdout.write(`\n=== ${((performance.now() - startMs) / 1000).toFixed(0)} s, ${signal ?? `status ${code}`}: ${commands}\n${Buffer.concat(said)}`) }

      if (code === 0 || failed != null) {
        show()
      } else {
        failed = show
        process.exitCode = code ?? 1
        end()
      }

      resolve()
    })
  })

  return { pid: child.pid, over }
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

await Promise.all(lanes.map(async ({ over }) => over))
failed?.()
