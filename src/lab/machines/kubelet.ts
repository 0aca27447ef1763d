/**
 * The kubelet on a node's disk: its files, its flags, its process and its unit, as each image sets them up.
 *
 * Sources  awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh, nodeadm/internal/kubelet (config.go, environment.go); aws/eks-hybrid
 *          internal/kubelet; the kubelet-eks snap; kubespray roles/kubernetes/node
 */
import { stringify } from 'yaml'
import { readsNodeadmFolder } from '#facts/eks/kubelet-places.ts'
import { configurationOf, configzOf, imageFields, upstreamDefaults } from '#lab/nodes/configz.ts'
import { ageMs, nodeInfo } from '#lab/nodes/node-object.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import type { MachinePart } from './machine.ts'
import { dropInFolder, kind, mainFile, nodeadmDropIn, nodeadmEnvironment, nodeadmText, withoutFolder } from './nodeadm-files.ts'
import { kubeletPid, processFiles, unitState } from './process-files.ts'
import type { NodeadmSources } from './start.ts'

interface SetUp {
  program: string
  unit: string
  unitFile: string
  main: string
  /** What the main file holds before anybody edits it. */
  fields: RawObject
  /** What the set-up itself writes beside it, and drop-ins of its own. */
  dropIns: Readonly<Record<string, RawObject>>
  /** Flags in the unit's own command. */
  unitFlags: readonly string[]
  /** Files that give the unit flags, by path: the text around them, and the flags. */
  environment: readonly { path: string; text: (flags: string) => string; flags: readonly string[] }[]
  isYaml: boolean
  /** What it is made anew of. */
  nodeadm?: NodeadmSources
}

const kubeconfig = '--kubeconfig=/var/lib/kubelet/kubeconfig'
const containerdPid = 700
/** A kubelet starts so long after its machine. */
const startSeconds = 60

export function kubeletPart(profile: NodeProfile, at: string): MachinePart {
  const setUp = setUpOf(profile)
  const arguments_ = [setUp.program, ...setUp.unitFlags, ...setUp.environment.flatMap(({ flags }) => flags)]
  const running = configurationOf(profile)
  const main = { ...kind, ...setUp.fields, ...profile.disk?.editedConfiguration }
  const dropIns = { ...setUp.dropIns, ...profile.disk?.dropIns }
  const cgroup = profile.family === 'AL2' ? '9:memory:/runtime.slice/' : '0::/runtime.slice/'
  const isUp = profile.fault?.kind !== 'down'
  const bootSeconds = Math.trunc((Date.parse(at) - ageMs) / 1000) - startSeconds
  return {
    files: {
      [setUp.main]: setUp.isYaml ? stringify(main) : nodeadmText(main),
      ...Object.fromEntries(Object.entries(dropIns).map(([name, fields]) => [`${dropInFolder}/${name}`, nodeadmText(fields)])),
      ...Object.fromEntries(setUp.environment.map(({ path, text, flags }) => [path, text(flags.join(' '))])),
      '/proc/stat': `cpu  1 2 3 4\nbtime ${bootSeconds}\n`,
      ...processFiles(1, '0::/init.scope', ['/sbin/init'], 0),
      ...processFiles(containerdPid, `${cgroup}containerd.service`, ['/usr/bin/containerd'], startSeconds),
      // One that refuses its configuration is gone again each time somebody looks.
      ...(isUp && processFiles(kubeletPid(1), `${cgroup}${setUp.unit}`, arguments_, startSeconds)),
      ...(isOwnCluster(profile) && { '/var/lib/kubelet/pki/kubelet-client-current.pem': 'lab-secret-client-key\n' }),
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
const readsFolder = (profile: NodeProfile) => profile.family === 'AL2023' && readsNodeadmFolder(nodeInfo(profile).osImage, null)

/** What runs at each boot. Source: awslabs/amazon-eks-ami nodeadm-run.service */
const nodeadmUnit = (isWithFolder: boolean) =>
  `LoadState=loaded\nExecStart={ path=/usr/bin/nodeadm ; argv[]=/usr/bin/nodeadm init --skip config --config-source imds://user-data${
    isWithFolder ? ` --config-source file://${nodeadmFolder}/` : ''
  } --config-cache /run/eks/nodeadm/config.json ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }\n`

/** A kubelet that joined by a bootstrap token has a certificate; those of EKS's images ask IAM for each token. */
const isOwnCluster = ({ family, labels }: NodeProfile) => family === 'Ubuntu' && !('eks.amazonaws.com/nodegroup' in labels)

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
    ...environment.filter(({ path }) => isPlain(path)).map(({ path }) => `EnvironmentFiles=${path} (ignore_errors=no)`),
    'LoadState=loaded',
    ...state,
    '',
  ].join('\n')
}

const flagsOf = ({ flags = {} }: NodeProfile) => Object.entries(flags).map(([name, value]) => `--${name}=${value}`)

const labelsFlag = ({ labels }: NodeProfile) => {
  const given = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return given.length > 0 ? [`--node-labels=${given.join(',')}`] : []
}

function setUpOf(profile: NodeProfile): SetUp {
  if (profile.family === 'AL2') return bootstrapped(profile)
  if (profile.family !== 'Ubuntu') return byNodeadm(profile)
  return isOwnCluster(profile) ? byKubespray(profile) : snap(profile)
}

/** User data merges what it wants into the one file before the kubelet starts. */
const bootstrapped = (profile: NodeProfile): SetUp => ({
  program: '/usr/bin/kubelet',
  unit: 'kubelet.service',
  unitFile: '/etc/systemd/system/kubelet.service',
  main: '/etc/kubernetes/kubelet/kubelet-config.json',
  fields: { ...imageFields(profile), ...profile.configuration },
  dropIns: {},
  unitFlags: [
    '--config=/etc/kubernetes/kubelet/kubelet-config.json',
    kubeconfig,
    '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
  ],
  environment: [
    {
      path: '/etc/systemd/system/kubelet.service.d/10-kubelet-args.conf',
      text: flags => `[Service]\nEnvironment='KUBELET_ARGS=${flags}'\n`,
      flags: [`--node-ip=${profile.ip}`, '--v=2', `--hostname-override=${profile.name}`, '--cloud-provider=external'],
    },
    {
      path: '/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf',
      text: flags => `[Service]\nEnvironment='KUBELET_EXTRA_ARGS=${flags}'\n`,
      flags: [...labelsFlag(profile), ...flagsOf(profile)],
    },
  ],
  isYaml: false,
})

/** What the user wants is a drop-in of its own, and only with it is the folder named to the kubelet. */
function byNodeadm(profile: NodeProfile): SetUp {
  const isHybrid = profile.family === 'Hybrid'
  const userData = profile.configuration ?? {}
  const wanted = Object.keys(userData).length > 0
  const main = { ...imageFields(profile), logging: { verbosity: 2 } }
  const flags = [
    `--config=${mainFile}`,
    kubeconfig,
    ...(isHybrid ? [] : ['--cloud-provider=external']),
    `--hostname-override=${profile.name}`,
    `--node-ip=${profile.ip}`,
    '--runtime-cgroups=/runtime.slice/containerd.service',
    `--config-dir=${dropInFolder}`,
    ...labelsFlag(profile),
    ...flagsOf(profile),
  ]
  const { path, text } = nodeadmEnvironment
  return {
    program: '/usr/bin/kubelet',
    unit: 'kubelet.service',
    unitFile: '/etc/systemd/system/kubelet.service',
    main: mainFile,
    fields: main,
    dropIns: wanted ? { [isHybrid ? '00-nodeadm.conf' : nodeadmDropIn]: { ...kind, ...userData } } : {},
    unitFlags: [],
    environment: [{ path, text: given => text([given]), flags: wanted ? flags : withoutFolder(flags) }],
    isYaml: false,
    // On a machine of one's own nobody calls it again.
    ...(!isHybrid && { nodeadm: { main, flags, userData } }),
  }
}

const snap = (profile: NodeProfile): SetUp => ({
  program: '/snap/kubelet-eks/200/kubelet',
  unit: 'snap.kubelet-eks.daemon.service',
  unitFile: '/etc/systemd/system/snap.kubelet-eks.daemon.service',
  main: '/etc/kubernetes/kubelet/kubelet-config.json',
  fields: { ...imageFields(profile), ...profile.configuration },
  dropIns: {},
  unitFlags: [],
  environment: [
    {
      path: '/var/snap/kubelet-eks/current/args',
      text: flags => `KUBELET_ARGS="${flags}"\n`,
      flags: [
        '--config=/etc/kubernetes/kubelet/kubelet-config.json',
        kubeconfig,
        `--hostname-override=${profile.name}`,
        '--v=2',
        ...labelsFlag(profile),
        ...flagsOf(profile),
      ],
    },
  ],
  isYaml: false,
})

const byKubespray = (profile: NodeProfile): SetUp => ({
  program: '/usr/local/bin/kubelet',
  unit: 'kubelet.service',
  unitFile: '/etc/systemd/system/kubelet.service',
  main: '/etc/kubernetes/kubelet-config.yaml',
  fields: { ...imageFields(profile), ...profile.configuration },
  dropIns: {},
  unitFlags: [],
  environment: [
    {
      path: '/etc/kubernetes/kubelet.env',
      text: flags => `KUBELET_ARGS="${flags}"\n`,
      flags: [
        '--v=2',
        `--node-ip=${profile.ip}`,
        `--hostname-override=${profile.name}`,
        '--kubeconfig=/etc/kubernetes/kubelet.conf',
        '--config=/etc/kubernetes/kubelet-config.yaml',
        '--runtime-cgroups=/runtime.slice/containerd.service',
        ...flagsOf(profile),
      ],
    },
  ],
  isYaml: true,
})
