/**
 * The Chromium that a dev dependency carries, so that nothing has to be installed: where it is, how it is started.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inflate } from '@sparticuz/chromium'
import type { LaunchOptions } from 'playwright'

const packed = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..')
const { version } = createRequire(import.meta.url)(join(packed, 'package.json')) as { version: string }
const folder = fileURLToPath(new URL(`../../node_modules/.cache/chromium-${version}`, import.meta.url))

/** One of the user's own, for machines that the carried one is not made for */
const own = process.env.CHROMIUM

export const launchOptions: LaunchOptions = {
  executablePath: own ?? join(folder, 'chromium'),
  env: {
    ...process.env,
    // those that it needs and that a machine may lack
    LD_LIBRARY_PATH: own == null ? join(folder, 'al2023/lib') : process.env.LD_LIBRARY_PATH
  },
  args: [
    // containers rarely let it make one; it loads pages of this repository only
    '--no-sandbox',
    '--js-flags=--expose-gc',
    '--enable-precise-memory-info',
    // beside what Playwright turns off: it is to speak to this machine alone
    '--disable-domain-reliability',
    '--no-pings',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'
  ]
}

/** Unpacks it when it is not there yet, and makes sure that it starts */
export async function setUpChromium (): Promise<void> {
  try {
    if (own == null && !existsSync(folder)) {
      await unpack()
    }

    await promisify(execFile)(launchOptions.executablePath ?? '', ['--version'], { env: launchOptions.env, timeout: 20_000 })
  } catch (err) {
    throw new Error('Chromium does not start, so nothing can be tested in a browser. The one in node_modules is for Linux ' +
      'on x64 with glibc 2.34 or newer: elsewhere set CHROMIUM to the path of an executable. The tests in Node alone ' +
      'are `npx vitest --project node`.', { cause: err })
  }
}

/** Under another name first: who else wants it must not find a half of it */
async function unpack (): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  const unfinished = await mkdtemp(`${folder}-`)
  const { TMPDIR } = process.env

  try {
    // where the package unpacks to
    process.env.TMPDIR = unfinished
    await Promise.all(['chromium.br', 'al2023.tar.br'].map(async file => inflate(join(packed, 'bin', file))))
    await rename(unfinished, folder)
  } catch (err) {
    await rm(unfinished, { recursive: true, force: true })

    if (!existsSync(folder)) {
      throw err
    }
  } finally {
    if (TMPDIR == null) {
      delete process.env.TMPDIR
    } else {
      process.env.TMPDIR = TMPDIR
    }
  }
}
