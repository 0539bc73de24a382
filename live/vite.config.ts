/**
 * The live page and the inspector, as files that can be hosted anywhere: no server behind them, and no path that they must have.
 */
import { join } from 'node:path'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  worker: { format: 'es' },
  build: {
    outDir: '../dist/live',
    emptyOutDir: true,
    target: 'es2023',
    rolldownOptions: { input: ['index.html', 'inspector/index.html'].map(page => join(import.meta.dirname, page)) }
  }
})
