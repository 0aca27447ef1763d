#!/usr/bin/env node
// The door of the CLI: on an older Node it hands over to the packaged Node 24, then the sources run as they are.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'
import { isNodeRight, runOnNode24 } from './require-node.mjs'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))

if (!existsSync(path('../../node_modules/commander'))) {
  process.stderr.write(`Nothing is installed yet: run "npm ci" in ${path('../..')}\n`)
  process.exit(2)
}
// glibc keeps what was freed for each thread that freed it, a tenth of what an audit holds, and only hears otherwise before a process begins: so this one
// begins anew, in its own place. Whoever has said anything of it in the environment knows better.
const malloc = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '16384',
  MALLOC_TRIM_THRESHOLD_: '16384',
}

if (
  isNodeRight &&
  process.platform === 'linux' &&
  Object.keys(malloc).every(name => process.env[name] === undefined)
)
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    { ...process.env, ...malloc },
  )
if (isNodeRight) {
  // "npm ci --ignore-scripts" leaves out the one thing that is built.
  if (!existsSync(path('../report/compiled-templates.js')))
    spawnSync(process.execPath, [path('../../templates/precompile.ts')], { stdio: 'inherit' })
  // What was compiled once is kept beside the packages, where it can be: stripping types takes a second and 40 MiB at every start.
  nodeModule.enableCompileCache(path('../../node_modules/.cache/highwater'))
  // V8 takes memory as long as there is some, and lets garbage lie: three times what an audit needs. In exchange it collects more often.
  v8.setFlagsFromString('--optimize-for-size')
  v8.setFlagsFromString('--semi-space-growth-factor=1')
  const { main } = await import('./main.ts')
  process.exitCode = await main(process.argv.slice(2))
} else runOnNode24(path('./highwater.mjs'), process.argv.slice(2))
