import { builtinModules } from 'node:module'
import neostandard from 'neostandard'

const platform = 'the library runs in browsers too; only src/host/clock.ts may know the platform'
const pure = 'the core is handed bytes and times and returns what to do'

const builtins = builtinModules.map(name => ({ name, message: platform }))
const nodeScheme = { group: ['node:*'], message: platform }

const platformGlobals = ['Buffer', 'process', 'global', 'require']
  .map(name => ({ name, message: platform }))

const impureGlobals = [
  'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Promise',
  'Date', 'performance', 'Event', 'EventTarget', 'console', 'globalThis'
].map(name => ({ name, message: pure }))

export default [
  ...neostandard({
    ts: true,
    noJsx: true,
    ignores: ['**/node_modules/**', 'dist/**', 'peers/.build/**']
  }),
  {
    files: ['**/*.ts'],
    rules: {
      // a constant and the type of its values may share a name; tsc knows the rest
      '@typescript-eslint/no-redeclare': 'off'
    }
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/host/clock.ts'],
    rules: {
      'no-restricted-globals': ['error', ...platformGlobals],
      'no-restricted-imports': ['error', {
        paths: builtins,
        patterns: [nodeScheme]
      }]
    }
  },
  {
    files: ['src/core/**/*.ts', 'src/path/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...platformGlobals, ...impureGlobals],
      'no-restricted-imports': ['error', {
        paths: builtins,
        patterns: [nodeScheme, { group: ['@libp2p/*'], message: pure }]
      }]
    }
  }
]
