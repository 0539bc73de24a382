// Installs a tarball of the package in projects of their own, and uses it as their authors would.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ping } from '@libp2p/ping'
import { webSockets } from '@libp2p/websockets'
import { chromium } from 'playwright'
import { launchOptions, setUpChromium } from '../../testing/browser/chromium.ts'
import { serveFolder } from '../../testing/browser/site.ts'
import { createNode } from '../../testing/libp2p/node.ts'

const RESOLUTIONS = ['bundler', 'node16', 'nodenext']
const INSTALL_TIMEOUT_MS = 120_000
const CONNECT_TIMEOUT_MS = 20_000

async function run (cwd: string, command: string, ...args: string[]): Promise<void> {
  try {
    await promisify(execFile)(command, args, { cwd, timeout: INSTALL_TIMEOUT_MS })
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

  if (!codes.some(code => code.includes('libp2p-coalescing-yamux')) || codes.some(code => code.includes('getHeapSpaceStatistics'))) {
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
