/**
 * The live page, as files that can be hosted anywhere: no server behind it, and no path that it must have.
 */
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  worker: { format: 'es' },
  build: { outDir: '../dist/live', emptyOutDir: true, target: 'es2023' }
})
