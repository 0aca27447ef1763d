/** The kubelet on a node's disk: its files, its flags, its process and its unit. */
import { stringify } from 'yaml'
import { isRawObject } from '#base/raw-object.ts'
import { readsNodeadmFolder } from '#facts/eks/kubelet-places.ts'
import { configurationOf, configzOf, upstreamDefaults } from '#lab/nodes/configz.ts'
import { ageMsOf, nodeInfo } from '#lab/nodes/node-object.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import type { MachinePart } from './machine.ts'
import { configurationText, dropInFolder, kind } from './nodeadm-files.ts'
import { kubeletPid, processFiles, unitState } from './process-files.ts'
import { isOwnCluster, type SetUp, setUpOf } from './set-ups.ts'

const containerdPid = 700
/** A kubelet starts so long after its machine. */
const startSeconds = 60

export function kubeletPart(profile: NodeProfile, at: string): MachinePart {
  const setUp = setUpOf(profile)
  const arguments_ = [
    setUp.program,
    ...setUp.unitFlags,
    ...setUp.environment.flatMap(({ flags }) => flags),
  ]
  const running = configurationOf(profile)
  const main = { ...kind, ...setUp.fields, ...profile.disk?.editedConfiguration }
  const dropIns = { ...setUp.dropIns, ...profile.disk?.dropIns }
  const cgroup = profile.family === 'AL2' ? '9:memory:/runtime.slice/' : '0::/runtime.slice/'
  const isUp = profile.fault?.kind !== 'down'
  const bootSeconds = Math.trunc((Date.parse(at) - ageMsOf(profile)) / 1000) - startSeconds
  return {
    files: {
      [setUp.main]: setUp.isYaml ? stringify(main) : configurationText(main),
      ...Object.fromEntries(
        Object.entries(dropIns).map(([name, fields]) => [
          `${dropInFolder}/${name}`,
          configurationText(fields),
        ]),
      ),
      ...Object.fromEntries(
        setUp.environment.map(({ path, text, flags }) => [path, text(flags.join(' '))]),
      ),
      '/proc/stat': `cpu  1 2 3 4\nbtime ${bootSeconds}\n`,
      ...processFiles(1, '0::/init.scope', ['/sbin/init'], 0),
      ...processFiles(
        containerdPid,
        `${cgroup}containerd.service`,
        ['/usr/bin/containerd'],
        startSeconds,
      ),
      // One that refuses its configuration is gone again each time somebody looks.
      ...(isUp && processFiles(kubeletPid(1), `${cgroup}${setUp.unit}`, arguments_, startSeconds)),
      ...(isOwnCluster(profile) && {
        '/var/lib/kubelet/pki/kubelet-client-current.pem': 'lab-secret-client-key\n',
      }),
    },
    answers: {
      [`unit.${setUp.unit}`]: unitText(setUp, unitState(1, isUp, startSeconds * 1000)),
      ...(setUp.nodeadm && { 'unit.nodeadm-run.service': nodeadmUnit(readsFolder(profile)) }),
      ...(isUp && { healthz: `${String(running.healthzPort)} ok\n` }),
      'unit.not-found': 'LoadState=not-found\nActiveState=inactive\nSubState=dead\n',
      ...(servesEveryone(profile) && { 'configz.json': JSON.stringify(configzOf(profile)) }),
    },
    ...(readsFolder(profile) && { folders: [nodeadmFolder] }),
    ...(setUp.nodeadm && { nodeadm: setUp.nodeadm }),
    running,
    kubelet: {
      unit: setUp.unit,
      command: [setUp.program, ...setUp.unitFlags],
      environment: setUp.environment.map(({ path }) => path),
      version: profile.version,
      cgroup,
      defaults: upstreamDefaults(profile),
    },
  }
}

/** Where nodeadm looks for more NodeConfigs, if its release does. */
const nodeadmFolder = '/etc/eks/nodeadm.d'
const readsFolder = (profile: NodeProfile) =>
  profile.family === 'AL2023' && readsNodeadmFolder(nodeInfo(profile).osImage, null)

/** What runs at each boot. Source: awslabs/amazon-eks-ami nodeadm-run.service */
const nodeadmUnit = (isWithFolder: boolean) =>
  `LoadState=loaded\nExecStart={ path=/usr/bin/nodeadm ; argv[]=/usr/bin/nodeadm init --skip config --config-source imds://user-data${
    isWithFolder ? ` --config-source file://${nodeadmFolder}/` : ''
  } --config-cache /run/eks/nodeadm/config.json ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }\n`

/** The certificate is a node's, and the webhook allows no node another kubelet's endpoints, nor its own. */
function servesEveryone(profile: NodeProfile): boolean {
  const { authorization } = configurationOf(profile)
  return isRawObject(authorization) && authorization.mode === 'AlwaysAllow'
}

const unitText = ({ unitFile, environment }: SetUp, state: readonly string[]) => {
  const isPlain = (path: string) => !path.endsWith('.conf')
  return [
    `FragmentPath=${unitFile}`,
    `DropInPaths=${environment
      .map(({ path }) => path)
      .filter(path => !isPlain(path))
      .join(' ')}`,
    ...environment
      .filter(({ path }) => isPlain(path))
      .map(({ path }) => `EnvironmentFiles=${path} (ignore_errors=no)`),
    'LoadState=loaded',
    ...state,
    '',
  ].join('\n')
}
