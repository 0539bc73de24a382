// Preloaded by `npm run example`: in a clone, `import 'libp2p-coalescing-yamux'` and its other entries mean src, so nothing has to be built before.
import { registerHooks } from 'node:module'

const ENTRY = /^libp2p-coalescing-yamux(?:\/([\w-]+))?$/

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const [name, entry = 'index'] = ENTRY.exec(specifier) ?? []

    return name === undefined
      ? nextResolve(specifier, context)
      : { url: new URL(`../src/${entry}.ts`, import.meta.url).href, format: 'module-typescript', shortCircuit: true }
  }
})
