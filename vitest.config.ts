/** Options that the command line of vitest does not have. */
import { defineConfig } from 'vitest/config'
import { memoryFolder } from './test/support/memory-folder.ts'

const folder = memoryFolder()

export default defineConfig({ test: { env: folder === null ? {} : { TMPDIR: folder } } })
