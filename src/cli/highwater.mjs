#!/usr/bin/env node
// The door of the CLI: on an older Node it hands over to the packaged Node 24, then the sources run as they are.
import { fileURLToPath } from 'node:url'
import { isNodeRight, runOnNode24 } from './require-node.mjs'

if (isNodeRight) {
  const { main } = await import('./main.ts')
  process.exitCode = await main(process.argv.slice(2))
} else runOnNode24(fileURLToPath(import.meta.url), process.argv.slice(2))
