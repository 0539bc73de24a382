// Needed in a clone of this repository alone: tsconfig.json says that `libp2p-coalescing-yamux` is src.
import { defineConfig } from 'vite'

export default defineConfig({
  resolve: { tsconfigPaths: true },
  // the dapp uses the default, and both may run at once
  cacheDir: '../../../node_modules/.vite/pushable'
})
