#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=8 --initial-heap-size=96 --max-opt=2
/**
 * Starts the CLI: the compiled one of the package, or the sources of a clone. Plain JavaScript for older Nodes: a clone brings the newer
 * Node along, and the package says which Node it needs.
 *
 * A small young generation: an audit of a snapshot of 1,000 nodes needs 228 MiB instead of 350 MiB, in the same time.
 * V8 marks its heap only above 96 MiB: an audit of 5,000 nodes takes 6 % less CPU and no more memory, one of 1,000 nodes 17 MiB more.
 * Maglev is the last compiler: without TurboFan an audit of 1,000 nodes takes 193 MiB instead of 200 MiB, and `upgrade` 140 MiB instead of
 * 210 MiB. The CPU time stays the same.
 * V8 keeps its compiled code beside the compiled files, if it can write there: an audit of one node takes 0.52 s of CPU instead of 0.60 s, and
 * 113 MiB instead of 118 MiB.
 * With one arena, the threads of V8 free memory for each other: an audit of a snapshot of 3,000 nodes needs 211 MiB instead of 234 MiB.
 */
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const sources = new URL('../tools/from-sources.mjs', import.meta.url)
if (existsSync(sources)) await import(sources)
else if (Number(process.versions.node.split('.')[0]) < 22) {
  process.stderr.write(
    `highwater needs Node 22 or newer; this is Node ${process.versions.node}. Install a newer Node and try again.\n`,
  )
  process.exitCode = 2
} else {
  module.enableCompileCache?.(fileURLToPath(new URL('../dist/code', import.meta.url)))
  const { main } = await import('../dist/main.js')
  process.exitCode = await main(process.argv.slice(2))
}
