// The package's JavaScript, for `npm run build`: a file for each entry, because Node takes half a millisecond for each file that it loads.
import { defineConfig } from 'rolldown'
import manifest from './package.json' with { type: 'json' }

/** What is built together has what it shares in one file more, so that a program with both has each class once. The others are wholes of their own. */
const ENTRIES = [['index'], ['light', 'path-control'], ['snapshot'], ['capture']]
/** For browsers, "browser" in package.json replaces what is for Node alone */
const BUILDS = [{ platform: 'neutral', dir: 'dist' }, { platform: 'browser', dir: 'dist/browser' }] as const

export default defineConfig(BUILDS.flatMap(({ platform, dir }) => ENTRIES.map(names => ({
  input: Object.fromEntries(names.map(name => [name, `src/${name}.ts`])),
  external: new RegExp(`^(${Object.keys(manifest.dependencies).join('|')})($|/)`),
  platform,
  tsconfig: 'tsconfig.build.json',
  transform: { target: 'es2023' },
  output: {
    dir,
    chunkFileNames: 'shared.js',
    // src is in the package too, comments included: they are a third of the text that V8 reads
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: { jsdoc: false }
  }
}))))
