/** Texts of the ledger: what holds a node's disks. */
import type { DiskHolder, LedgerSource } from '#model/prediction/disk-ledger.ts'
import { counted } from '#report/numbers.ts'
import type { SegmentKind } from '#report/parts/segment-kind.ts'
import { nodes } from './counts.ts'

const ledger = {
  title: 'What holds the disk',
  holders: {
    'images-in-use': 'images in use',
    'images-unused': 'unused images',
    'images-pinned': 'pinned images',
    images: 'images',
    'not-images': 'containerd data other than images',
    'image-content': 'packed image layers',
    'leftover-snapshots': 'leftover snapshots of containerd',
    'writable-layers': 'writable layers of containers',
    'dead-containers': 'dead containers',
    'container-logs': 'container logs',
    'log-debris': 'logs of deleted pods',
    'pod-volumes': 'volumes of pods (emptyDir)',
    'memory-volumes': 'volumes of pods in memory',
    'pod-folders': 'folders of pods, beside their volumes',
    'image-volumes': 'volumes that images declare (VOLUME), which the kubelet does not count',
    'host-path': 'hostPath volumes of pods',
    'local-volumes': 'local PersistentVolumes',
    'orphaned-pods': 'folders of deleted pods',
    kubelet: "kubelet's own folders",
    journal: 'journal',
    'host-logs': 'logs outside pods',
    'core-dumps': 'core dumps',
    'package-caches': 'package caches',
    'temporary-files': 'temporary files',
    'other-runtime': 'other data of container runtimes',
    system: 'operating system and home folders',
    'unknown-folder': 'folders not of Kubernetes',
    'deleted-open-files': 'deleted files that are still open',
    'reserved-blocks': 'blocks reserved for root',
    unread: 'not measured (host, kubelet, dead containers)',
    'not-explained': 'not explained',
  } satisfies Record<DiskHolder, string>,
  /** Segments of a disk's bar. */
  kinds: {
    images: 'images in use',
    'unused-images': 'unused images',
    pods: 'pods',
    logs: 'logs',
    host: 'host',
    leftover: 'left behind',
    unknown: 'not measured',
  } satisfies Record<SegmentKind, string>,
  segment: (kind: string, bytes: string, isEstimate: boolean) =>
    `${kind}: ${isEstimate ? 'perhaps ' : ''}${bytes}`,
  sources: {
    'stats summary': 'stats summary',
    crictl: 'crictl',
    ctr: 'ctr snapshots',
    du: 'du',
    '/proc': '/proc',
    df: 'df',
    rest: 'the rest',
  } satisfies Record<LedgerSource, string>,
  onNode: (node: string, cluster: string) => `${node}, cluster ${cluster}`,
  more: (count: number) => `${counted(count, 'more node')}: see highwater predict.`,
  /** `rows`: the largest holders, such as `12 GiB unused images`. */
  brief: (disk: string, rows: string[]) => `${disk}: ${rows.join(', ')}`,
  briefRow: (bytes: string, holder: string) => `${bytes} ${holder}`,
  columns: { holder: 'Holder', bytes: 'Bytes', inodes: 'Inodes', source: 'Source' },
  disk: (name: string, used: string, capacity: string) => `${name}: ${used} of ${capacity} used`,
  oneDisk: 'nodefs = imagefs',
  noDisk: (count: number, names: string[]) =>
    `Unknown on ${nodes(count)}, because no size of a disk was read: ${names.join('; ')}${count > names.length ? '; …' : ''}`,
  upTo: (high: string) => `up to ${high}`,
  between: (low: string, high: string) => `${low} to ${high}`,
  fleet: 'Largest consumers of local disk: of each nodegroup and namespace',
  fleetColumns: { place: 'Where', consumer: 'Consumer', uses: 'Use', bytes: 'Bytes' },
  /** A lower bound, because each node reports only its largest consumers. */
  atLeast: (bytes: string) => `≥ ${bytes}`,
  namespace: (name: string) => `namespace ${name}`,
  podCount: (count: number) => counted(count, 'pod'),
  largestPods: 'Largest pods',
  largestOwners: 'Largest owners',
  /** `owner` null: the pod has no controller. */
  pod: (name: string, owner: string | null, bytes: string, uses: string[], asks: string) =>
    `${name}${owner === null ? '' : ` (${owner})`}: ${bytes}, ${uses.join(', ')}; ${asks}`,
  uses: {
    layer: (bytes: string) => `${bytes} written into containers`,
    log: (bytes: string) => `${bytes} of logs`,
    volume: (bytes: string) => `${bytes} in volumes`,
  },
  /** `request`, `limit` null: not set. */
  asks: (request: string | null, limit: string | null) =>
    `request ${request ?? 'none'}, limit ${limit ?? 'none'}`,
  group: (name: string, bytes: string, pods: number, uses: string[], asks: string) =>
    `${name}: ${[`${bytes} in ${counted(pods, 'pod')}`, ...uses].join(', ')}; ${asks}`,
  size: {
    title: 'Disk size per group of nodes',
    advice: (
      group: string,
      [present, wanted]: [string, string],
      days: number,
      [known, all]: [number, number],
      difference: string,
    ) =>
      `${group}: ${wanted} instead of ${present} keep image GC ahead of eviction for ${counted(days, 'day')} of growth (measured on ${known} of ${counted(all, 'node')}), ${difference}`,
    difference: (isMore: boolean, cost: string) => `${cost} ${isMore ? 'more' : 'less'}`,
  },
  volumes: {
    title: 'EBS volumes',
    none: 'EC2 lists none',
    /** `reason` null: unknown. */
    unread: (reason: string | null) => `unknown: ${reason ?? 'EC2 did not report them'}`,
    brief: (volume: string) => `EBS ${volume}`,
    /** A null value is unknown. */
    volume: (
      device: string | null,
      type: string | null,
      size: string | null,
      iops: string | null,
    ) =>
      `${device ?? 'unknown device'}: ${type ?? 'unknown type'}, ${size ?? 'unknown size'}, ${iops ?? 'unknown'} IOPS`,
  },
  /** `holder`: of the fullest disk. */
  largest: (holder: string, amount: string) => `${amount} are ${holder}`,
  inodes: (text: string, count: number) => `${text} ${count === 1 ? 'inode' : 'inodes'}`,
  /** The filesystem was not grown to its volume. */
  notGrown: (filesystem: string, volume: string) =>
    `Filesystem ${filesystem} on a ${volume} volume`,
  /** `owner`: whose pods use most local storage, with its size. */
  mostPodData: (owner: string) => `most pod data: ${owner}`,
  /** `bytes`: of the largest pod. */
  eachAtMost: (owner: string, pods: number, bytes: string) =>
    `${owner} in ${counted(pods, 'pod')}, at most ${bytes} each`,
  /** `high`: the threshold to set. */
  freeable: (images: string, nodes: number, high: string) =>
    `Up to ${images} of unused images on ${counted(nodes, 'node')}, freed once imageGCHighThresholdPercent is ${high}`,
  free: {
    title: 'What can be freed',
    fleet: 'What can be freed on all nodes, as far as known',
    /** In place of an amount. */
    unknown: 'an unknown amount',
    nextImageGcBytes: (bytes: string) => `${bytes} by the next image GC`,
    unusedImageBytes: (bytes: string) =>
      `${bytes} of unused images, with lower image GC thresholds`,
    idleImageBytes: (bytes: string, days: number) =>
      `at least ${bytes} of images, by their sizes in the CRI, unused for ${days} days or more`,
    deadContainerBytes: (bytes: string) => `${bytes} in dead containers`,
    unrotatedLogBytes: (bytes: string) => `${bytes} of logs above the size that rotation keeps`,
    debrisBytes: (bytes: string) => `${bytes} of logs and folders of deleted pods`,
    unusableBytes: (bytes: string) => `${bytes} unusable: the kubelet evicts before`,
  },
}

export const ofLedger = { ledger }
