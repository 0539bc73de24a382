// `npm run render`: writes what was recorded into documents and charts, and says what was different.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runBenchmark } from '../../testing/programs/run.ts'
import { renderTree, root } from './tree.ts'

await runBenchmark(async () => {
  const { files, unused } = renderTree()

  for (const { path, text, differences } of files.filter(({ differences }) => differences.length > 0)) {
    console.info(differences.join('\n'))
    writeFileSync(join(root, path), text)
  }

  if (unused.length > 0) {
    throw new Error(unused.join('\n'))
  }
})
