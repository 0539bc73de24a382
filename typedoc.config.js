// The API and all pages as a site: `npm run docs` makes it in dist/docs.
import { Converter, OptionDefaults } from 'typedoc'

/** In the order of the sidebar */
const pages = {
  'Using it': ['docs/migrating.md', 'docs/options.md', 'docs/lanes-and-strategies.md', 'docs/examples/README.md', 'docs/runtimes.md', 'docs/faq.md'],
  'Operating it': ['docs/operating.md', 'docs/tuning-node.md', 'docs/recipes.md', 'SECURITY.md'],
  'How it works': ['docs/how-it-works.md', 'docs/bytes-in-flight.md', 'docs/path-control.md', 'docs/strict-peers.md', 'peers/README.md', 'docs/upstream.md'],
  'How it compares': ['docs/live.md', 'benchmarks/results.md', 'benchmarks/method.md', 'benchmarks/tried.md'],
  'The project': ['CONTRIBUTING.md', 'test/hazards/README.md', 'CHANGELOG.md']
}
const groups = Object.entries(pages).flatMap(([group, paths]) => paths.map(path => ({ group, path })))

/**
 * Each page has its heading as its name, and stands in its group.
 *
 * @param {import('typedoc').Application} app
 */
function placePages (app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const [text] = document.content
    document.frontmatter.group = groups.find(({ path }) => path === `${document.name}.md`).group
    document.name = /^# (.*)/.exec(text.text)[1]
  })
}

export default {
  plugin: [placePages],
  entryPoints: ['src/index.ts', 'src/path-control.ts'],
  tsconfig: 'tsconfig.build.json',
  out: 'dist/docs',
  projectDocuments: groups.map(({ path }) => path),
  groupOrder: [...Object.keys(pages), '*'],
  navigation: { includeGroups: true },
  customCss: 'scripts/docs-site.css',
  alwaysCreateEntryPointModule: false,
  // the README and the pages begin with their own
  headings: { readme: false, document: false },
  // of an option that is a number
  blockTags: [...OptionDefaults.blockTags, '@unit'],
  highlightLanguages: [...OptionDefaults.highlightLanguages, 'diff'],
  // whether there is a remote differs from clone to clone
  disableSources: true,
  treatWarningsAsErrors: true
}
