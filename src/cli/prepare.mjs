/**
 * Runs after `npm ci`, and when npx links this folder into its cache. In the second case there may be nothing installed yet: to fail then would leave
 * npx's cache broken for good, while the command itself can still say what is missing.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runOnNode24 } from './require-node.mjs'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))

if (existsSync(path('../../node_modules/handlebars')))
  runOnNode24(path('../../templates/precompile.ts'), [])
