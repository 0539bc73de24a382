// The API and all pages as a site: `npm run docs` makes it in dist/docs.
import { Converter, OptionDefaults, PageEvent, RendererEvent } from 'typedoc'

/** In the order of the sidebar */
const pages = {
  'Using it': ['docs/migrating.md', 'docs/options.md', 'docs/lanes-and-strategies.md', 'docs/examples/README.md', 'docs/runtimes.md', 'docs/faq.md'],
  'Operating it': ['docs/operating.md', 'docs/wireshark/README.md', 'docs/tuning-node.md', 'docs/recipes.md', 'SECURITY.md'],
  'Inside it': ['docs/how-it-works.md', 'docs/bytes-in-flight.md', 'docs/path-control.md', 'docs/strict-peers.md', 'peers/README.md', 'docs/upstream.md'],
  'How it compares': ['docs/live.md', 'benchmarks/results.md'],
  'What was tried': ['README', 'path', 'shared-links', 'receive', 'bulk', 'requests', 'messages', 'code', 'how-we-measure'].map(name => `docs/notebook/${name}.md`),
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

/**
 * Typedoc takes only the text of a heading into the sidebar and into its anchor, so code in headings has to be text between tags.
 *
 * @param {import('markdown-it').default} parser
 */
function keepCodeInHeadings (parser) {
  parser.core.ruler.push('code in headings', ({ tokens, Token }) => {
    const create = (type, content) => Object.assign(new Token(type, '', 0), { content })
    const split = token => token.type === 'code_inline'
      ? [create('html_inline', '<code>'), create('text', token.content), create('html_inline', '</code>')]
      : [token]

    for (const [index, { type }] of tokens.entries()) {
      if (type === 'heading_open') {
        tokens[index + 1].children = tokens[index + 1].children.flatMap(split)
      }
    }
  })
}

/**
 * A reader tells headings and pages apart by their names in the sidebar.
 *
 * @param {import('typedoc').Application} app
 */
function refuseSameNames (app) {
  const warnOf = (place, names) => {
    for (const name of new Set(names.filter((name, index) => names.indexOf(name) < index))) {
      app.logger.warn(`${place} has more than one "${name}" in the sidebar`)
    }
  }

  app.renderer.on(RendererEvent.BEGIN, ({ project }) => {
    warnOf('The site', [...Object.keys(pages), ...project.documents.map(({ name }) => name)])
  })
  app.renderer.on(PageEvent.END, ({ model, pageHeadings }) => {
    if (model.isProject() || model.isDocument()) {
      warnOf(model.name, pageHeadings.map(({ text }) => text))
    }
  })
}

export default {
  plugin: [placePages, refuseSameNames],
  markdownItLoader: keepCodeInHeadings,
  entryPoints: ['src/index.ts', 'src/path-control.ts', 'src/snapshot.ts', 'src/capture.ts'],
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
