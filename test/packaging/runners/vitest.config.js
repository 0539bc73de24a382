import { defineConfig } from 'vitest/config'

const createProject = environment => ({
  test: {
    name: environment,
    environment,
    globals: true,
    setupFiles: ['./setup.js']
  }
})

export default defineConfig({
  test: {
    projects: ['node', 'jsdom', 'happy-dom'].map(createProject)
  }
})
