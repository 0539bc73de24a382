// Imports what its argument names, and writes the package's files that were loaded for it, one a line.
import { registerHooks } from 'node:module'

registerHooks({
  load (url, context, nextLoad) {
    if (url.includes('/node_modules/libp2p-coalescing-yamux/')) {
      console.info(url)
    }

    return nextLoad(url, context)
  }
})

await import(process.argv[2])
