/** Texts of causes and steps, made from their values. */
import type {
  CommandEffect,
  DeviceCause,
  StepActionId,
  UnreadReason,
} from '#model/finding/cause.ts'
import { counted } from '#report/numbers.ts'

const steps = {
  /** `owner`, `place`, `bytes`: null if the step has none. */
  actions: {
    'ask-owner': owner => `ask ${owner ?? 'the owners of these pods'} to keep less on the node`,
    'check-rotation': () => 'see why logrotate keeps so much',
    'correct-file': (_, place, __, message = '') =>
      `correct ${place ?? 'the file'} before anything restarts the kubelet${message === '' ? '' : `; the kubelet refuses it: ${message}`}`,
    'create-group': () =>
      'create a group with --ami-type AL2023_x86_64_STANDARD (cgroup v2), move the pods, delete the old group',
    'delete-place': (_, place) =>
      `look into ${place ?? 'the folders'}, and delete what nobody needs`,
    drain: () =>
      'drain the node, after asking the owners of pods without a controller and of emptyDir data: those pods end for good, that data is deleted',
    'drop-idle-log-blocks': () => 'write the logrotate files without blocks that rotate nothing',
    'grow-partition': (_, place, bytes) =>
      `give ${place ?? 'this filesystem'} more${bytes === null ? '' : ` of the ${bytes}`} in the image or in user data (lvextend --resizefs), and replace the nodes: a larger volume alone changes nothing`,
    'import-image': (_, place) =>
      `import ${place ?? 'the image'} on the node again and pin it, or put it into a registry and let its pod pull it (imagePullPolicy)`,
    'import-sandbox': (_, place) =>
      `see whether a mount hides the folder of containerd, then import ${place ?? 'the image'} again and pin it`,
    'grant-rights': () => 'grant the rights that highwater doctor names',
    'larger-disk': (_, place, bytes, cost = '') =>
      bytes === null
        ? 'give the nodes a larger disk, or this workload nodes of its own'
        : `give the nodes a larger volume: volumeSize ${bytes} for ${place ?? 'the data device'} in EC2NodeClass or launch template${cost === '' ? '' : ` (${cost} more for each)`}`,
    'list-deletions': () => 'see which images image GC would delete',
    'list-processes': () => 'see which programs of the node have the processes',
    'look-on-node': (_: string | null, place: string | null) =>
      `look which folders ${place === null ? 'of the node' : `in ${place}`} are large`,
    'limit-processes': owner =>
      `find why ${owner ?? 'these pods'} starts so many processes, and set podPidsLimit`,
    'lower-soft-threshold': () => 'lower the soft threshold: the disk is not short of space',
    'map-volume': (_, place) =>
      `write the size for ${place ?? 'the data volume'} in the device mapping, and replace the nodes`,
    'move-to-volume': (owner, _, bytes) =>
      `have ${owner ?? 'the pods'} write${bytes === null ? '' : ` the ${bytes} that it holds`} into a volume (a claim, or an emptyDir with sizeLimit) or write less, and set a limit of ephemeral-storage, so that the kubelet evicts it alone`,
    'open-port': () =>
      'find out why nothing answers on port 10250: the kubelet does not run, or a security group refuses the API server',
    'pin-images': () => 'pin the images, so that image GC keeps them',
    'provide-image': (owner, place) =>
      `have ${owner ?? 'the owner of the pod'} push ${place ?? 'the image'} again, or name an image that its registry has`,
    'prune-dead-containers': () =>
      'delete finished pods (of a Job: ttlSecondsAfterFinished) and end crash loops: dead containers go with their pods',
    'prune-images': () => 'let the kubelet delete all unused images once',
    'raise-volume-limit': (owner, _, bytes) =>
      `give the emptyDir of ${owner ?? 'the pods'} a sizeLimit above the ${bytes ?? 'bytes'} that it writes, or have it write less`,
    'read-again': () => 'read the node again, in mode both',
    'read-journal': () => "read the kubelet's journal on the node",
    'read-limits': () =>
      'see which limit of the node is reached: inotify watches, mounts, cgroups, a small filesystem, or free space in small pieces (XFS)',
    'read-on-node': (_, mounts) =>
      `measure the disk on the node itself (mode both): the API cannot show what holds it${mounts === null ? '' : `; pods can write to ${mounts}`}`,
    'read-pods': () => 'look at the pods of the node',
    'read-pull-events': () => 'read the events of failed pulls',
    reboot: (_, __, bytes) =>
      bytes === null
        ? 'drain and reboot the node, and uncordon it when it is Ready again'
        : `drain and reboot the node, and uncordon it when it is Ready again: its filesystem grows to ${bytes} at boot. If not, replace the node`,
    'replace-node': () => 'replace the node: the new node starts empty',
    'restart-agent': () => 'restart the SSM agent of the node, or replace the node',
    'restart-kubelet': () => 'restart the kubelet in a quiet hour',
    'restart-pod': owner =>
      `restart ${owner ?? 'the process that holds the files'}: what it holds is free then`,
    'set-at-source': () =>
      "write the text below where the group's nodes come from, and replace them",
    'set-discard-unpacked': () =>
      'set discard_unpacked_layers = true in the configuration of containerd, and replace the nodes',
    'set-ephemeral-storage': (owner, _, bytes) =>
      `give ${owner ?? 'the pods'} requests and limits of ephemeral-storage${bytes === null ? '' : ` above the ${bytes} that it writes`}`,
    'set-log-files': () => 'write the logrotate files that the policy wants',
    'set-memory': (owner, _, bytes) =>
      `give ${owner ?? 'the pods'} requests and limits of memory${bytes === null ? '' : ` (it uses ${bytes})`}`,
    'set-volume-limit': (owner, _, bytes) =>
      `give the emptyDir of ${owner ?? 'the pods'} a sizeLimit${bytes === null ? '' : ` (the largest holds ${bytes})`}, or a volume of its own`,
    'upgrade-group': () => 'replace the nodes by ones of the newest release of their group',
    'upgrade-runtime': (_, __, ___, version = '') =>
      `take an AMI with ${version === '' ? 'a newer containerd' : `a release of containerd after ${version}`} for this group`,
    'vacuum-journal': () => 'cut the journal to 500 MB, and set SystemMaxUse in journald.conf',
  } satisfies Record<
    Exclude<StepActionId, 'advice' | 'clean-objects' | 'set-fields'>,
    (owner: string | null, place: string | null, bytes: string | null, more?: string) => string
  >,
  byNode: (amounts: string) => `${amounts} (by node)`,
  drain: (pods: string | null, data: string | null) => {
    const losses = [
      ...(pods === null ? [] : [`pods without a controller end for good (${pods})`]),
      ...(data === null ? [] : [`emptyDir data is deleted (${data})`]),
    ]
    return losses.length === 0
      ? 'drain the node: each pod has a controller, and none has emptyDir data'
      : `drain the node, after asking the owners: ${losses.join(', ')}`
  },
  others: 'and others',
  inOrder: (first: string, second: string) => `1. ${first}. 2. ${second}`,
  /** What a command does as it stands. `nodes` 0: unknown. */
  effect: (kind: CommandEffect, nodes: number) => {
    const of = nodes > 0 ? ` ${counted(nodes, 'node')}` : ''
    return {
      reads: 'reads only',
      changes: 'changes',
      restarts: `restarts${of}`,
      replaces: `replaces${of}`,
    }[kind]
  },
  showsPods: 'only shows the pods',
  labelledBy: (step: string, reason: string) => `${step} (${reason})`,
  labelled: (step: string, effect: string) => `${step} (command ${effect})`,
  oneOf: (count: number) => `1 of ${counted(count, 'command')}`,
  holds: (holder: string, amount: string, where: string[]) =>
    `${amount} ${holder}${where.length > 0 ? ` (${where.join(', ')})` : ''}`,
  /** `part`: what that owner or place holds. */
  holdsPart: (holder: string, amount: string, where: string[], part: string) =>
    `${amount} ${holder} (${part}: ${where.join(', ')})`,
  upTo: (amount: string) => `up to ${amount}`,
  atLeast: (amount: string) => `at least ${amount}`,
  inodes: (count: string) => `${count} inodes of`,
  nothingFrees: (statement: string) =>
    `${statement}; neither garbage collection nor eviction frees it`,
  memoryOutsidePods: 'no pod uses much memory: the kernel or programs of the host hold it',
  processesOutsidePods: 'pods have few of the processes: programs of the host have the others',
  imageMissing: (image: string) => `the image ${image} is not where its pod looks for it`,
  pullsFail: (registry: string) => `pulls from ${registry} fail`,
  process: (command: string, pid: number) => `process ${command}, pid ${pid}`,
  container: (pod: string, container: string) => `${pod}, container ${container}`,
  owners: { many: 'of many owners', unknown: 'owner not known' },
  volume: (name: string) => `volume ${name}`,
  image: (reference: string) => `largest: ${reference}`,
  devices: {
    'too-small': 'the disk is too small for what runs here',
    'wrong-volume': 'the declared size reached another volume',
    'unused-disk': 'a disk is mounted by nothing',
    'not-grown': 'the filesystem was not grown to its volume',
    'own-partition': 'the filesystem is a small partition of its volume',
    differs: 'the disk has another size than declared',
  } satisfies Record<DeviceCause['what'], string>,
  ownPartition: (volume: string, filesystem: string) =>
    `the volume has ${volume}, and the image of the node gives this filesystem a logical volume of ${filesystem}: it does not grow`,
  notGrown: (volume: string, filesystem: string) =>
    `the volume has ${volume}, its filesystem only ${filesystem}: it grows when the node boots`,
  /** `actual`: of all unused disks. */
  unusedDisk: (device: string, actual: string | null) =>
    `nothing mounts ${device}${actual === null ? '' : ` (${actual} in all)`}`,
  device: (what: string, declared: string | null, actual: string | null) =>
    [what, declared && `declared ${declared}`, actual && `the node has ${actual}`]
      .filter(Boolean)
      .join(', '),
  unread: {
    'not-asked': 'the API does not show what holds the disk',
    forbidden: 'a right is missing',
    refused: 'the connection was refused',
    'agent-lost': 'the SSM agent does not answer',
    cut: 'the answer was cut',
    timeout: 'no answer came in time',
    unsupported: 'no mode reads it on this kind of node',
    other: 'another reason: see the finding',
  } satisfies Record<UnreadReason, string>,
  edited: (place: string) => `${place} was edited by hand`,
}

export const ofSteps = { steps }
