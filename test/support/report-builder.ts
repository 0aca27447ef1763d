/** A report as a real morning brings it: a fleet with old defaults, a full disk, nodes that nobody could read. A test changes what it is about. */

import { holders } from '#facts/holders.ts'
import { causesOf } from '#judge/causes.ts'
import { kubeletSetting } from '#judge/rule.ts'
import type { Change, ChangedFinding, Delta, Ending, FindingState } from '#model/delta.ts'
import type {
  ClusterResult,
  Finding,
  FindingsDocument,
  Severity,
  Step,
  StepActionId,
} from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { NodeIdentity, ReadError, Subject } from '#model/input/record.ts'
import {
  startsAboveUsedPercent,
  startsBelowAvailableBytes,
} from '#model/kubelet/image-gc-trigger.ts'
import type {
  DiskHolder,
  DiskLedger,
  EvaluatedThreshold,
  FilesystemState,
  NodePrediction,
  Observation,
  Signal,
  ThresholdOrigin,
} from '#model/prediction.ts'
import type {
  Assumptions,
  AuditedNode,
  AuditedSettings,
  AuditReport,
  FirstVictims,
  NodeDetails,
  RunBefore,
} from '#model/report.ts'

export const GiB = 1024 ** 3
const MiB = 1024 ** 2

export const nodegroup = (name: string): Subject => ({ kind: 'Nodegroup', namespace: null, name })

export function filesystem(
  capacityBytes: number,
  availableBytes: number,
  inodesFreePercent = 78,
): FilesystemState {
  const inodes = Math.round(capacityBytes / 2048)
  const usedPercent = 100 - Math.floor((availableBytes * 100) / capacityBytes)
  return {
    capacityBytes,
    availableBytes,
    usedPercent,
    inodes,
    inodesFree: Math.round((inodes * inodesFreePercent) / 100),
  }
}

const observation = (available: number, capacity: number): Observation => ({
  available,
  capacity,
  time: '2026-11-21T06:59:50Z',
})

interface ThresholdOptions {
  hard?: boolean
  gracePeriodMs?: number
}

/** A threshold as configured (`10%` or a number of bytes) against its observation; undefined: not observed. */
export function threshold(
  signal: Signal,
  value: string,
  observed: Observation | undefined,
  options: ThresholdOptions = {},
): EvaluatedThreshold {
  const { hard = true, gracePeriodMs = 0 } = options
  const base = {
    signal,
    operator: 'LessThan',
    value,
    hard,
    gracePeriodMs,
    minReclaim: '0',
  } as const
  if (observed === undefined) return { ...base, resolved: null, met: null, margin: null }
  const units: Record<string, number> = { Mi: MiB, Gi: GiB }
  const number = Number.parseFloat(value)
  const resolved = value.endsWith('%')
    ? Math.trunc((observed.capacity * number) / 100)
    : number * (units[value.slice(-2)] ?? 1)
  return {
    ...base,
    resolved,
    met: observed.available < resolved,
    margin: observed.available - resolved,
  }
}

function identity(name: string, overrides: Partial<NodeIdentity> = {}): NodeIdentity {
  return {
    name,
    group: nodegroup('general'),
    owner: 'managed-nodegroup',
    isEksctl: false,
    amiFamily: 'AL2023',
    operatingSystem: 'linux',
    instanceType: 'm6i.2xlarge',
    instanceId: 'i-0a1b2c3d4e5f60718',
    bootId: `boot-of-${name}`,
    kubeletVersion: 'v1.34.1',
    ready: 'True',
    ...overrides,
  }
}

export const noFilesystems: NodePrediction['filesystems'] = {
  nodefs: null,
  imagefs: null,
  containerfs: null,
  layout: null,
  layoutCertainty: null,
}

const hardDefaults = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
}

/** What a kubelet 1.34 is set to, image GC but for the percentages at its defaults. */
export function settings(
  highThresholdPercent: number,
  lowThresholdPercent: number,
  overrides: Partial<AuditedSettings> = {},
): AuditedSettings {
  const setting = (
    field: NonNullable<AuditedSettings['imageGC']>[number]['field'],
    value: string,
    preset: string,
  ) => ({
    field,
    value,
    preset,
    origin: {
      ...fromUpstream,
      ...(value === preset ? {} : { source: 'configured' as const, certainty: 'certain' as const }),
    },
  })
  return {
    isOnDisk: false,
    kubeletMinor: '1.34',
    hardDefaults,
    off: [],
    imageGC: [
      setting('imageGCHighThresholdPercent', String(highThresholdPercent), '85'),
      setting('imageGCLowThresholdPercent', String(lowThresholdPercent), '80'),
      setting('imageMinimumGCAge', '2m0s', '2m0s'),
      setting('imageMaximumGCAge', '0s', '0s'),
    ],
    missing: {},
    ...overrides,
  }
}

const fromUpstream: ThresholdOrigin = {
  source: 'upstream default',
  certainty: 'likely',
  path: null,
}
const byConfiguration: ThresholdOrigin = { source: 'configured', certainty: 'likely', path: null }

export const nothingPredicted: AuditedNode['prediction'] = {
  filesystems: noFilesystems,
  imageGC: null,
  eviction: null,
  settings: settings(85, 80, {
    imageGC: null,
    missing: { eviction: 'configz: not in the snapshot', imageGC: 'configz: not in the snapshot' },
  }),
}

interface DiskOptions {
  capacityBytes?: number
  highThresholdPercent?: number
  lowThresholdPercent?: number
  evictionHard?: Partial<Record<Signal, string>>
  evictionSoft?: Partial<Record<Signal, string>>
  inodesFreePercent?: number
  memoryAvailableBytes?: number
}

const defaultHard: Partial<Record<Signal, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
}

/** One disk for everything, `usedPercent` of it used, under the kubelet's defaults. */
export function sharedDisk(
  usedPercent: number,
  options: DiskOptions = {},
): AuditedNode['prediction'] {
  const { capacityBytes = 80 * GiB, inodesFreePercent } = options
  const disk = filesystem(
    capacityBytes,
    Math.round((capacityBytes * (100 - usedPercent)) / 100),
    inodesFreePercent,
  )
  return {
    filesystems: {
      nodefs: disk,
      imagefs: disk,
      containerfs: disk,
      layout: 'shared',
      layoutCertainty: 'likely',
    },
    ...watchedBy(disk, disk, options),
  }
}

/** A disk for images and containers, beside that of the kubelet. */
export function dedicatedDisks(
  nodefs: FilesystemState,
  imagefs: FilesystemState,
  options: DiskOptions = {},
): AuditedNode['prediction'] {
  return {
    filesystems: {
      nodefs,
      imagefs,
      containerfs: imagefs,
      layout: 'imagefs',
      layoutCertainty: 'certain',
    },
    ...watchedBy(nodefs, imagefs, options),
  }
}

function watchedBy(
  nodefs: FilesystemState,
  imagefs: FilesystemState,
  options: DiskOptions,
): Pick<AuditedNode['prediction'], 'imageGC' | 'eviction' | 'settings'> {
  const {
    highThresholdPercent = 85,
    lowThresholdPercent = 80,
    evictionHard = defaultHard,
    evictionSoft = {},
    memoryAvailableBytes = 11.3 * GiB,
  } = options
  const observed: Partial<Record<Signal, Observation>> = {
    'memory.available': observation(memoryAvailableBytes, 30.9 * GiB),
    'nodefs.available': observation(nodefs.availableBytes!, nodefs.capacityBytes!),
    'nodefs.inodesFree': observation(nodefs.inodesFree!, nodefs.inodes!),
    'imagefs.available': observation(imagefs.availableBytes!, imagefs.capacityBytes!),
    'imagefs.inodesFree': observation(imagefs.inodesFree!, imagefs.inodes!),
  }
  const thresholds = (of: Partial<Record<Signal, string>>, thresholdOptions: ThresholdOptions) =>
    (Object.entries(of) as [Signal, string][]).map(([signal, value]) => ({
      ...threshold(signal, value, observed[signal], thresholdOptions),
      origin: byConfiguration,
    }))
  const capacity = imagefs.capacityBytes!
  const available = imagefs.availableBytes!
  const usagePercent = imagefs.usedPercent!
  const triggered = usagePercent >= highThresholdPercent
  return {
    imageGC: {
      enabled: highThresholdPercent < 100,
      highThresholdPercent,
      lowThresholdPercent,
      triggered,
      usagePercent,
      bytesUntilTrigger: triggered
        ? 0
        : available - startsBelowAvailableBytes(capacity, highThresholdPercent) + 1,
      startsAboveUsedPercent: startsAboveUsedPercent(highThresholdPercent),
      startsBelowAvailableBytes: startsBelowAvailableBytes(capacity, highThresholdPercent),
      bytesToFree: triggered
        ? Math.trunc((capacity * (100 - lowThresholdPercent)) / 100) - available
        : 0,
      reachesLow: triggered ? null : true,
      freedBytes: triggered ? null : 0,
      shortfallBytes: triggered ? null : 0,
      deletableBytes: null,
      error: null,
    },
    eviction: {
      signals: Object.fromEntries(
        Object.entries(observed).map(([signal, { available, capacity, time }]) => [
          signal,
          { availableBytes: available, capacityBytes: capacity, time },
        ]),
      ),
      thresholds: [
        ...thresholds(evictionHard, {}),
        ...thresholds(evictionSoft, { hard: false, gracePeriodMs: 90_000 }),
      ],
      lost: Object.entries(hardDefaults)
        .filter(([signal]) => !Object.hasOwn(evictionHard, signal))
        .map(([signal, value]) => ({ signal, value, by: byConfiguration })),
      error: null,
    },
    settings: settings(highThresholdPercent, lowThresholdPercent),
  }
}

/** One disk of 20 GiB, used by the lines: holder, and its bytes at least and at most. */
export function diskLedger(
  ...held: readonly (readonly [holder: DiskHolder, lowBytes: number, highBytes: number])[]
): DiskLedger {
  const lines = held.map(([holder, lowBytes, highBytes]) => ({
    ...{ holder, bytes: highBytes, lowBytes, highBytes },
    ...{ inodes: null, source: 'du' as const },
  }))
  const freeable = {
    ...{ unusedImageBytes: null, deadContainerBytes: null },
    ...{ debrisBytes: null, unusableBytes: null },
  }
  return {
    schema: 'highwater.ledger/1',
    isShared: true,
    filesystems: [
      {
        ...{ filesystem: 'nodefs', capacityBytes: 20 * GiB, usedBytes: 15 * GiB, usedInodes: null },
        lines,
      },
    ],
    ...{ pods: [], owners: [], namespaces: [], freeable, volumes: null, volumesUnread: null },
  }
}

const firstVictims: FirstVictims[] = [
  {
    signal: 'memory.available',
    pods: [{ namespace: 'shop', name: 'search-0', rank: 0 }],
    alike: 1,
  },
  {
    signal: 'nodefs.available',
    pods: [
      { namespace: 'ci', name: 'build-7f9c', rank: 0 },
      { namespace: 'shop', name: 'search-0', rank: 1 },
    ],
    alike: 1,
  },
  {
    signal: 'imagefs.available',
    pods: [
      { namespace: 'ci', name: 'build-7f9c', rank: 0 },
      { namespace: 'shop', name: 'search-0', rank: 1 },
    ],
    alike: 1,
  },
]

export function auditedNode(
  name: string,
  prediction: AuditedNode['prediction'],
  overrides: Partial<Omit<AuditedNode, 'identity' | 'details'>> &
    NodeDetails & { identity?: Partial<NodeIdentity> } = {},
): AuditedNode {
  const { identity: identityOverrides, ledger, held, workloads, ...rest } = overrides
  const victims = overrides.firstVictims ?? (prediction.eviction ? firstVictims : undefined)
  const details = {
    ...(ledger && { ledger }),
    ...(held && { held }),
    ...(victims && { firstVictims: victims }),
    ...(workloads && { workloads }),
  }
  return {
    cluster: 'prod-eu',
    identity: identity(name, identityOverrides),
    at: '2026-11-21T07:00:00Z',
    mode: 'proxy',
    coverage: 'read',
    errors: [],
    prediction,
    details: () => details,
    outcomes: { pass: 9, fail: 1, unknown: 0, notApplicable: 2, error: 0 },
    ...rest,
  }
}

export function unreadNode(
  name: string,
  errors: ReadError[],
  overrides: Parameters<typeof auditedNode>[2] = {},
): AuditedNode {
  const reason = errors.map(({ what, message }) => `${what}: ${message}`).join('; ')
  const missing = { eviction: reason, imageGC: reason }
  const prediction = { ...nothingPredicted, settings: { ...nothingPredicted.settings, missing } }
  return auditedNode(name, prediction, { coverage: 'notRead', errors, ...overrides })
}

/** The rule's advice, with these commands. */
export const adviceWith = (...commands: string[]): Step[] => stepWith('advice', commands)

const stepWith = (id: StepActionId, commands: string[]): Step[] => [
  {
    kind: 'set',
    action: { id },
    commands: commands.map(command => ({ place: 'prod-eu', command, effect: 'reads' })),
    ends: 'all',
    disturbs: 'nothing',
  },
]

/** The report with its causes, as the pipeline makes them. */
export const withCauses = (report: AuditReport): AuditReport => ({
  ...report,
  document: { ...report.document, causes: causesOf(report) },
})

let serial = 0

export function finding(severity: Severity, overrides: Partial<Finding> = {}): Finding {
  serial += 1
  const fields = Object.keys(overrides.fix?.config ?? {})
  return {
    id: `f${String(serial).padStart(6, '0')}`,
    rule: 'eviction-before-image-gc',
    family: 'image-gc',
    severity,
    confidence: 'certain',
    cluster: 'prod-eu',
    subject: nodegroup('general'),
    nodes: { count: 1, sample: ['ip-10-0-1-17.eu-central-1.compute.internal'] },
    title: 'Pods are evicted before image GC can start',
    consequence: 'At 85% used the kubelet evicts pods.',
    evidence: [{ kind: 'configz', what: 'configz imageGCHighThresholdPercent', value: '85' }],
    cause:
      fields.length === 0
        ? { kind: 'world', event: 'growth', subject: overrides.rule ?? null }
        : kubeletSetting(...fields.slice(0, 2)),
    steps: stepWith(fields.length === 0 ? 'advice' : 'set-fields', []),
    fix: { config: {}, durable: [] },
    since: null,
    waived: null,
    docs: {
      title: 'Eviction comes before image GC',
      why: 'Because.',
      fix: 'Lower it.',
      sources: ['pkg/kubelet/images/image_gc_manager.go GarbageCollect'],
    },
    ...overrides,
  }
}

export function clusterResult(name: string, overrides: Partial<ClusterResult> = {}): ClusterResult {
  return {
    name,
    grade: 'B',
    coverage: { nodes: 1, read: 1, partlyRead: 0, notRead: 0 },
    outcomes: { pass: 9, fail: 1, unknown: 0, notApplicable: 2, error: 0 },
    ...overrides,
  }
}

export function findingsDocument(overrides: Partial<FindingsDocument> = {}): FindingsDocument {
  return {
    schema: 'highwater.findings/1',
    run: {
      version: '0.1.0',
      source: 'live',
      takenAt: '2026-11-21T07:00:00Z',
      account: '123456789012',
      region: 'eu-central-1',
      rules: [
        'alert-before-image-gc',
        'eviction-before-image-gc',
        'eviction-due',
        'image-gc-due',
        'invalid-kubelet-configuration',
        'lost-default-threshold',
        'peer-drift',
        'unread-node',
        'unwatched-imagefs',
      ],
      inputErrors: [],
    },
    clusters: [clusterResult('prod-eu')],
    findings: [],
    waived: [],
    unknowns: [],
    notAudited: [],
    delta: { new: [], resolved: [] },
    ...overrides,
  }
}

/** One cluster, the given nodes, nothing found. */
export const assumptions: Assumptions = {
  growthPercent: 2,
  imageGcPeriodMs: 300_000,
  usdPerGiBMonth: 0.08,
  idleImageDays: 7,
  mostUnpacking: 3.5,
  holders,
}

export function quietReport(
  nodes: AuditedNode[],
  overrides: Partial<FindingsDocument> = {},
): AuditReport {
  const count = (coverage: AuditedNode['coverage']) =>
    nodes.filter(node => node.coverage === coverage).length
  const coverage = {
    nodes: nodes.length,
    read: count('read'),
    partlyRead: count('partlyRead'),
    notRead: count('notRead'),
  }
  return withCauses({
    document: findingsDocument({
      clusters: [clusterResult('prod-eu', { coverage, grade: 'A' })],
      ...overrides,
    }),
    nodes,
    alertPercent: 80,
    assumptions,
  })
}

const ip = (third: number, fourth: number) =>
  `ip-10-0-${third}-${fourth}.eu-central-1.compute.internal`

/** Three clusters, one of them out of reach; every rule of the first release speaks. */
export function morningReport(): AuditReport {
  const general = Array.from({ length: 36 }, (_, index) =>
    auditedNode(
      ip(1, 10 + index),
      sharedDisk(index === 0 ? 91.3 : 38 + ((index * 37) % 45) + index / 10, {
        memoryAvailableBytes: (4 + (index % 9)) * GiB,
      }),
    ),
  )
  const oneByHand = auditedNode(
    ip(1, 90),
    sharedDisk(66.2, { highThresholdPercent: 70, lowThresholdPercent: 50 }),
  )
  const threeSignals = {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
  }
  const batch = [1, 2].map(index =>
    auditedNode(
      ip(2, index),
      dedicatedDisks(
        filesystem(20 * GiB, 11.4 * GiB),
        filesystem(200 * GiB, (60 - index * 15) * GiB),
        { evictionHard: threeSignals },
      ),
      {
        identity: {
          group: nodegroup('batch'),
          instanceType: 'm6id.4xlarge',
          amiFamily: 'AL2',
          kubeletVersion: 'v1.31.13',
        },
      },
    ),
  )
  const staging = [
    auditedNode(
      'ip-10-8-0-4.eu-west-1.compute.internal',
      sharedDisk(85.1, { evictionSoft: { 'nodefs.available': '16%', 'imagefs.available': '20%' } }),
      {
        cluster: 'staging',
        identity: {
          group: { kind: 'NodePool', namespace: null, name: 'default' },
          owner: 'karpenter',
          instanceType: 'c7g.xlarge',
        },
      },
    ),
    auditedNode('ip-10-8-0-9.eu-west-1.compute.internal', nothingPredicted, {
      cluster: 'staging',
      coverage: 'partlyRead',
      errors: [
        {
          what: 'summary',
          message: 'GET /api/v1/nodes/ip-10-8-0-9/proxy/stats/summary: no answer within 10 s',
        },
      ],
      identity: {
        group: { kind: 'NodePool', namespace: null, name: 'default' },
        owner: 'karpenter',
        ready: 'Unknown',
      },
    }),
    unreadNode(
      'ip-10-8-3-77.eu-west-1.compute.internal',
      [
        {
          what: 'configz',
          message: '503 Service Unavailable: dial tcp 10.8.3.77:10250: connection refused',
        },
      ],
      { cluster: 'staging', identity: { group: nodegroup('edge'), ready: 'False' } },
    ),
    unreadNode(
      'win-10-8-4-5',
      [
        {
          what: 'summary',
          message: 'Windows: image GC and the inode signals work otherwise there; not audited',
        },
      ],
      {
        cluster: 'staging',
        identity: { group: nodegroup('windows'), operatingSystem: 'windows', amiFamily: 'Windows' },
      },
    ),
    unreadNode(
      'fargate-ip-10-8-5-1.eu-west-1.compute.internal',
      [{ what: 'configz', message: 'Fargate: AWS runs this node, its kubelet cannot be asked' }],
      {
        cluster: 'staging',
        identity: {
          group: {
            kind: 'Node',
            namespace: null,
            name: 'fargate-ip-10-8-5-1.eu-west-1.compute.internal',
          },
          owner: 'fargate',
          amiFamily: 'other',
          instanceType: null,
        },
      },
    ),
  ]
  const generalNames = general.map(({ identity: { name } }) => name)
  const nodeadm =
    'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      imageGCHighThresholdPercent: 70\n      imageGCLowThresholdPercent: 50\n'
  const before = {
    title: 'Pods are evicted before image GC can start',
    why: 'The eviction manager looks every 10 s, image GC every 5 min. Where both wait for nearly the same fill, eviction wins: it sets DiskPressure, deletes every unused image at once, and then kills pods.',
    fix: 'Lower imageGCHighThresholdPercent until at least what grows in one GC period lies between the two.',
    sources: [
      'pkg/kubelet/images/image_gc_manager.go GarbageCollect',
      'pkg/kubelet/eviction/eviction_manager.go synchronize',
    ],
  }
  const docs = (title: string) => ({ ...before, title })
  const findings = [
    finding('critical', {
      id: 'a1',
      rule: 'eviction-due',
      family: 'eviction',
      subject: nodegroup('general'),
      nodes: { count: 1, sample: [ip(1, 10)] },
      title: 'The kubelet is evicting pods now',
      consequence:
        'imagefs.available stands at 8.7% of 80.0 GiB, below its hard threshold of 15%: DiskPressure is set, all unused images go, then pods are killed without a grace period.',
      evidence: [
        {
          kind: 'computed',
          what: 'stats summary node.fs.availableBytes',
          value: '7,473,029,120 (7.0 GiB)',
        },
        { kind: 'configz', what: 'configz evictionHard.imagefs.available', value: '15%' },
        {
          kind: 'computed',
          what: 'Node conditions DiskPressure',
          value: 'True since 2026-11-21T05:12:08Z',
        },
      ],
      steps: adviceWith(
        'kubectl --context prod-eu cordon ip-10-0-1-10.eu-central-1.compute.internal',
        'kubectl --context prod-eu get pods -A --field-selector spec.nodeName=ip-10-0-1-10.eu-central-1.compute.internal',
      ),
      docs: docs('An eviction threshold is met at this moment'),
    }),
    finding('high', {
      id: 'a2',
      nodes: { count: 37, sample: generalNames.slice(0, 20) },
      consequence:
        'At 85% used eviction (imagefs.available<15%) acts within 10 s. Image GC starts above 84% and looks every 5 min: unless a GC round falls into that last 0.8 GiB, pods are evicted first.',
      evidence: [
        {
          kind: 'configz',
          what: 'configz imageGCHighThresholdPercent',
          value: '85 (starts above 84% used: 67.2 GiB)',
        },
        {
          kind: 'configz',
          what: 'configz evictionHard.imagefs.available',
          value: '15% (met above 85% used: 68.0 GiB)',
        },
        { kind: 'computed', what: 'Between the two', value: '0.8 GiB, 1% of the disk' },
      ],
      fix: {
        config: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 },
        durable: [
          { target: 'nodeadm', snippet: nodeadm },
          {
            target: 'eksctl',
            snippet:
              'nodeGroups:\n  - name: general\n    kubeletExtraConfig:\n      imageGCHighThresholdPercent: 70\n',
          },
        ],
      },
      since: '2026-11-18',
      docs: before,
    }),
    finding('high', {
      id: 'a3',
      rule: 'unwatched-imagefs',
      family: 'eviction',
      subject: nodegroup('batch'),
      nodes: { count: 2, sample: [ip(2, 1), ip(2, 2)] },
      title: 'Nothing watches the image filesystem',
      consequence:
        'imagefs is a disk of its own and no eviction threshold looks at it: it can fill to 100% with no DiskPressure, then pulls fail with "no space left on device".',
      evidence: [
        {
          kind: 'configz',
          what: 'configz evictionHard',
          value: 'memory.available<100Mi, nodefs.available<10%, nodefs.inodesFree<5%',
        },
      ],
      fix: {
        config: {
          evictionHard: {
            'imagefs.available': '15%',
            'memory.available': '100Mi',
            'nodefs.available': '10%',
            'nodefs.inodesFree': '5%',
          },
        },
        durable: [],
      },
      docs: docs('An image filesystem of its own that no threshold watches'),
    }),
    finding('high', {
      id: 'a4',
      rule: 'lost-default-threshold',
      family: 'eviction',
      confidence: 'likely',
      subject: nodegroup('batch'),
      nodes: { count: 2, sample: [ip(2, 1), ip(2, 2)] },
      title: 'A default eviction threshold was lost',
      consequence:
        'evictionHard was set with three signals, so that the default imagefs.available<15% vanished.',
      docs: docs('Setting one signal of evictionHard removes the defaults of all others'),
    }),
    finding('high', {
      id: 'a5',
      rule: 'unread-node',
      family: 'coverage',
      cluster: 'staging',
      subject: nodegroup('edge'),
      nodes: { count: 1, sample: ['ip-10-8-3-77.eu-west-1.compute.internal'] },
      title: 'A node could not be read',
      consequence:
        'Its kubelet refuses connections: it may be down, and nothing here speaks of that node.',
      evidence: [
        {
          kind: 'computed',
          what: 'configz',
          value: '503 Service Unavailable: dial tcp 10.8.3.77:10250: connection refused',
        },
      ],
      docs: docs('A node that could not be read'),
    }),
    finding('medium', {
      id: 'a6',
      rule: 'alert-before-image-gc',
      nodes: { count: 37, sample: generalNames.slice(0, 20) },
      title: 'The disk alert fires before image GC could help',
      consequence:
        'The alert fires at 80%, image GC would only start above 84%: people are woken for what the kubelet mends by itself.',
      evidence: [
        { kind: 'policy', what: 'policy alertPercent', value: '80' },
        { kind: 'configz', what: 'configz imageGCHighThresholdPercent', value: '85' },
      ],
      docs: docs('The alert comes before image GC'),
    }),
    finding('medium', {
      id: 'a7',
      rule: 'peer-drift',
      family: 'drift',
      nodes: { count: 1, sample: [ip(1, 90)] },
      title: 'One node differs from its 36 peers',
      consequence: 'It collects images from 69% on; its peers from 84%.',
      evidence: [
        { kind: 'computed', what: 'imageGCHighThresholdPercent', value: '70 here, 85 on 36 peers' },
        { kind: 'computed', what: 'imageGCLowThresholdPercent', value: '50 here, 80 on 36 peers' },
      ],
      docs: docs('A node of a group is configured unlike its peers'),
    }),
    finding('low', {
      id: 'a8',
      rule: 'image-gc-due',
      cluster: 'staging',
      subject: { kind: 'NodePool', namespace: null, name: 'default' },
      nodes: { count: 1, sample: ['ip-10-8-0-4.eu-west-1.compute.internal'] },
      title: 'Image GC is due',
      consequence: 'Within 5 min the kubelet deletes unused images until 4.1 GiB are freed.',
      docs: docs('Image GC is due'),
    }),
  ]
  const nodes = [...general, oneByHand, ...batch, ...staging]
  return withCauses({
    alertPercent: 80,
    assumptions,
    nodes,
    document: findingsDocument({
      clusters: [
        clusterResult('prod-eu', {
          grade: 'D',
          coverage: { nodes: 39, read: 39, partlyRead: 0, notRead: 0 },
          outcomes: { pass: 11, fail: 6, unknown: 0, notApplicable: 1, error: 0 },
        }),
        clusterResult('prod-us', {
          grade: null,
          coverage: { nodes: 0, read: 0, partlyRead: 0, notRead: 0 },
          outcomes: { pass: 0, fail: 0, unknown: 0, notApplicable: 0, error: 0 },
        }),
        clusterResult('staging', {
          grade: 'C',
          coverage: { nodes: 5, read: 1, partlyRead: 1, notRead: 3 },
          outcomes: { pass: 5, fail: 2, unknown: 9, notApplicable: 4, error: 0 },
        }),
      ],
      findings,
      waived: [
        finding('low', {
          id: 'w1',
          rule: 'image-gc-due',
          title: 'Image GC is due',
          waived: { until: '2026-12-31', reason: 'The builders are meant to run full.' },
          subject: nodegroup('builders'),
        }),
      ],
      unknowns: [
        {
          rule: 'eviction-before-image-gc',
          cluster: 'staging',
          subject: { kind: 'NodePool', namespace: null, name: 'default' },
          nodes: { count: 1, sample: ['ip-10-8-0-9.eu-west-1.compute.internal'] },
          reason: 'stats/summary was not read, so that the disks are not known',
        },
        {
          rule: 'unwatched-imagefs',
          cluster: 'staging',
          subject: nodegroup('edge'),
          nodes: { count: 1, sample: ['ip-10-8-3-77.eu-west-1.compute.internal'] },
          reason: 'configz was not read',
        },
      ],
      notAudited: [
        {
          cluster: 'prod-us',
          node: null,
          cause: 'objects',
          reason:
            'The API server of prod-us did not answer within 10 s (connect ETIMEDOUT 10.9.0.1:443). Check the network path, or take the cluster out of the policy.',
        },
        {
          cluster: 'staging',
          node: 'ip-10-8-3-77.eu-west-1.compute.internal',
          cause: 'sources',
          reason: 'configz and stats/summary: 503 Service Unavailable',
        },
        {
          cluster: 'staging',
          node: 'win-10-8-4-5',
          cause: 'sources',
          reason: 'Windows nodes are not audited',
        },
        {
          cluster: 'staging',
          node: 'fargate-ip-10-8-5-1.eu-west-1.compute.internal',
          cause: 'fargate',
          reason: 'Fargate: AWS runs this node',
        },
      ],
    }),
  })
}

/** Every string of a value replaced. */
export function everyString(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (typeof value === 'function') return () => everyString(value(), replace)
  if (Array.isArray(value)) return value.map(item => everyString(item, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, everyString(item, replace)]),
  )
}

/** A delta in which these findings changed like that, and nothing else. */
export function deltaWith(
  changed: Iterable<[string, { change: Change; why: string[] } & Partial<ChangedFinding>]>,
): Delta {
  return {
    clusters: [],
    findings: Array.from(changed, ([id, more]) => ({
      id,
      rule: 'r',
      cluster: 'prod',
      subject: nodegroup('general'),
      title: id,
      before: null,
      after: null,
      ...more,
    })),
    unchanged: { open: 0, waived: 0, inDoubt: 0 },
    nodes: { gone: [], come: [], notReadNow: [] },
    notes: [],
  }
}

/** Findings that stood in the run before, one for each ending, which is its id too. */
export const endedOf = (...endings: Ending[]): PastFinding[] =>
  endings.map(ended => ({
    id: ended,
    rule: 'eviction-due',
    cluster: 'prod-eu',
    subject: nodegroup('general'),
    title: 'The kubelet is evicting pods now',
    severity: 'high',
    since: '2026-11-18',
    lastSeen: '2026-11-20',
    ended,
    on: '2026-11-21',
  }))

/** The morning after another: a finding is new, one is worse, one has ended. */
export function secondMorning(): AuditReport {
  const report = morningReport()
  const delta = { new: ['a1'], worse: ['a2'], resolved: ['fixed'], regressed: [] }
  const before = { ...lastRun(), ended: endedOf('fixed') }
  return { ...report, document: { ...report.document, delta }, before }
}

/** What the morning brought since the run before. */
export function lastRun(): RunBefore {
  const state = (severity: Severity, count: number): FindingState => ({
    severity,
    confidence: 'certain',
    nodes: { count, sample: [ip(1, 10)] },
    waived: null,
  })
  const changed = (
    change: Change,
    id: string,
    title: string,
    before: FindingState | null,
    after: FindingState | null,
    why: string[],
  ): ChangedFinding => ({
    change,
    id,
    rule: 'eviction-due',
    cluster: 'prod-eu',
    subject: nodegroup('general'),
    title,
    before,
    after,
    why,
  })
  return {
    takenAt: '2026-11-20T07:00:00Z',
    ended: [],
    readAgain: [],
    hidden: [],
    absent: [],
    returned: [],
    unread: [],
    delta: {
      clusters: [
        {
          name: 'prod-eu',
          before: { grade: 'B', coverage: { nodes: 38, read: 38, partlyRead: 0, notRead: 0 } },
          after: { grade: 'D', coverage: { nodes: 39, read: 39, partlyRead: 0, notRead: 0 } },
        },
      ],
      findings: [
        changed('new', 'a1', 'The kubelet is evicting pods now', null, state('critical', 1), []),
        changed(
          'worse',
          'a2',
          'Pods are evicted before image GC can start',
          state('high', 35),
          state('high', 37),
          ['2 more nodes: ip-10-0-1-44, ip-10-0-1-45'],
        ),
        changed('cannotTell', 'z2', 'Nothing watches the inodes', state('high', 1), null, [
          'its node was not read today: ip-10-8-3-77',
        ]),
        changed(
          'fixed',
          'z1',
          'A soft eviction threshold can never take effect',
          state('medium', 12),
          null,
          [],
        ),
      ],
      unchanged: { open: 5, waived: 1, inDoubt: 0 },
      nodes: {
        gone: [],
        come: [{ cluster: 'prod-eu', node: ip(1, 45) }],
        notReadNow: [
          {
            cluster: 'staging',
            node: 'ip-10-8-3-77',
            coverage: 'notRead',
            before: 'read',
            reason: '503 Service Unavailable',
          },
        ],
      },
      notes: [],
    },
  }
}

/** A deep copy. Details of nodes are read only, so copies share them. */
export const copyOf = ({ nodes, ...report }: AuditReport): AuditReport => ({
  ...structuredClone(report),
  nodes: nodes.map(({ details, ...node }) => ({ ...structuredClone(node), details })),
})
