// Where each child process and thread begins: it shows life while its module loads, which takes minutes on a busy machine.
import { postToParent, showLife } from './parent.ts'

showLife(postToParent)
await import(process.argv[2])
