// What Cargo.lock says without its registry: `node crates.ts pin` makes one of crates.lock, for the registry that Cargo has here, and `keep` the reverse.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const lock = new URL('Cargo.lock', import.meta.url)
const pinned = new URL('crates.lock', import.meta.url)

if (!existsSync(lock)) {
  execFileSync('cargo', ['generate-lockfile', '--quiet'], { cwd: new URL('.', import.meta.url), stdio: 'inherit' })
}

const found = readFileSync(lock, 'utf8')
const [source] = /^source = .*\n/m.exec(found) ?? []

if (process.argv[2] === 'keep') {
  writeFileSync(pinned, found.replaceAll(/^source = .*\n/gm, ''))
} else {
  writeFileSync(lock, readFileSync(pinned, 'utf8').replaceAll(/^checksum = /gm, `${source}checksum = `))
}
