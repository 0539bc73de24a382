/**
 * `npm run live`: serves the live page, says where, and opens it if there is a browser.
 */
import { createLogger, createServer } from 'vite'
import { parseCount } from '../testing/programs/names.ts'
import { readOptions } from '../testing/programs/options.ts'

const { host, port } = readOptions({ command: 'npm run live --', about: 'this muxer and @libp2p/yamux side by side on a page, which a browser opens' }, {
  port: { takes: 'number', about: 'where it listens; the next one is taken if this is in use', default: '5173' },
  host: { about: 'lets other machines reach it too' }
})

const logger = createLogger()
const logError = logger.error.bind(logger)
logger.error = (message, options) => {
  if (/^Error: spawn \S+ ENOENT/.test(message)) {
    logger.info('  No browser starts here: open the address in one yourself.')
  } else {
    logError(message, options)
  }
}

const server = await createServer({ root: import.meta.dirname, customLogger: logger, server: { port: parseCount('port', port), host } })
await server.listen()
server.printUrls()
server.openBrowser()
