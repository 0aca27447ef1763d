import { amiDefaults, isAmiDefaultKnown, isNewInAmi } from '#facts/eks/ami-defaults.ts'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { configurationDefaults } from '#facts/kubelet/configuration-defaults.ts'
import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import type { NodeContext } from '#judge/cluster-facts.ts'
import { nodegroupOf } from '#judge/declared.ts'
import { dependsOnSize, type FieldValue, fieldOf, fieldValues, isCompared, meaningOf, shownSetting, writtenSettings } from '#judge/drift.ts'
import { configOf } from '#judge/layer-evidence.ts'
import { runs, shownRunning } from '#judge/layers.ts'
import { contextRule, type FactOfGroup } from '#judge/rule.ts'
import { isOnMost } from '#judge/shares.ts'
import { bounded, counted } from '#judge/text.ts'
import { matchesGlob } from '#model/glob.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { Baseline, Policy } from '#model/policy.ts'
import { parseQuantity, quantityNumber } from '#model/quantity.ts'
import { isRawObject } from '#model/record.ts'

type Fact = Pick<NodeIdentity, 'owner' | 'amiFamily' | 'instanceType' | 'kubeletVersion' | 'operatingSystem'> & {
  cluster: string
  group: string
  cores: number | null
  /** What its files and flags come to; nobody saw it run. */
  isOnDisk: boolean
  running: Record<string, FieldValue>
}

interface Deviation {
  path: string
  /** What it should be, as shown. */
  expected: string
  value: unknown
}

const nodegroups = [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD' }]
const sound = {
  serializeImagePulls: false,
  kubeReservedCgroup: '/runtime',
  systemReservedCgroup: '/system',
  shutdownGracePeriod: '2m30s',
  shutdownGracePeriodCriticalPods: '30s',
  maxPods: 58,
  kubeReserved: { cpu: '80m', memory: '893Mi', 'ephemeral-storage': '1Gi' },
}
const node = { status: { capacity: { cpu: '4' } } }

export const baselineDrift = contextRule({
  id: 'baseline-drift',
  family: 'drift',
  severity: 'medium',
  needs: ['configuration'],
  docs: {
    title: 'Nodes run with other kubelet settings than they are meant to',
    why: "The policy's baseline says what nodes are meant to run with. Where none is written, and a nodegroup of EKS declares nothing, its nodes run with what their AMI writes: anything else was changed on the nodes, and is lost when they are replaced.",
    fix: 'Set what the baseline says where the nodes come from (launch template, NodeConfig, EC2NodeClass), or write down in policy.baseline what is meant.',
    sources: [
      'awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go',
      'awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh',
      'bottlerocket-core-kit packages/kubernetes-1.34/kubelet-config',
    ],
  },
  examples: {
    bad: { configuration: { ...sound, imageGCHighThresholdPercent: 95, imageGCLowThresholdPercent: 80 }, node, nodegroups },
    good: { configuration: { ...sound, imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 }, node, nodegroups },
  },

  fact: ({ cluster, identity, configuration, isConfigurationOnDisk, node }): Fact => {
    const { owner, amiFamily, instanceType, kubeletVersion, operatingSystem, group } = identity
    const cores = Number(node.status?.capacity?.cpu ?? Number.NaN)
    return {
      owner,
      amiFamily,
      instanceType,
      kubeletVersion,
      operatingSystem,
      cluster,
      group: group.name,
      cores: Number.isSafeInteger(cores) && cores > 0 ? cores : null,
      isOnDisk: isConfigurationOnDisk,
      running: fieldValues(configuration, identity),
    }
  },

  *judge(fact, context, policy, group) {
    const baseline = baselineOf(fact, policy)
    if (baseline !== null) yield* fromBaseline(fact, baseline)
    else if (isUndeclared(fact, context)) yield* fromImage(fact, group)
  },
})

/** Of several that match a later one's fields win, of maps by key. Null: none matches. */
function baselineOf({ cluster, group, amiFamily, instanceType }: Fact, { baseline }: Policy): Baseline['configuration'] | null {
  const actual = { cluster, group, amiFamily, instanceType: instanceType ?? '' }
  const keys = ['cluster', 'group', 'amiFamily', 'instanceType'] as const
  const matching = baseline.filter(({ match }) => keys.every(key => match[key] === undefined || matchesGlob(match[key], actual[key])))
  if (matching.length === 0) return null
  const merged: Record<string, unknown> = {}
  for (const [field, value] of matching.flatMap(({ configuration }) => Object.entries(configuration))) {
    const before = merged[field]
    merged[field] = isRawObject(before) && isRawObject(value) ? { ...before, ...value } : value
  }
  return merged
}

function* fromBaseline(fact: Fact, baseline: Baseline['configuration']) {
  const { running } = fact
  const deviations = Object.entries(writtenSettings(baseline))
    .filter(([path, value]) => meaningOf(path, value) !== runs(running, path))
    .map(([path, value]): Deviation => ({ path, expected: shownSetting(value), value }))
  if (deviations.length > 0) {
    yield { ...failing('baseline', deviations, fact), fix: { config: configOf(deviations, running) } }
  }
  const open = Object.keys(baseline).filter(field => !isCompared(field))
  if (open.length > 0) yield { unknown: `policy baseline: ${bounded(open.join(', '), 200)} is not compared` }
}

const familiesOfEks = ['AL2', 'AL2023', 'Bottlerocket']

/** A nodegroup without a launch template gets an image and user data of EKS's own. */
function isUndeclared({ owner, amiFamily, group }: Fact, context: NodeContext): boolean {
  const nodegroup = nodegroupOf(group, context)
  return (
    owner === 'managed-nodegroup' &&
    familiesOfEks.includes(amiFamily) &&
    nodegroup !== null &&
    !isRawObject(nodegroup.launchTemplate) &&
    nodegroup.amiType !== 'CUSTOM'
  )
}

/** What most nodes of the group have is no edit of one of them, which peer-drift says. */
function* fromImage(fact: Fact, group: readonly FactOfGroup<Fact>[]) {
  const deviations = imageDeviations(fact).filter(({ path }) =>
    isOnMost(group, path, other => imageDeviations(other).map(deviation => deviation.path)),
  )
  if (deviations.length > 0) yield failing('ami', deviations, fact)
}

function imageDeviations(fact: Fact): Deviation[] {
  const { running, amiFamily, kubeletVersion, operatingSystem } = fact
  const other = Object.entries(running)
    .filter(([path, value]) => !value.isDefault && !dependsOnSize(path) && isAmiDefaultKnown(amiFamily, fieldOf(path)))
    .filter(
      ([path, { canonical }]) => !(isNewInAmi(path) && canonical === meaningOf(path, writtenSettings({ ...configurationDefaults })[path])),
    )
    .map(([path]) => path)
  const presets =
    other.length === 0
      ? {}
      : writtenSettings({
          ...configurationDefaults,
          evictionHard: evictionHardDefaults(kubeletVersion, operatingSystem),
          ...amiDefaults(amiFamily, kubeletVersion),
        })
  const plain = other.map((path): Deviation => ({ path, expected: shownSetting(presets[path]), value: undefined }))
  return [...plain, ...reservationDeviations(fact)]
}

const mebibyte = 1024 ** 2

/** By the formulas of the images. Their number of pods is not known, which is the instance's and not the one that runs: any number is as good. */
function reservationDeviations({ running, cores }: Fact): Deviation[] {
  const memory = bytesOf(running['kubeReserved.memory'])
  const pods = memory === null ? -1 : (memory / mebibyte - eksReservedMemoryMiB(0)) / (eksReservedMemoryMiB(1) - eksReservedMemoryMiB(0))
  const cpu = cores === null ? null : `${eksReservedCpuMillis(cores)}m`
  const system = Object.keys(running).filter(path => fieldOf(path) === 'systemReserved' && runs(running, path) !== '')
  return [
    ...(Number.isInteger(pods) && pods > 0
      ? []
      : [{ path: 'kubeReserved.memory', expected: '255Mi and 11Mi for each pod', value: undefined }]),
    ...(cpu === null || isRunning(running, 'kubeReserved.cpu', cpu) ? [] : [{ path: 'kubeReserved.cpu', expected: cpu, value: undefined }]),
    ...(isRunning(running, 'kubeReserved.ephemeral-storage', '1Gi')
      ? []
      : [{ path: 'kubeReserved.ephemeral-storage', expected: '1Gi', value: undefined }]),
    ...system.map(path => ({ path, expected: 'none', value: undefined })),
  ]
}

const isRunning = (running: Record<string, FieldValue>, path: string, value: string) => runs(running, path) === meaningOf(path, value)

function bytesOf(value: FieldValue | undefined): number | null {
  try {
    return quantityNumber(parseQuantity(value?.shown ?? ''))
  } catch {
    return null
  }
}

function failing(layer: 'baseline' | 'ami', deviations: Deviation[], { running, isOnDisk }: Fact) {
  const has = isOnDisk ? 'The files and flags of the kubelet come to' : 'The kubelet runs with'
  const meant = layer === 'baseline' ? 'the baseline of the policy says' : 'its AMI writes, though nothing is declared for it'
  const words = deviations.slice(0, 6).map(({ path, expected }) => `${path} ${shownRunning(running, path)} instead of ${expected}`)
  const rest = deviations.length - words.length
  return {
    consequence: `${has} ${counted(deviations.length, 'setting')} other than ${meant}: ${words.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`,
    evidence: [
      { what: 'layer', value: layer },
      ...deviations.flatMap(({ path, expected }) => [
        { what: `${layer} ${path}`, value: expected },
        { what: `configz ${path}`, value: shownRunning(running, path) },
      ]),
    ],
  }
}
