/** A pretend node that can be changed: its kubelet, systemd, nodeadm and apiclient are stand-ins with checks of their own, and it can be broken off anywhere. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { applySchema } from '#facts/aws/apply-documents.ts'
import { type NodeRoot, type Platform, scriptNamed, stand, which } from './node-root.ts'

export const sha256 = (content: string | Buffer) =>
  createHash('sha256').update(content).digest('hex')
export const packed = (content: string | Buffer) => gzipSync(content).toString('base64')

export interface Answer {
  run: string
  action: string
  outcome: string
  reason: string | null
  oldSha256: string | null
  newSha256: string | null
  presentSha256: string | null
  kubelet: {
    active: boolean | null
    startedAtBefore: string | null
    startedAtAfter: string | null
    healthz: string | null
  } | null
  steps: string[]
}
export interface Sent {
  answer: Answer | null
  stdout: string
  stderr: string
  code: number | null
}

/** What happens beside the script. */
export interface Faults {
  /** The kubelet, once started anew, is down whatever its files hold. */
  neverUp?: true
  /** It is never healthy with the thresholds of the tests' good change. */
  sick?: true
  /** With them it is up, and exits after a few seconds each time. */
  flaps?: true
  /** systemd says that it was started anew, and it was not. */
  ignored?: true
  /** As often is it asked for its health before it answers ok. */
  slow?: number
  nodeadmFails?: true
  /** Its unit is the one of a snap. */
  snap?: true
  /** From the restart on there is no room on the disk. */
  fullAtRestart?: true
  /** From the restart on no file can be made among the notes of the tests' run; what is there may be written over, or, `0`, not even that. */
  noNotes?: number
  /** Once started anew, the kubelet has this in place of its configuration file. */
  otherConfig?: string
  /** nodeadm ends well, and has written nothing of the folder. */
  nodeadmPassesOver?: true
  /** What apiclient sets is gone again at once. */
  forgets?: true
  apiclientFails?: true
}

/** How many steps there were before the first one that the kubelet may notice. */
const marks = (world: string) =>
  `if [ -e ${world}/acted ] && [ ! -e ${world}/quiet ]; then read -r acted <${world}/acted; echo $acted >${world}/quiet; fi`

const systemctl = (node: string, world: string) => `
cd ${world}
read -r up <kubelet
read -r starts <starts
begins() {
  starts=$((starts + 1))
  echo "$starts" >starts
  echo "900 (kubelet) S 1 900 900 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 15 0 $((6000 + starts * 1000)) 2000000 1 2" >"$HIGHWATER_ROOT/proc/900/stat"
}
case "$*" in
  'show kubelet.service -p LoadState -p ActiveState')
    if [ -e snap ]; then echo LoadState=not-found; echo ActiveState=inactive; else echo LoadState=loaded; echo ActiveState=active; fi ;;
  'show snap.kubelet-eks.daemon.service -p LoadState -p ActiveState')
    if [ -e snap ]; then echo LoadState=loaded; echo ActiveState=active; else echo LoadState=not-found; echo ActiveState=inactive; fi ;;
  show*-p\\ SubState*)
    if [ -e flaps ] && [ -e running.json ]; then
      read -r running <running.json
      read -r asked <asked; asked=$((asked + 1)); echo "$asked" >asked
      case $running in *'"imageGCHighThresholdPercent":70'*) [ $((asked % 3)) -ne 0 ] || begins ;; esac
    fi
    if [ "$up" = up ]; then
      echo ActiveState=active; echo SubState=running; echo MainPID=900
    else
      read -r asked <asked; asked=$((asked + 1)); echo "$asked" >asked
      # As systemd does, every five seconds.
      [ $((asked % 2)) -ne 0 ] || begins
      echo ActiveState=activating; echo SubState=auto-restart; echo MainPID=0
    fi
    echo ExecMainStartTimestampMonotonic=$starts ;;
  'show nodeadm-run.service -p ExecStart')
    echo "ExecStart={ path=/usr/bin/nodeadm ; argv[]=/usr/bin/nodeadm --console init --skip config --config-source imds://user-data --config-source file:///etc/eks/nodeadm.d/ --config-cache /run/eks/nodeadm/config.json ; ignore_errors=no ; start_time=[n/a] ; pid=0 }" ;;
  reset-failed*) ;;
  restart*)
    [ ! -e ignored ] || exit 0
    begins
    ${marks(world)}
    echo 0 >health
    [ ! -e fullAtRestart ] || : >full
    if [ -e noNotes ]; then
      read -r room <noNotes
      rm noNotes
      [ "$room" != 0 ] || mv "$HIGHWATER_ROOT/var/lib/highwater/run-00000001/phase" "$HIGHWATER_ROOT/var/lib/highwater/run-00000001/phase.kept"
      [ "$room" != 0 ] || mkdir "$HIGHWATER_ROOT/var/lib/highwater/run-00000001/phase"
      mkdir "$HIGHWATER_ROOT/var/lib/highwater/run-00000001/phase.new"
    fi
    if [ -e otherConfig ]; then
      read -r other <otherConfig
      printf '/usr/bin/kubelet\\0--config=%s\\0' "$other" >"$HIGHWATER_ROOT/proc/900/cmdline"
    fi
    echo restart >>calls
    if [ ! -e neverUp ] && ${node} ${resolve('test/support/pretend/kubelet.mjs')} "$HIGHWATER_ROOT" ${world} 2>>journal; then echo up >kubelet; else echo down >kubelet; fi ;;
  *) echo "unknown: $*" >&2; exit 1 ;;
esac`

const curl = (world: string) => `
cd ${world}
case "$*" in *http://127.0.0.1:10248/healthz) ;; *) echo "curl: unknown: $*" >&2; exit 2 ;; esac
read -r up <kubelet
if [ "$up" != up ]; then echo 'curl: (7) Failed to connect' >&2; exit 7; fi
refuses() { echo 'curl: (22) The requested URL returned error: 500' >&2; exit 22; }
if [ -e slow ]; then
  read -r slow <slow; read -r asked <health; echo $((asked + 1)) >health
  [ "$asked" -ge "$slow" ] || refuses
fi
if [ -e sick ] && [ -e running.json ]; then
  read -r running <running.json
  case $running in *'"imageGCHighThresholdPercent":70'*) refuses ;; esac
fi
printf ok`

/** On a disk that is full, nothing but the name of a file can be made there. */
const cat = (real: string, world: string) => `
to=$(${which('readlink')} /proc/$$/fd/1)
case $to in
  "$HIGHWATER_ROOT"/*)
    written=$(($(${real} ${world}/written 2>/dev/null || echo 0) + 1)); echo "$written" >${world}/written
    read -r at 2>/dev/null <${world}/fullAt || at=0
    if [ -e ${world}/full ] || [ "$written" -eq "$at" ]; then ${real} "$@" | head -c 10; echo 'cat: write error: No space left on device' >&2; exit 1; fi ;;
esac
exec ${real} "$@"`

/** What such a node has beside the programs of one that is only read. */
const changing = ['df', 'env', 'sync']

/** Programs after which the node may lose its power. */
const acting = [
  'mv',
  'rm',
  'mkdir',
  'ln',
  'sync',
  'systemctl',
  'nodeadm',
  'apiclient',
  'ctr',
  'crictl',
]

export class ChangedNode {
  readonly root: string
  readonly #path: string
  readonly #folder: string
  readonly #platform: Platform
  readonly #script: string

  constructor(document: string, node: NodeRoot, platform: Platform, faults: Faults = {}) {
    const node24 = process.execPath
    const { root, path } = stand(node, platform)
    for (const name of changing) {
      const isReplaced = node.missing?.includes(name) || name in (node.tools ?? {})
      const real = isReplaced ? null : platform.programs(name)
      if (real !== null) symlinkSync(real, join(path, name))
    }
    this.root = realpathSync(root)
    this.#path = path
    this.#folder = dirname(path)
    this.#platform = platform
    this.#script = join(this.#folder, 'script.sh')
    writeFileSync(this.#script, scriptNamed(document))
    mkdirSync(this.world())
    const tools = {
      systemctl: systemctl(node24, this.world()),
      curl: curl(this.world()),
      cat: cat(
        platform.programs('cat') === which('busybox')
          ? `${which('busybox')} cat`
          : (which('cat') ?? ''),
        this.world(),
      ),
      apiclient: `case "$*" in 'get settings.kubernetes') read -r settings <${this.world('settings.json')}; echo '{ "settings": { "kubernetes": '"$settings"' } }'; exit ;; esac
exec ${node24} ${resolve('test/support/pretend/apiclient.mjs')} ${this.world()} "$@"`,
      nodeadm: `cp ${this.world('acted')} ${this.world('actedBeforeNodeadm')} 2>/dev/null
[ ! -e ${this.world('nodeadmPassesOver')} ] || exit 0
exec ${node24} ${resolve('test/support/pretend/nodeadm.mjs')} "$HIGHWATER_ROOT" ${this.world()} "$@"`,
    }
    for (const [name, text] of Object.entries(tools))
      if (!node.missing?.includes(name)) this.tool(name, text)
    this.writeWorld('kubelet', 'up\n')
    this.writeWorld('starts', '1\n')
    this.writeWorld('asked', '0\n')
    this.writeWorld('health', '1000000\n')
    this.writeWorld('user-data.json', JSON.stringify({ spec: { cluster: { name: 'prod' } } }))
    for (const [name, value] of Object.entries(faults))
      this.writeWorld(name === 'nodeadmFails' ? 'nodeadm-fails' : name, `${value}\n`)
  }

  world(name = ''): string {
    return join(this.#folder, 'world', name)
  }
  writeWorld(name: string, text: string): void {
    writeFileSync(this.world(name), text)
  }
  readWorld(name: string): string {
    return existsSync(this.world(name)) ? readFileSync(this.world(name), 'utf8') : ''
  }
  tool(name: string, script: string): void {
    rmSync(join(this.#path, name), { force: true })
    writeFileSync(join(this.#path, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(this.#path, name), 0o755)
  }
  at(path: string): string {
    return join(this.root, path)
  }
  read(path: string): string | null {
    return existsSync(this.at(path)) ? readFileSync(this.at(path), 'utf8') : null
  }
  /** All files below /etc, by path, with mode and owner: what must be as it was. */
  everything(below = 'etc'): Record<string, string> {
    const files = readdirSync(this.at(below), { recursive: true, withFileTypes: true }).filter(
      entry => entry.isFile(),
    )
    return Object.fromEntries(
      files
        .map(({ parentPath, name }) => join(parentPath, name))
        .toSorted()
        .map(path => {
          const { mode, uid, gid } = statSync(path)
          return [
            path.slice(this.root.length),
            `${sha256(readFileSync(path))} ${mode.toString(8)} ${uid}:${gid}`,
          ]
        }),
    )
  }
  restarts(): number {
    return this.readWorld('calls').split('\n').filter(Boolean).length
  }
  running(): unknown {
    return this.readWorld('kubelet') === 'up\n' && this.readWorld('running.json') !== ''
      ? JSON.parse(this.readWorld('running.json'))
      : null
  }

  /** Counts what acts; after the Nth of it the script gets the signal. */
  endAfter(count: number, signal: 'KILL' | 'TERM' = 'KILL'): void {
    this.writeWorld('endAt', `${count} ${signal}\n`)
    this.writeWorld('acted', '0\n')
    for (const name of acting) {
      const real = join(this.#folder, 'real', name)
      if (existsSync(real)) continue
      const present = join(this.#path, name)
      if (!existsSync(present)) continue
      mkdirSync(dirname(real), { recursive: true })
      const target = realpathSync(present)
      if (dirname(target) === realpathSync(this.#path)) {
        writeFileSync(real, readFileSync(present))
        chmodSync(real, 0o755)
      } else symlinkSync(target, real)
      this.tool(
        name,
        `case "$1" in show | get) exec ${real} "$@" ;; esac\n${real} "$@"\ncode=$?\ncd ${this.world()}\nread -r acted <acted\nacted=$((acted + 1))\necho $acted >acted\nread -r at signal <endAt\nif [ $acted -eq $at ]; then read -r pid <pid; kill -$signal "$pid"; fi\nexit $code`,
      )
    }
  }
  acted(): number {
    return Number(this.readWorld('acted'))
  }

  send(
    parameters: Record<string, string>,
    environment: Record<string, string> = {},
  ): Promise<Sent> {
    const handed = Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [`SSM_${name}`, value]),
    )
    return this.#run([this.#script], {
      AWS_SSM_INSTANCE_ID: 'i-0123456789abcdef0',
      ...handed,
      ...environment,
    })
  }

  #run(words: readonly string[], environment: Record<string, string>): Promise<Sent> {
    const [shell = 'sh', ...options] = this.#platform.shell
    // Its own id, so that its id ends only this process.
    const child = spawn(
      which('sh') ?? 'sh',
      ['-c', `echo $$ >${this.world('pid')}; exec "$@"`, 'sh', shell, ...options, ...words],
      {
        env: {
          PATH: this.#path,
          HIGHWATER_ROOT: this.root,
          HIGHWATER_PACE: '0.001',
          TMPDIR: this.#folder,
          ...environment,
        },
        cwd: this.#folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', chunk => (output[name] += chunk))
    return new Promise(done =>
      child.on('close', code => done({ code, ...output, answer: answerIn(output.stdout) })),
    )
  }
}

function answerIn(stdout: string): Answer | null {
  const lines = stdout.split('\n').filter(line => line !== '')
  if (lines.length !== 1 || lines[0] === undefined) return null
  const answer = JSON.parse(lines[0])
  if (answer.schema !== applySchema) throw new Error(`no answer: ${stdout}`)
  return answer
}
