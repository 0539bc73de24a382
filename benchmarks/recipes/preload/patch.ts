// A patched copy of a package's module, made as it is loaded: what its maintainers would change, without a copy to keep.
import { registerHooks } from 'node:module'

/** `path` is from node_modules on. Fails where the package no longer has what is to be replaced */
export function patchModule (path: string, replaced: string, replacement: string): void {
  registerHooks({
    load (url, context, nextLoad) {
      const loaded = nextLoad(url, context)

      if (!url.endsWith(`/node_modules/${path}`)) {
        return loaded
      }

      const source = String(loaded.source)

      if (source.split(replaced).length !== 2) {
        throw new Error(`${path} does not have once what the patch replaces: ${replaced}`)
      }

      return { ...loaded, source: source.replace(replaced, () => replacement) }
    }
  })
}
