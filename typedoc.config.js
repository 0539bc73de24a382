// The API pages and docs/*.md as a site: `npm run docs` makes it in dist/docs.
import { OptionDefaults } from 'typedoc'

export default {
  entryPoints: ['src/index.ts'],
  tsconfig: 'tsconfig.build.json',
  out: 'dist/docs',
  projectDocuments: ['docs/*.md'],
  // of an option that is a number
  blockTags: [...OptionDefaults.blockTags, '@unit'],
  highlightLanguages: [...OptionDefaults.highlightLanguages, 'diff'],
  // whether there is a remote differs from clone to clone
  disableSources: true,
  treatWarningsAsErrors: true
}
