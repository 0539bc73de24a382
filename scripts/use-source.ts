// Preloaded by `npm run example`: in a clone, `import 'libp2p-coalescing-yamux'` means src, so nothing has to be built before.
import { registerHooks } from 'node:module'

const url = new URL('../src/index.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, nextResolve) => specifier === 'libp2p-coalescing-yamux'
    ? { url, format: 'module-typescript', shortCircuit: true }
    : nextResolve(specifier, context)
})
