const createProject = testEnvironment => ({
  displayName: testEnvironment,
  testEnvironment,
  setupFiles: ['./setup.js'],
  transform: {}
})

export default {
  projects: ['node', 'jsdom', '@happy-dom/jest-environment'].map(createProject)
}
