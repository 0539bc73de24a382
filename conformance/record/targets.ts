// Whose verdicts are kept: how the echo target of each is started, and where its version is written.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILD_FOLDER } from '../../peers/list.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface RecordedTarget {
  /** Of its record */
  name: string
  implementation: string
  version: string
  /** Ends before the address to listen on and the mode */
  command: string[]
  libp2p: boolean
}

function versionIn (file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? 'unknown'
}

function javaScript (name: string, implementation: string, muxer: string, manifest: string): RecordedTarget {
  return { name, implementation, version: versionIn(manifest, /"version": "([^"]+)"/), command: [process.execPath, join(root, 'peers/javascript/echo.ts'), muxer], libp2p: false }
}

function go (name: string, implementation: string, module: string): RecordedTarget {
  return { name, implementation, version: versionIn('peers/go/go.mod', new RegExp(`${module} v(\\S+)`)), command: [join(BUILD_FOLDER, 'go', `${name}-echo`)], libp2p: false }
}

export const TARGETS: RecordedTarget[] = [
  go('go-yamux', 'go-yamux', 'go-yamux/v5'),
  go('hashicorp-yamux', 'hashicorp/yamux', 'hashicorp/yamux'),
  { name: 'rust-yamux', implementation: 'rust-yamux', version: versionIn('peers/rust/Cargo.toml', /^yamux = "=([^"]+)"/m), command: [join(BUILD_FOLDER, 'rust', 'release', 'rust-yamux-echo')], libp2p: false },
  {
    name: 'py-libp2p',
    implementation: 'py-libp2p',
    version: versionIn('peers/python/requirements.txt', /libp2p==(\S+)/),
    command: [join(BUILD_FOLDER, 'python', 'bin', 'python'), join(root, 'peers/python/echo.py')],
    libp2p: true
  },
  javaScript('libp2p-yamux', '@libp2p/yamux', 'stock', 'node_modules/@libp2p/yamux/package.json'),
  javaScript('chainsafe-libp2p-yamux', '@chainsafe/libp2p-yamux', 'chainsafe', 'node_modules/@chainsafe/libp2p-yamux/package.json'),
  javaScript('libp2p-coalescing-yamux', 'libp2p-coalescing-yamux', 'ours', 'package.json')
]
