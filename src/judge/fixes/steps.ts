/**
 * Steps with their commands. Each command names its cluster, and says what it does as it stands. A command that would replace nodes
 * stands only where that ends the cause.
 */
import { isDnsName, linesOf, shellWord } from '#base/text.ts'
import { gibibyte, mebibyte } from '#base/units.ts'
import { logFolder } from '#facts/host-folders.ts'
import { aws, type Command, clusterWord, kubectl, readCommand } from '#judge/garbage/kubectl.ts'
import { isPrintable } from '#judge/text.ts'
import {
  type CommandEffect,
  type Finding,
  mostNames,
  type Step,
  type StepAction,
  type StepActionId,
  type StepCommand,
} from '#model/finding.ts'
import { isNodeGroup, type NodeOwner, parseWorkload } from '#model/input/record.ts'
import type { HolderOwner } from '#model/prediction.ts'
import type { CommandPlace } from './command-place.ts'
import type { DiskSource } from './disk-source.ts'

export interface StepNode {
  name: string
  instanceId: string | null
  /** Systems Manager runs documents on it. */
  hasSessions: boolean
  /** What opens a shell of the host. `container`: of Bottlerocket, whose sessions open one of a container. `talos`: its API has no shell. `docker`: the node is a container of Docker (kind, k3d). `pod`: of clouds and distributions whose nodes have no ssh. */
  shell: 'session' | 'ssh' | 'powershell' | 'container' | 'docker' | 'pod' | 'talos' | null
  /** Where the shell is `pod`: its machine in the cloud, and an image with a shell that it has. */
  providerId?: string | undefined
  shellImage?: string
  owner: NodeOwner
  /** Its kubelet and containerd are parts of one program. */
  distribution?: 'k3s' | 'rke2' | undefined
  /** Another controller removes it already. */
  isLeaving?: boolean
}

export interface StepSite {
  cluster: string
  place: CommandPlace
  /** Null: the finding is not about nodes. */
  node: StepNode | null
  /** The rule's own commands. */
  commands: readonly Command[]
  /** Where the size of a volume is written. Null: unknown. */
  diskSource?: (device: string | null) => DiskSource | null
}

type StepFinding = Pick<Finding, 'subject' | 'fix' | 'nodes'>

interface OnNode {
  disk: DiskSource | null
  action: StepAction
  finding: StepFinding
  node: StepNode
  place: CommandPlace
}

type Lines = (on: OnNode) => (Command | null)[]

interface Doing extends Pick<Step, 'kind' | 'ends' | 'disturbs'> {
  /** Of a node. */
  lines?: Lines
  /** Of a cluster. */
  always?(place: CommandPlace): Command[]
}

const longestCommand = 2000

/** @param actions null: to set the fields of the fix, or the advice of the rule if there are none */
export function stepsOf(
  finding: StepFinding,
  actions: readonly StepAction[] | null,
  site: StepSite,
) {
  const { config, durable } = finding.fix
  const fields = Object.keys(config)
  const isSettable = fields.length + durable.length > 0
  const wanted = actions ?? [{ id: isSettable ? 'set-fields' : 'advice' }]
  return wanted
    .flatMap(one => measurableActions(site.node, one))
    .map(given => {
      const isLeaving = site.node?.isLeaving === true && finding.nodes.count === 1
      const wish =
        isLeaving && ofReplacement.has(given.id)
          ? { id: 'await-replacement' as const }
          : feasibleAction(site.node, given)
      const isDurable = wish.id === 'set-fields' && fields.length === 0
      const own = isDurable ? { ...wish, id: 'enlarge-node-class' as const } : wish
      const disk = diskOf(own, site)
      const sized = withSource(
        own.id === 'set-fields' ? inDistributionFile(own, site.node) : own,
        disk,
      )
      const action = withTemplate(sized, site.node)
      const { lines: _, always: __, ...step } = doings[action.id]
      return { ...step, action, commands: commandsOf(action, disk, finding, site) }
    })
}

const ofReplacement = new Set<StepActionId>(['drain', 'reboot', 'replace-node', 'upgrade-group'])

/** Nodes on whose host no shell runs our commands. */
const withoutShell: ReadonlySet<StepNode['shell']> = new Set(['container', 'docker', 'talos', null])

/** A node that Systems Manager does not reach is looked at in place of a measurement. */
const measurableActions = (node: StepNode | null, wish: StepAction): StepAction[] =>
  wish.isUnsure === true && node?.hasSessions === false
    ? [{ id: 'look-on-node' }, { ...wish, isUnsure: false }]
    : [wish]

/** No launch template, AMI or price of AWS is of this node. */
const isElsewhere = ({ owner, instanceId }: StepNode) =>
  owner === 'hybrid' || (instanceId === null && (owner === 'self-managed' || owner === 'karpenter'))

const ofServices: ReadonlySet<StepActionId> = new Set([
  'restart-daemon',
  'restart-kubelet',
  'restart-process',
])

/** Where nothing opens a shell of the host, the node is restarted in place of a service. AWS runs nodes of Auto Mode: they are replaced. */
function feasibleAction(node: StepNode | null, wish: StepAction): StepAction {
  // The disk of such a node is that of its host, of which the node shows nothing.
  if (node?.shell === 'docker' && wish.id === 'look-on-node' && wish.place === undefined)
    return { id: 'look-on-host', ...(wish.unit && { unit: wish.unit }) }
  if (node && isElsewhere(node)) {
    if (wish.id === 'create-group' || wish.id === 'import-sandbox')
      return { variant: 'elsewhere', ...wish }
    const { place: _, source: __, usdPerMonth: ___, most, ...disk } = wish
    if (wish.id === 'larger-disk' && wish.bytes !== undefined)
      return { ...disk, variant: 'elsewhere', ...(most && { most: { bytes: most.bytes } }) }
  }
  // No plan is made of a node that Systems Manager does not reach.
  const hasShell = node?.shell === 'ssh' || node?.shell === 'pod' || node?.shell === 'docker'
  if (wish.id === 'prune-images' && hasShell) return { ...wish, id: 'prune-by-runtime' }
  if (!ofServices.has(wish.id) || !node || !withoutShell.has(node.shell)) return wish
  return { ...wish, id: node.shell === null ? 'replace-node' : 'reboot' }
}

const ofVolumes: ReadonlySet<StepActionId> = new Set(['declare-size', 'larger-disk', 'map-volume'])

function diskOf(
  { id, place, bytes, source }: StepAction,
  { diskSource }: StepSite,
): DiskSource | null {
  // A rule that names the source means another than the node's own.
  if (source !== undefined) return null
  if (id === 'use-instance-store') return diskSource?.(null) ?? null
  const found = ofVolumes.has(id) && bytes !== undefined ? diskSource?.(place ?? null) : null
  return id === 'map-volume' || !found?.other ? (found ?? null) : { name: found.name }
}

function withSource(action: StepAction, disk: DiskSource | null): StepAction {
  if (!disk) return action
  const { name: source, className, mapping = disk.other } = disk
  const isPolicy = action.id === 'use-instance-store' && className !== undefined
  return {
    ...action,
    source,
    ...(isPolicy && { variant: 'policy' as const }),
    ...((mapping || isPolicy) && { rollsOut: true }),
  }
}

/** No node class makes a node that Karpenter does not start. */
const withTemplate = (action: StepAction, node: StepNode | null) =>
  action.id === 'larger-disk' &&
  action.bytes !== undefined &&
  action.source === undefined &&
  action.variant === undefined &&
  (node?.owner === 'self-managed' || node?.owner === 'managed-nodegroup')
    ? { ...action, source: 'launch template' }
    : action

/** Steps for which no command is known. */
export const stepsWithoutCommands = (actions: readonly StepAction[]) =>
  actions.map(action => {
    const { kind, ends, disturbs } = doings[action.id]
    return { kind, ends, disturbs, action, commands: [] }
  })

function commandsOf(
  action: StepAction,
  disk: DiskSource | null,
  finding: StepFinding,
  site: StepSite,
): StepCommand[] {
  const { cluster, place, node, commands } = site
  const { lines, always } = doings[action.id]
  const named = node && isDnsName(node.name) ? node : null
  // A program would read it as an option.
  const places = [
    action.place,
    ...(action.folders ?? []),
    action.inside?.place,
    action.inside?.path,
  ]
  if (places.some(one => one?.startsWith('-'))) return []
  const found: (Command | null)[] = [
    ...(action.id === 'clean-objects' ? commands : []),
    ...(always?.(place) ?? []),
    ...(named ? (lines?.({ action, finding, node: named, place, disk }) ?? []) : []),
  ]
  return found.flatMap(line => {
    if (!line) return []
    const [effect, text, count] = line
    const command = [text]
      .flat()
      .map(one => withPlaceOptions(one, place))
      .join(' && ')
    // A truncated command does something else. A command with invisible characters is deceptive.
    const isWhole = command.length <= longestCommand && isPrintable(command)
    return isWhole ? [{ place: cluster, command, effect, ...count }] : []
  })
}

/** Our own commands begin with their program, so that options for the place can follow. */
export function withPlaceOptions(command: string, { context, region }: CommandPlace) {
  const [program = '', ...rest] = command.split(' ')
  if (program === 'kubectl') return [program, '--context', shellWord(context), ...rest].join(' ')
  if (program === 'aws' && region !== null)
    return [program, '--region', shellWord(region), ...rest].join(' ')
  return command
}

function highwater(command: string, place: CommandPlace, ...more: string[]): Command {
  const where =
    place.region === null
      ? ['--context', place.context]
      : ['--region', place.region, '--cluster', place.name]
  return ['reads', ['highwater', command, ...where, ...more].map(shellWord).join(' ')]
}

/** A plan of the group or the node. It writes a file, and changes nothing. */
function plan({ finding: { subject }, node, place }: OnNode, ...more: string[]): Command[] {
  if (!node.hasSessions) return []
  const which =
    isNodeGroup(subject) && more.length === 0
      ? ['--nodegroup', subject.name]
      : ['--node', node.name]
  // Each plan has a file of its own: no plan refuses to overwrite another.
  const what = more.map(option => option.slice(1)).join('')
  const file = `plan-${place.name}-${which[1]}${what}.json`.replaceAll(/[^\w.-]/g, '-')
  const [, command] = highwater('plan', place, '--mode', 'both', ...which, ...more, '--out', file)
  return [['plans', command]]
}

/** A command on the node, by Systems Manager (as ssm-user, who may use sudo) or ssh. Without a shell, what the API shows of the node. */
function sessionCommand(
  { instanceId, shell, name, distribution, providerId = '', shellImage }: StepNode,
  effect: CommandEffect,
  written?: string,
  shown: Command = readCommand('describe', 'node', clusterWord(name)),
): Command {
  const tools = distribution === undefined ? [] : distributionTools(distribution)
  const command = tools.reduce((text, [tool, own]) => text?.replaceAll(tool, own), written)
  if (command !== undefined) {
    const asRoot = command.replaceAll('sudo ', '')
    if (shell === 'ssh') return [effect, `ssh ${shellWord(name)} ${shellWord(command)}`]
    if (shell === 'docker')
      return [effect, `docker exec ${shellWord(name)} sh -c ${shellWord(asRoot)}`]
    if (shell === 'pod')
      return [
        effect,
        cloudCommand(name, providerId, command, asRoot) ?? podCommand(name, asRoot, shellImage),
      ]
  }
  if (shell !== 'session' || instanceId === null) return shown
  const start = aws('ssm', 'start-session', '--target', clusterWord(instanceId))
  if (command === undefined) return ['reads', start]
  const text = `${start} --document-name AWS-StartNonInteractiveCommand --parameters ${shellWord(JSON.stringify({ command: [command] }))}`
  return [effect, text]
}

/**
 * By the cloud's own way onto a machine: it needs no pod, and no image. Null: of another cloud, a machine on its own, or another than the node is
 * named by, because its kubelet writes the id. Sources: learn.microsoft.com/cli/azure/vmss/run-command (a node is named by its scale set, and its
 * instance in base 36), cloud.google.com/sdk/gcloud/reference/compute/ssh
 */
function cloudCommand(
  nodeName: string,
  providerId: string,
  command: string,
  asRoot: string,
): string | null {
  const azure =
    /^azure:\/\/\/subscriptions\/(\w[\w-]*)\/resourceGroups\/(\w[\w.()-]*)\/providers\/Microsoft\.Compute\/virtualMachineScaleSets\/(\w[\w.-]*)\/virtualMachines\/(\d+)$/i.exec(
      providerId,
    )
  if (azure) {
    const [subscription = '', group = '', set = '', instance = ''] = azure.slice(1).map(shellWord)
    const machine = `${set.toLowerCase()}${Number(instance).toString(36).padStart(6, '0')}`
    if (machine !== nodeName) return null
    return `az vmss run-command invoke --subscription ${subscription} -g ${group} -n ${set} --instance-id ${instance} --command-id RunShellScript --scripts ${shellWord(asRoot)}`
  }
  const [project, zone, name] =
    /^gce:\/\/(\w[\w.:-]*)\/(\w[\w-]*)\/(\w[\w-]*)$/.exec(providerId)?.slice(1).map(shellWord) ?? []
  return name !== nodeName
    ? null
    : `gcloud compute ssh ${name} --project ${project} --zone ${zone} --command ${shellWord(command)}`
}

/** The kubelet admits only critical pods under DiskPressure: it refuses those of kubectl debug and oc debug. Upstream: eviction_manager.go Admit */
const podCommand = (nodeName: string, command: string, image?: string) =>
  runCommand('kube-system', image, {
    spec: { nodeName, hostPID: true, priorityClassName: 'system-node-critical' },
    container: {
      securityContext: { privileged: true },
      command: ['chroot', mountPath, 'sh', '-c', command],
    },
    volume: { hostPath: { path: '/' } },
  })

/** Of its volume. */
const mountPath = '/host'

/** A pod of one container that ends with its command. */
function runCommand(
  namespace: string,
  image = 'busybox',
  { spec, container, volume }: Record<'spec' | 'container' | 'volume', object>,
) {
  const name = 'host'
  const containers = [
    {
      name,
      image,
      imagePullPolicy: 'IfNotPresent',
      ...container,
      volumeMounts: [{ name, mountPath }],
    },
  ]
  const overrides = {
    spec: {
      ...spec,
      tolerations: [{ operator: 'Exists' }],
      containers,
      volumes: [{ name, ...volume }],
    },
  }
  const options = ['-n', namespace, '--rm', '-i', '--restart=Never', `--image=${image}`]
  return kubectl('run', 'highwater-look', ...options, `--overrides=${JSON.stringify(overrides)}`)
}

/** k3s and RKE2 give the kubelet its flags: it has no file of its own. Sources: docs.k3s.io/cli/server, docs.rke2.io/reference/server_config kubelet-arg */
const inDistributionFile = (wish: StepAction, node: StepNode | null) =>
  node?.distribution === undefined
    ? wish
    : { ...wish, place: `/etc/rancher/${node.distribution}/config.yaml` }

/** They bring their own tools and units. Sources: docs.k3s.io/cli, docs.rke2.io/reference/cli_tools */
function distributionTools(name: 'k3s' | 'rke2'): [RegExp, string][] {
  const folder = `/var/lib/rancher/${name}`
  const [crictl, ctr, server] =
    name === 'k3s'
      ? ['k3s crictl', 'k3s ctr', 'k3s']
      : [
          `${folder}/bin/crictl --config ${folder}/agent/etc/crictl.yaml`,
          `${folder}/bin/ctr --address /run/k3s/containerd/containerd.sock`,
          'rke2-server',
        ]
  return [
    [/sudo crictl\b/g, `sudo ${crictl}`],
    [/sudo ctr\b/g, `sudo ${ctr}`],
    [/sudo containerd config dump/g, `sudo cat ${folder}/agent/etc/containerd/config.toml`],
    [/-u kubelet\b/g, `-u ${server} -u ${name}-agent`],
    [/journalctl -u containerd -n/g, `tail ${folder}/agent/containerd/containerd.log -n`],
    [
      /systemctl restart \S+/g,
      `systemctl restart ${name}-agent || sudo systemctl restart ${server}`,
    ],
    [/\/var\/lib\/containerd\b/g, `${folder}/agent/containerd`],
  ]
}

/** Without a shell, what the kubelet has measured: memory of the system's cgroups and of pods, and their processes. */
const readUsage =
  (command: string): Lines =>
  ({ node }) =>
    windowsReadCommands(node, windowsProcesses) ?? [
      sessionCommand(
        node,
        'reads',
        command,
        readCommand('get', '--raw', `/api/v1/nodes/${node.name}/proxy/stats/summary`),
      ),
    ]

const cordon = ({ node }: OnNode): Command => ['changes', kubectl('cordon', clusterWord(node.name))]
/**
 * It cordons the node first. Without --force it refuses pods that have no controller: only a step that names all of them may delete them. It would wait
 * forever for the pod whose processes the reboot ends. Where no pod has emptyDir data, it may delete none that comes later.
 */
const drain = ({ node, action: { id, lost, owner } }: OnNode) =>
  kubectl(
    'drain',
    clusterWord(node.name),
    '--ignore-daemonsets',
    ...linesOf(
      lost?.data.length !== 0 && '--delete-emptydir-data',
      lost && lost.pods.length > 0 && lost.pods.length <= mostNames && '--force',
      id === 'reboot' && owner && '--skip-wait-for-delete-timeout=60',
    ),
  )
const podsOn = (selector: string) =>
  readCommand('get', 'pods', '-A', '-o', 'wide', `--field-selector=${selector}`)
const podsOfNode = ({ node }: OnNode) => podsOn(`spec.nodeName=${node.name}`)
const finishedPodsOf = ({ node }: OnNode) =>
  podsOn(`spec.nodeName=${node.name},status.phase!=Running,status.phase!=Pending`)
const readAgain = ({ node, place }: OnNode): Command =>
  highwater('audit', place, ...(node.hasSessions ? ['--mode', 'both'] : []), '--node', node.name)

/** One node. Its group starts another, from the group's present launch template or node class. */
function replacement(on: OnNode): Command[] {
  const { node } = on
  if (node.owner === 'karpenter')
    return [['replaces', kubectl('delete', 'node', clusterWord(node.name)), { nodes: 1 }]]
  if (node.owner !== 'managed-nodegroup' || node.instanceId === null)
    return [['changes', drain(on)]]
  const terminate = aws(
    'autoscaling',
    'terminate-instance-in-auto-scaling-group',
    '--no-should-decrement-desired-capacity',
    '--instance-id',
    clusterWord(node.instanceId),
  )
  return [['replaces', [drain(on), terminate], { nodes: 1 }]]
}

function restart(on: OnNode): Command[] {
  const { name, instanceId, owner } = on.node
  // EC2 does not know the instance of a hybrid node.
  if (instanceId === null || owner === 'hybrid') return [['changes', drain(on)]]
  const reboot = aws('ec2', 'reboot-instances', '--instance-ids', clusterWord(instanceId))
  return [
    ['restarts', [drain(on), reboot], { nodes: 1 }],
    ['changes', kubectl('uncordon', clusterWord(name))],
  ]
}

/**
 * A larger size, or the right device for a size that reached another. Karpenter then replaces the nodes of the class. Elsewhere, which images
 * and pods hold the disk, and how much, decides the size.
 */
function resize(on: OnNode): Command {
  const { disk, node, place, action } = on
  const mapping = disk?.mapping ?? disk?.other
  if (!disk || !mapping) return declaredDisk(on) ?? highwater('predict', place, '--node', node.name)
  const { index, device } = mapping
  const path = `/spec/blockDeviceMappings/${index}`
  const bytes = action.most?.bytes ?? action.bytes ?? 0
  const patch = [
    { op: 'test', path: `${path}/deviceName`, value: device },
    disk.mapping
      ? { op: 'replace', path: `${path}/ebs/volumeSize`, value: `${Math.ceil(bytes / gibibyte)}Gi` }
      : { op: 'replace', path: `${path}/deviceName`, value: action.place },
  ]
  return patchOfClass(disk, 'json', patch)
}

/** Karpenter then replaces the nodes of the class. */
const patchOfClass = (
  { className = '' }: DiskSource,
  type: 'json' | 'merge',
  patch: object,
): Command => [
  'replaces',
  kubectl(
    'patch',
    'ec2nodeclasses.karpenter.k8s.aws',
    clusterWord(className),
    `--type=${type}`,
    `--patch=${JSON.stringify(patch)}`,
  ),
]

const isManaged = ({ finding: { subject }, node }: OnNode) =>
  subject.kind === 'Nodegroup' && node.owner === 'managed-nodegroup'

const nodegroup = (call: string, { finding: { subject }, place }: OnNode) =>
  aws('eks', call, '--cluster-name', place.name, '--nodegroup-name', clusterWord(subject.name))

/** What the nodes' volumes are made from today. Nothing is written: a new version that is given mappings keeps nothing of the old ones, such as their encryption. */
function declaredDisk(on: OnNode): Command | null {
  const { id, version = '' } = on.disk?.template ?? {}
  if (id === undefined)
    return on.disk && isManaged(on) ? ['reads', nodegroup('describe-nodegroup', on)] : null
  const mappings = 'LaunchTemplateVersions[].LaunchTemplateData.BlockDeviceMappings'
  const read = ['ec2', 'describe-launch-template-versions', '--query', mappings] as const
  return ['reads', aws(...read, '--versions', version, '--launch-template-id', clusterWord(id))]
}

const podOf = (owner: HolderOwner | undefined) =>
  !owner || owner.kind === 'image' || owner.namespace === null || owner.pod === null
    ? null
    : { namespace: owner.namespace, pod: owner.pod }

/** A command for each pod: that all of a workload end at once is for its owner to decide. */
function deletePods(on: OnNode, effect: CommandEffect = 'restarts'): (Command | null)[] {
  const { owner, pods, inside } = on.action
  const pod = podOf(owner)
  if (!pod) return [sessionCommand(on.node, 'reads')]
  const deletions = (pods ?? [pod.pod]).map(
    (name): Command => [
      effect,
      kubectl('delete', 'pod', '-n', pod.namespace, clusterWord(name)),
      { pods: 1 },
    ],
  )
  return inside ? [lookInside(on), ...deletions] : deletions
}

/** The API server refuses it if the storage class does not allow it. */
function expandClaim({ action: { owner, place = '', bytes = 0 } }: OnNode): Command[] {
  const pod = podOf(owner)
  if (!pod || place === '') return []
  const spec = `{"spec":{"resources":{"requests":{"storage":"${bytes / gibibyte}Gi"}}}}`
  const read = readCommand('get', 'storageclass')
  if (bytes === 0) return [read]
  return [
    read,
    ['changes', kubectl('patch', 'pvc', '-n', pod.namespace, clusterWord(place), '-p', spec)],
  ]
}

/** By the container that mounts it, or by a pod beside those that crash: on the same node, as many volumes are mounted on one node only. */
function lookInVolume({ action, node }: OnNode): (Command | null)[] {
  const { owner, place = '', unit } = action
  const [counting, sorting] = sizeOptions(action)
  const list = ['du', counting, '-a', '-x', '-d', '2']
  if (owner?.kind === 'container')
    return [containerCommand(owner, owner.container, sorting, ...list, place)]
  const pod = podOf(owner)
  // `du` of busybox counts no inodes.
  if (!pod || place === '' || unit === 'inodes') return []
  const run = runCommand(pod.namespace, node.shellImage, {
    spec: { nodeName: node.name },
    container: { command: [...list, mountPath] },
    volume: { persistentVolumeClaim: { claimName: place } },
  })
  return [['reads', `${run} | ${largest(sorting)}`]]
}

/** Kinds whose template can be changed; pods of a Job cannot. */
const changeable: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet'])

/** A limit that is too small is raised alone. */
function setStorage(on: OnNode): ReturnType<Lines> {
  const { owner, bytes = 0, variant } = on.action
  if (owner?.kind !== 'container' || owner.workload === null || bytes === 0) return [lookInside(on)]
  const { kind, name } = parseWorkload(owner.workload)
  if (!changeable.has(kind)) return [lookInside(on)]
  const [unit, suffix] = bytes < gibibyte ? [mebibyte, 'Mi'] : [gibibyte, 'Gi']
  const amount = `ephemeral-storage=${Math.ceil((bytes * 1.25) / unit)}${suffix}`
  const options = ['-n', owner.namespace, '-c', owner.container]
  return [
    [
      'restarts',
      kubectl(
        'set',
        'resources',
        kind.toLowerCase(),
        clusterWord(name),
        ...options,
        ...(variant === 'limit' ? [] : [`--requests=${amount}`]),
        `--limits=${amount}`,
      ),
    ],
  ]
}

const disturbing: Partial<Record<Step['kind'], Step['disturbs']>> = {
  'ask-owner': 'pods',
  replace: 'node-replaced',
  resize: 'node-replaced',
}
const stepForm =
  (ends: Step['ends']) =>
  (kind: Step['kind'], lines?: Lines, disturbs = disturbing[kind] ?? 'nothing'): Doing => ({
    kind,
    ends,
    disturbs,
    ...(lines && { lines }),
  })
/** Steps that end all of the cause, and a part of it. */
const all = stepForm('all')
const part = stepForm('part')
/** A step that only shows more. */
const readMoreStep = (lines?: Lines) => stepForm('nothing')('read-more', lines)

/** Options of `du`, and of `sort` for its output. */
const sizeOptions = ({ unit }: StepAction) =>
  unit === 'inodes' ? (['--inodes', '-n'] as const) : (['-h', '-h'] as const)

/** A pod chooses names of files: none may make a row of its own, or write to the terminal. */
const visible = 'cat -v'
const largest = (sorting: string) => `sort ${sorting} | tail -n 20 | ${visible}`
const largestRows = (sorting: string, rows: number) =>
  `sort -z ${sorting} | tail -z -n ${rows} | tr '\\n\\0' '?\\n' | ${visible}`

/** Mounts in the folders, and sizes: what is deleted or moved there may be of a volume. */
function mountsAndSizes(action: StepAction, place: string, ...others: string[]) {
  const patterns = [place, ...others].map(folder => `-e ${shellWord(folder)}`).join(' ')
  return `findmnt -r -n -o TARGET | grep -F ${patterns}; ${sizes(action, place, ...others)}`
}

/** Where the node's own disks are mounted; the image disk may be anywhere. */
const mountsOfDisks =
  '$(df -l -x tmpfs -x devtmpfs -x overlay -x squashfs --output=target | grep ^/ | grep -v /kubelet/)'

/** Deletes nothing: what lies there is for a person to judge. */
function sizes(action: StepAction, place?: string, ...others: string[]) {
  // From the root of a disk: down to /var/lib/X.
  return place === undefined
    ? sizesBelow(action, null, 3, 30)
    : sizesBelow(action, [place, ...others], 2, 20)
}

/** @param places null: the node's own disks */
function sizesBelow(
  action: StepAction,
  places: readonly string[] | null,
  deep: number,
  rows: number,
) {
  const [counting, sorting] = sizeOptions(action)
  const folders = places?.map(shellWord).join(' ') ?? mountsOfDisks
  return `sudo du ${counting} -a -x -d ${deep} -0 ${folders} | ${largestRows(sorting, rows)}`
}

/** `du` does not see files that are deleted and open. */
const deletedFiles = (process: string) =>
  `sudo find -L /proc/${process}/fd -maxdepth 1 -type f -links 0 -size +99M -printf '%s %p ' -exec readlink {} ';' | ${visible}`
const openFiles = deletedFiles('[0-9]*')

/** On Windows and Bottlerocket, of the whole disk: no path of a holder is known there. */
function sizesOn({ action, node }: OnNode): Command[] {
  if (node.shell === null) return []
  if (node.shell === 'container')
    return [
      sessionCommand(
        { ...node, shell: 'session' },
        'reads',
        // Source: bottlerocket-os/bottlerocket README, Admin container: it is off unless host-containers.admin.enabled is set.
        `apiclient exec admin sh -c ${shellWord(sizes(action, '/.bottlerocket/rootfs/local'))}`,
      ),
    ]
  if (action.variant === 'datasets') return readInShell('sudo zfs list -o space')({ action, node })
  // Numbers, such as times and process ids, differ from line to line.
  if (action.variant === 'lines')
    return readInShell(
      `sudo tail -c 1000000 ${shellWord(action.place ?? '')} | cut -c 1-200 | sed 's/[0-9][0-9]*/N/g' | sort | uniq -c | sort -n | tail -n 15 | ${visible}`,
    )({ action, node })
  if (node.shell === 'talos' && action.unit === undefined) return [talosSizes(node, action.place)]
  const isOfAll = action.place === undefined && action.unit === undefined
  return (
    windowsReadCommands(node, windowsSizes) ?? [
      sessionCommand(
        node,
        'reads',
        linesOf(sizes(action, action.place), isOfAll && openFiles).join('; '),
      ),
    ]
  )
}

/** In bytes, behind the name of the node; entries below 1 GB are left out. It counts no inodes. Source: siderolabs/talos cmd/talosctl/cmd/talos/diskusage.go */
const talosSizes = ({ name }: StepNode, place = '/var'): Command => [
  'reads',
  `talosctl -n ${shellWord(name)} usage -a -d 3 -t 1000000000 ${shellWord(place)} | sort -k 2 -n | ${visible}`,
]

/** Null: the node has no PowerShell of Systems Manager. */
function windowsReadCommands({ shell, instanceId }: StepNode, text: string): Command[] | null {
  if (shell !== 'powershell' || instanceId === null) return null
  return [
    inPowerShell(instanceId, 'reads', text),
    [
      'reads',
      aws('ssm', 'list-command-invocations', '--details', '--instance-id', clusterWord(instanceId)),
    ],
  ]
}

function inPowerShell(instanceId: string, effect: CommandEffect, text: string): Command {
  const parameters = shellWord(JSON.stringify({ commands: [text] }))
  const send = aws('ssm', 'send-command', '--instance-ids', clusterWord(instanceId))
  return [effect, `${send} --document-name AWS-RunPowerShellScript --parameters ${parameters}`]
}

const restartService = (name: string, { instanceId, shell, ...node }: StepNode): Command =>
  shell === 'powershell' && instanceId !== null
    ? inPowerShell(instanceId, 'restarts', `Restart-Service ${name}`)
    : sessionCommand(
        { ...node, instanceId, shell },
        'restarts',
        `sudo systemctl restart ${shellWord(name)}`,
      )

/** Of folders in two levels, with the files in C:\ itself. */
const windowsSizes =
  '$s = @{}; ls C:\\ -Recurse -File -Force -EA 0 | % { $s[($_.DirectoryName -split "\\\\")[0..2] -join "\\"] += $_.Length }; $s.GetEnumerator() | sort Value | select -Last 20 | % { "{0,9:N1} GiB {1}" -f ($_.Value / 1GB), $_.Key }'

const windowsProcesses =
  'Get-Process | sort WS | select -Last 20 Name, Id, WS, @{n="Threads";e={$_.Threads.Count}}'

/** The unit of the process, and then its restart: the number may be that of another process by then, and the unit of a container is no service. */
function restartProcess({ action: { owner }, node }: OnNode): Command[] {
  if (owner?.kind !== 'process') return [sessionCommand(node, 'reads', openFiles)]
  const { pid, command } = owner
  const unit = `$(ps -o unit= -p ${pid} | grep '\\.service$')`
  return [
    sessionCommand(
      node,
      'reads',
      `ps -o pid=,comm=,unit= -p ${pid} | ${visible}; ${deletedFiles(`${pid}`)}`,
    ),
    sessionCommand(
      node,
      'restarts',
      `[ "$(ps -o comm= -p ${pid})" = ${shellWord(command)} ] && sudo systemctl restart "${unit}"`,
    ),
  ]
}

/** State D: it waits, mostly for a disk or a network volume that does not answer. */
const processesByProgram = 'ps -eLo s=,comm= | sort | uniq -c | sort -n | tail'

/** By process and by parent, with its pod: in the control group, or as the sandbox in the arguments of a shim. */
const threadsAndZombies = `ps -e -o nlwp=,stat=,pid=,ppid= | awk '$2 ~ /^Z/ {n[$4]++; next} {print $1, "threads", $3} END {for (p in n) print n[p], "zombies", p}' | sort -n | tail | while read -r n of p; do echo "$n $of of $(ps -o pid=,args:150=,cgroup:250= -p $p | tr -s ' ')"; done`

const podFolders = '/var/lib/kubelet/pods'

/** Lines that only read on the node. */
const readOnNode =
  (text: string | ((action: StepAction) => string)): Lines =>
  ({ action, node }) => [
    sessionCommand(node, 'reads', typeof text === 'string' ? text : text(action)),
  ]
const readNodeStep = (text: Parameters<typeof readOnNode>[0]) => readMoreStep(readOnNode(text))
/** What the API shows is no substitute: without a shell there is no command. */
const readInShell =
  (text: string) =>
  (on: Pick<OnNode, 'action' | 'node'>): Command[] =>
    on.node.shell === 'talos' ? [] : [sessionCommand(on.node, 'reads', text)]

/** Source: docs.siderolabs.com talosctl logs */
const looksAtJournal: Lines = ({ node, action }) => {
  const { shell, distribution, name } = node
  const unit = shellWord((action.id === 'read-journal' && action.place) || 'kubelet')
  if (shell === 'talos') return [['reads', `talosctl -n ${shellWord(name)} logs ${unit}`]]
  return shell === 'docker' && distribution === 'k3s'
    ? [['reads', `docker logs --tail 100 ${shellWord(name)}`]]
    : [sessionCommand(node, 'reads', `sudo journalctl -u ${unit} -n 100`)]
}
const showsPods: Lines = on => [lookInside(on)]

/** Tools of a container print names of files as they are. Null: kubectl would read the pod's name as an option. */
function containerCommand(
  { namespace, pod }: { namespace: string; pod: string },
  container: string,
  sorting: string,
  ...command: string[]
): Command | null {
  if (pod.startsWith('-')) return null
  const words = ['exec', '-n', namespace, pod, '-c', container, '--']
  return ['reads', `${kubectl(...words, ...command)} | ${largest(sorting)}`]
}

/**
 * Lists what is large where the container writes: from the node, because many images have no shell. Without a running container, lists the
 * pods of the node.
 */
function lookInside(on: OnNode): Command | null {
  const { owner, inside } = on.action
  const pod = podOf(owner)
  if (!pod || !inside) return podsOfNode(on)
  const [counting, sorting] = sizeOptions(on.action)
  if (on.node.shell === 'session' && inside.place !== null) {
    const list = `sudo du ${counting} -a -x -d 3 -0 ${shellWord(inside.place)}`
    return sessionCommand(on.node, 'reads', `${list} | ${largestRows(sorting, 20)}`)
  }
  if (inside.path === undefined) return podsOfNode(on)
  const list = ['du', counting, '-a', '-x', '-d', '3']
  return containerCommand(pod, inside.container, sorting, ...list, inside.path)
}
const readsAgain: Lines = on => [readAgain(on)]
const asking = all('ask-owner', showsPods)
const askingForPart = part('ask-owner', showsPods)

const podLogs = `${logFolder}/pods`

/** Its end shows what writes it, and may be the only evidence. In place of a log that a pod writes, it may have put a link to any file. */
function emptiesLog({ action: { place = podLogs, variant, owner }, node }: OnNode) {
  if (variant === 'writer' && place.startsWith(`${logFolder}/`) && !/[*?[\]\\]/.test(place))
    return [
      sessionCommand(
        node,
        'changes',
        // A pod that can write there may have put a link in the place of the log, or of a folder above it: none is followed.
        `sudo find ${logFolder} -xdev -type f -path ${shellWord(place)} -execdir truncate -s 0 {} +`,
      ),
    ]
  const end = owner || variant ? '' : `; sudo tail -n 20 ${shellWord(place)} | ${visible}`
  return [sessionCommand(node, 'reads', `sudo ls -l -h ${shellWord(place)}${end}`)]
}

const doings: Readonly<Record<StepActionId, Doing>> = {
  advice: all('set'),
  'ask-owner': asking,
  'attach-volume': all('set', on => {
    const { place, variant } = on.action
    if (place !== undefined) return [readCommand('describe', 'pv', clusterWord(place))]
    return [variant === 'driver' ? podsOfNode(on) : readCommand('get', 'volumeattachments')]
  }),
  'clean-claim': all('ask-owner', sizesOn, 'nothing'),
  'clean-in-pod': part('free', showsPods),
  'clean-namespace': all(
    'free',
    readOnNode(({ place }) =>
      place === undefined
        ? 'sudo ctr namespaces ls'
        : ['images', 'containers', 'leases']
            .map(what => `sudo ctr -n ${shellWord(place)} ${what} ls`)
            .join('; '),
    ),
  ),
  'clean-objects': all('free'),
  'clean-with-owner': all('ask-owner', sizesOn, 'nothing'),
  'compact-datastore': all('free', sizesOn),
  'count-storage': all('ask-owner'),
  'correct-file': all('set', looksAtJournal),
  'create-group': all('replace', on =>
    isManaged(on) ? [['reads', nodegroup('describe-nodegroup', on)]] : [],
  ),
  'await-replacement': readMoreStep(({ node }) => [
    readCommand('get', 'events', '-A', `--field-selector=involvedObject.name=${node.name}`),
  ]),
  'check-instance': readMoreStep(({ node }) => {
    const { instanceId, name, owner } = node
    if (instanceId === null || owner === 'hybrid')
      return [readCommand('describe', 'node', clusterWord(name))]
    const id = clusterWord(instanceId)
    return [
      [
        'reads',
        aws('ec2', 'describe-instance-status', '--include-all-instances', '--instance-ids', id),
      ],
      [
        'reads',
        aws('ec2', 'get-console-output', '--latest', '--output', 'text', '--instance-id', id),
      ],
    ]
  }),
  'check-rotation': readNodeStep(({ place = '', variant }) => {
    // Upstream: pkg/kubelet/logs/container_log_manager.go rotateLogs, rotateLatestLog
    if (variant === 'kubelet')
      return `sudo journalctl --no-pager -S -2h | grep -i -e 'rotate log' -e 'reopen container log' | tail | ${visible}; sudo ls -l -R ${shellWord(place || podLogs)} | tail -n 50 | ${visible}`
    if (variant === 'auditd') return 'sudo grep -e max_log_file -e num_logs /etc/audit/auditd.conf'
    return variant === 'writer'
      ? `sudo find /proc -maxdepth 3 -path '*/fd/*' -lname ${shellWord(`${place}*`)} -printf '%p %l\\n'`
      : 'sudo logrotate -d /etc/logrotate.conf'
  }),
  // Without Karpenter, nodes that run keep their disk.
  'declare-size': all('resize', on => [declaredDisk(on)], 'nothing'),
  'delete-place': all('free', sizesOn),
  'delete-pod': part('free', deletePods, 'pods'),
  'delete-pod-folder': all(
    'free',
    readOnNode(action => {
      const [place = podFolders, ...others] = action.folders ?? [action.place ?? podFolders]
      return mountsAndSizes(action, place, ...others)
    }),
  ),
  drain: part('free', on => [['changes', drain(on)]], 'pods'),
  'drop-idle-log-blocks': all('set', plan),
  'empty-log': all('free', emptiesLog),
  // No controller starts the pod again.
  'end-pod': all('free', on => deletePods(on, 'changes'), 'pods'),
  // A larger disk moves the thresholds apart, and ends no wrong one.
  'enlarge-node-class': part('set', undefined, 'node-replaced'),
  'expand-claim': all('ask-owner', expandClaim, 'nothing'),
  'find-container': readNodeStep(
    'sudo crictl ps -a || sudo ctr -n k8s.io containers ls; if command -v docker; then sudo docker ps -a; fi',
  ),
  'end-crash-loop': part('ask-owner', ({ action: { owner } }) => {
    const pod = podOf(owner)
    if (!pod || owner?.kind !== 'container') return []
    const container = ['-c', clusterWord(owner.container), '--previous', '--tail=50']
    const logs = kubectl('logs', '-n', pod.namespace, clusterWord(pod.pod), ...container)
    return [['reads', `${logs} | ${visible}`]]
  }),
  // New nodes are made by what stands in the last folder.
  'find-writer': readNodeStep(
    'systemctl cat kubelet; sudo ls -lR --full-time /etc/kubernetes /etc/eks; sudo grep -rl kubelet /var/lib/cloud/instance',
  ),
  'find-crash': readNodeStep(
    () => 'sudo coredumpctl list --no-pager | tail -n 20; sysctl kernel.core_pattern',
  ),
  'grant-pull': all('set', showsPods),
  'grant-rights': { ...readMoreStep(), always: place => [highwater('doctor', place)] },
  'grow-partition': all('resize', readOnNode('lsblk --fs; df -h')),
  'import-image': all('set'),
  'import-sandbox': all(
    'set',
    readOnNode(
      'findmnt -T /var/lib/containerd; sudo ctr -n k8s.io images ls; sudo containerd config dump | grep sandbox',
    ),
  ),
  // Nothing that is on the disk says how large an image is that is not.
  'larger-disk': all('resize', on =>
    on.action.variant === 'image' ? [] : [on.action.isUnsure ? readAgain(on) : null, resize(on)],
  ),
  'larger-instance': all('resize'),
  'list-deletions': readMoreStep(({ node, place }) => [
    highwater('predict', place, '--node', node.name),
  ]),
  'list-memory': readMoreStep(
    readUsage(
      'ps -e -o rss=,pid=,comm= --sort=-rss | head -n 20; grep -e ^Slab -e ^SUnreclaim -e ^Shmem: -e ^PageTables -e ^Hugetlb /proc/meminfo',
    ),
  ),
  'list-processes': readMoreStep(readUsage(`${processesByProgram}; ${threadsAndZombies}`)),
  'look-in-volume': stepForm('nothing')('ask-owner', lookInVolume, 'nothing'),
  'look-on-host': readMoreStep(({ action }) => [
    ['reads', `df ${action.unit === 'inodes' ? '-i' : '-h'}; docker system df; ${sizes(action)}`],
  ]),
  'look-on-node': readMoreStep(sizesOn),
  // Mounted once more, for this command alone, the disk has nothing mounted on it.
  'look-under-mounts': readNodeStep(action => {
    const [counting, sorting] = sizeOptions(action)
    return `sudo unshare --mount sh -c 'mount --bind / /mnt && du ${counting} -a -x -d 3 -0 /mnt' | ${largestRows(sorting, 20)}`
  }),
  'limit-processes': askingForPart,
  'map-volume': all('resize', on => {
    if (on.disk?.mapping ?? on.disk?.other) return [resize(on)]
    return isManaged(on) ? [['reads', nodegroup('describe-nodegroup', on)]] : []
  }),
  'mount-shared-memory': asking,
  'move-into-volume': all(
    'ask-owner',
    readOnNode(action => mountsAndSizes(action, action.place ?? podFolders)),
  ),
  'move-kubelet-root': all(
    'resize',
    readOnNode(
      ({ place = '/var/lib/kubelet' }) => `findmnt -T ${shellWord(place)}; lsblk --fs; df -h`,
    ),
  ),
  'move-to-volume': asking,
  'open-port': readMoreStep(({ node: { instanceId }, place }) =>
    instanceId === null || place.region === null
      ? []
      : [
          ['reads', aws('ec2', 'describe-instances', '--instance-ids', clusterWord(instanceId))],
          ['reads', aws('eks', 'describe-cluster', '--name', clusterWord(place.name))],
        ],
  ),
  // A plan pins images that a rule names. Before another step, which images those are is only known to people.
  'pin-images': all('set', on => (on.action.variant === 'first' ? [] : plan(on))),
  'provide-image': asking,
  'prune-dead-containers': all(
    'free',
    on => [
      on.action.variant === 'finished'
        ? finishedPodsOf(on)
        : sessionCommand(on.node, 'reads', 'sudo crictl ps -a -s Exited', podsOfNode(on)),
      ...(podOf(on.action.owner) ? deletePods(on) : []),
    ],
    'pods',
  ),
  'prune-by-runtime': part('free', ({ node }) => [
    sessionCommand(node, 'changes', 'sudo crictl rmi --prune'),
  ]),
  'prune-docker': all('free', readOnNode('sudo docker system df -v')),
  'prune-images': part('free', on => plan(on, '--prune-images'), 'kubelet-restart'),
  'prune-in-image': all('set', undefined, 'node-replaced'),
  'prune-volumes': all('free', readOnNode('sudo docker volume ls -f dangling=true')),
  'raise-kernel-limit': all(
    'set',
    readOnNode(({ place = '' }) => `sysctl ${shellWord(place)}`),
  ),
  // No program starts in the pod itself.
  'raise-process-limit': part('ask-owner', readOnNode(threadsAndZombies)),
  'raise-memory-volume': asking,
  'raise-volume-limit': asking,
  'read-again': readMoreStep(readsAgain),
  'read-devices': readNodeStep(({ place }) =>
    place === undefined
      ? 'lsblk --fs; df -h /var/lib/kubelet /var/lib/containerd'
      : `lsblk --fs ${shellWord(place)}; df -h`,
  ),
  'read-journal': readMoreStep(looksAtJournal),
  'read-limits': readNodeStep(action => {
    const { variant, place } = action
    // The log of a runtime's task lies this deep below /run.
    return place !== undefined && (variant === 'memory' || variant === 'filesystem')
      ? `df -h ${shellWord(place)}; df -i ${shellWord(place)}; ${sizesBelow(action, [place], 6, 20)}`
      : 'df -hT; df -i; sysctl fs.inotify fs.mount-max kernel.keys; cat /proc/key-users; findmnt -l | wc -l; cat /proc/cgroups; sudo dmsetup status; sudo btrfs filesystem usage /'
  }),
  'read-on-node': readMoreStep(readsAgain),
  // ctr takes overlayfs, whatever snapshotter the configuration of containerd names.
  'read-snapshots': readMoreStep(
    readInShell(
      'sudo crictl imagefsinfo; for s in overlayfs btrfs zfs; do sudo ctr -n k8s.io snapshots --snapshotter $s usage; done; sudo zfs list -o space',
    ),
  ),
  'read-pods': readMoreStep(showsPods),
  'read-pull-events': {
    ...readMoreStep(),
    always: () => [readCommand('get', 'events', '-A', '--field-selector=reason=Failed')],
  },
  reboot: part('replace', restart),
  // Pods that hang on the disk do not end: the node gets no more of them first.
  'replace-failed-disk': all('replace', on => [
    cordon(on),
    sessionCommand(
      on.node,
      'reads',
      'sudo dmesg --level=err,warn | tail -n 40; findmnt -t ext4,xfs,btrfs',
    ),
    ...replacement(on),
  ]),
  'replace-host-path': asking,
  'replace-node': all('replace', replacement),
  'request-less': all('ask-owner'),
  'restart-agent': readMoreStep(({ node: { instanceId } }) => [
    instanceId === null
      ? null
      : [
          'reads',
          aws(
            'ssm',
            'describe-instance-information',
            '--filters',
            clusterWord(`Key=InstanceIds,Values=${instanceId}`),
          ),
        ],
  ]),
  // Containers go on: systemd ends only the main process (containerd containerd.service KillMode=process), and the kubelet starts none anew.
  'restart-daemon': all(
    'free',
    ({ action: { place = 'kubelet' }, node }) => [restartService(place, node)],
    'kubelet-restart',
  ),
  'restart-kubelet': all(
    'set',
    on => [cordon(on), restartService('kubelet', on.node)],
    'kubelet-restart',
  ),
  'restart-pod': all('free', deletePods, 'pods'),
  'restart-process': all('free', restartProcess, 'kubelet-restart'),
  'set-discard-unpacked': all(
    'set',
    readOnNode('sudo containerd config dump | grep discard_unpacked_layers'),
    'node-replaced',
  ),
  'set-ephemeral-storage': all('ask-owner', setStorage),
  'set-fields': all('set', plan, 'kubelet-restart'),
  'set-log-files': all('set', plan),
  'set-memory': asking,
  'set-root-volume': all('set'),
  'set-volume-limit': asking,
  'use-instance-store': all(
    'set',
    on =>
      on.disk?.className === undefined
        ? []
        : [patchOfClass(on.disk, 'merge', { spec: { instanceStorePolicy: 'RAID0' } })],
    'node-replaced',
  ),
  'spare-disk': readNodeStep('cat /proc/pressure/io /proc/pressure/cpu; iostat -x 1 3'),
  'spread-pods': asking,
  'unset-root-volume': all('set'),
  'upgrade-group': all('replace', on =>
    isManaged(on)
      ? [['replaces', nodegroup('update-nodegroup-version', on), { nodes: on.finding.nodes.count }]]
      : replacement(on),
  ),
  'upgrade-runtime': all('replace'),
  'use-other-disk': all(
    'resize',
    readOnNode(({ place = '' }) => `lsblk --fs ${shellWord(place)}; df -h`),
    'pods',
  ),
  'vacuum-journal': all('free', ({ node }) => [
    sessionCommand(node, 'changes', 'sudo journalctl --vacuum-size=500M'),
  ]),
}
