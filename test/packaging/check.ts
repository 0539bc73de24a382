// Installs a tarball of the package in projects of their own, and uses it as their authors would.
import { execFile } from 'node:child_process'
import { access, cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ping } from '@libp2p/ping'
import { webSockets } from '@libp2p/websockets'
import { chromium } from 'playwright'
import { launchOptions, setUpChromium } from '../../testing/browser/chromium.ts'
import { serveFolder } from '../../testing/browser/site.ts'
import { createNode } from '../../testing/libp2p/node.ts'

const PACKAGE = 'libp2p-coalescing-yamux'
/** What is loaded of it, by the condition under which it is imported */
const FILES = { node: /\/dist\/[^/]+\.js$/, browser: /\/dist\/browser\/[^/]+\.js$/, 'react-native': /\/dist\/browser\/[^/]+\.js$/ }
/** The entry, and what it shares with others */
const MAX_FILES_LOADED = 2
const RESOLUTIONS = ['bundler', 'node16', 'nodenext']
const INSTALL_TIMEOUT_MS = 120_000
const CONNECT_TIMEOUT_MS = 20_000

/** Returns what it writes */
async function run (cwd: string, command: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd, timeout: INSTALL_TIMEOUT_MS })

    return stdout
  } catch (err: any) {
    throw new Error(`${[command, ...args].join(' ')} failed\n${err.stdout}${err.stderr}`, { cause: err })
  }
}

/** A project of this folder with the tarball installed, in a place where it can see nothing of this repository */
async function install (name: string, tarball: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`))
  await cp(fileURLToPath(new URL(name, import.meta.url)), folder, { recursive: true })
  await run(folder, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball)

  return folder
}

/** Type-checks the declarations of the package and of libp2p too, and requires the package */
async function checkConsumer (folder: string): Promise<void> {
  for (const resolution of RESOLUTIONS) {
    await run(folder, join(folder, 'node_modules/.bin/tsc'), '-p', `tsconfig.${resolution}.json`)
    console.info(`type-checks with moduleResolution ${resolution}`)
  }

  await run(folder, process.execPath, 'required.cjs')
  console.info('can be required by CommonJS')

  await checkFilesLoaded(folder)
  await checkSourceMaps(join(folder, 'node_modules', PACKAGE))
}

/** Files, not milliseconds: with 60 of them an import took four times as long */
async function checkFilesLoaded (folder: string): Promise<void> {
  const { exports } = JSON.parse(await readFile(join(folder, 'node_modules', PACKAGE, 'package.json'), 'utf8'))

  for (const path of Object.keys(exports).filter(path => path !== './package.json')) {
    for (const [condition, pattern] of Object.entries(FILES)) {
      const entry = path.replace('.', PACKAGE)
      const files = (await run(folder, process.execPath, `--conditions=${condition}`, 'loaded.js', entry)).trim().split('\n')

      if (files.length > (path === '.' ? 1 : MAX_FILES_LOADED) || !files.every(file => pattern.test(file))) {
        throw new Error(`${entry} with the condition ${condition} loads\n${files.join('\n')}`)
      }
    }
  }

  console.info('loads a file for each entry')
}

/** Those of the code and of the declarations lead to what was packed, and to the package's own sources alone */
async function checkSourceMaps (folder: string): Promise<void> {
  const names = await readdir(join(folder, 'dist'), { recursive: true })
  const maps = names.filter(name => name.endsWith('.map')).map(name => join(folder, 'dist', name))
  const strays: string[] = []

  for (const map of maps) {
    const { sources }: { sources: string[] } = JSON.parse(await readFile(map, 'utf8'))

    for (const source of sources.map(source => resolve(dirname(map), source))) {
      const isPacked = await access(source).then(() => true, () => false)

      if (!source.startsWith(join(folder, 'src/')) || !isPacked) {
        strays.push(`${map}: ${source}`)
      }
    }
  }

  if (strays.length > 0) {
    throw new Error(`Maps lead elsewhere than to the package's sources\n${strays.join('\n')}`)
  }

  const stack = await run(folder, process.execPath, '--enable-source-maps', '--eval', `
    try { require('${PACKAGE}').yamux({ maxInboundStreams: -1 }) } catch (err) { console.info(err.stack) }
  `)

  if (!/yamux \(.*src.index\.ts:\d/.test(stack)) {
    throw new Error(`A stack does not name the sources\n${stack}`)
  }

  console.info('has maps that lead to its sources')
}

/** Runs an application's tests as Jest and Vitest do, in Node and in the pages that they imitate there */
async function checkRunners (folder: string): Promise<void> {
  await Promise.all([
    run(folder, process.execPath, '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'),
    run(folder, process.execPath, 'node_modules/vitest/vitest.mjs', 'run')
  ])
  console.info('echoes streams in the environments of Jest and Vitest')
}

/** What is for Node alone: pages would load it for nothing */
async function checkBundle (folder: string): Promise<void> {
  const scripts = (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.js'))
  const codes = await Promise.all(scripts.map(async name => readFile(join(folder, name), 'utf8')))

  if (!codes.some(code => code.includes(PACKAGE)) || codes.some(code => code.includes('getHeapSpaceStatistics'))) {
    throw new Error('The dapp\'s bundle lacks the muxer, or has what is for Node alone')
  }

  console.info('a bundle for browsers has nothing that is for Node alone')
}

/** Builds the dapp and lets it connect from Chromium to this process */
async function checkDapp (folder: string): Promise<void> {
  await run(folder, 'npm', 'run', 'build')
  await checkBundle(join(folder, 'dist'))
  const site = await serveFolder(join(folder, 'dist'))
  const peer = await createNode('ours', {
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0/ws'] },
    transports: [webSockets()],
    services: { ping: ping() }
  })
  await setUpChromium()
  const browser = await chromium.launch(launchOptions)

  try {
    const page = await browser.newPage()
    await page.goto(`${site.url}#${encodeURIComponent(peer.getMultiaddrs()[0].toString())}`)
    await page.waitForFunction(() => document.body.textContent !== '', undefined, { timeout: CONNECT_TIMEOUT_MS })
    const shown = await page.evaluate(() => document.body.textContent)

    if (!/^\/yamux\/1\.0\.0: \d+ ms$/.test(shown)) {
      throw new Error(`The dapp did not connect: ${shown}`)
    }

    console.info(`a dapp built by Vite connects: ${shown}`)
  } finally {
    await browser.close()
    await peer.stop()
    site.close()
  }
}

const folders: string[] = []

try {
  const tarball = resolve(process.argv[2])

  for (const [name, check] of Object.entries({ consumer: checkConsumer, runners: checkRunners, dapp: checkDapp })) {
    const folder = await install(name, tarball)
    folders.push(folder)
    await check(folder)
  }
} finally {
  await Promise.all(folders.map(async folder => rm(folder, { recursive: true, force: true })))
}
