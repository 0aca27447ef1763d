import { firstReasons } from '#base/text.ts'
import { amiDefaults, isAmiDefaultKnown, isNewInAmi } from '#facts/eks/ami-defaults.ts'
import { eksReservedCpuMillis } from '#facts/eks/reserved-resources.ts'
import {
  configurationDefaults,
  dependsOnSize,
  evictionHardDefaults,
  fieldOf,
  isComparedField,
  meaningOf,
} from '#facts/kubelet/fields.ts'
import { declaredNode, wholeDeclaration } from '#judge/drift/declared.ts'
import { type Declaration, shownSetting, writtenSettings } from '#judge/drift/drift.ts'
import { pendingPaths, runningMeaning, shownRunning } from '#judge/drift/layers.ts'
import {
  baselineOf,
  configOf,
  isOnMost,
  peersOf,
  type Shares,
  sharesByPart,
} from '#judge/drift/peers.ts'
import { isEksReservation } from '#judge/help/reservations.ts'
import {
  contextRule,
  line,
  type NodeContext,
  type NodeSubject,
  plural,
  type Satisfied,
  settingIn,
  shorten,
} from '#judge/rule.ts'
import type { Baseline } from '#model/policy.ts'

interface Deviation {
  path: string
  expected: string
}

export const baselineDrift = contextRule({
  id: 'baseline-drift',
  family: 'drift',
  severity: 'medium',
  cause: settingIn('declaration', 'baseline'),
  // Most peers have them: what made the nodes may write them on new ones.
  steps: ['find-writer'],
  needs: ['configuration'],
  policy: ['baseline'],
  title: 'Nodes run with other kubelet settings than they are meant to',
  why: "The policy's baseline says what nodes are meant to run with. Where none is written, nodes on images of EKS run with what their launch template or node class declares, and in all else with what their AMI writes: anything else was changed on the nodes, and is lost when they are replaced.",
  fix: 'Set the values of the baseline where the nodes come from (launch template, NodeConfig, EC2NodeClass), or correct policy.baseline.',
  sources: [
    'awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go',
    'awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh',
    'bottlerocket-core-kit packages/kubernetes-1.34/kubelet-config',
  ],

  fact: factOf,

  ofGroup: (facts, context) =>
    sharesByPart(facts, other => ({
      part: other.peers,
      keys: imageDeviations(other, context).map(({ path }) => path),
    })),

  *judge(fact, context, policy, group) {
    const baseline = baselineOf(fact, policy)
    if (baseline) yield* fromBaseline(fact, baseline)
    else yield* fromImage(fact, context, group)
  },
})

type BaselineFact = ReturnType<typeof factOf>

function factOf(subject: Satisfied<'configuration'>) {
  const { cluster, identity, isConfigurationOnDisk, node } = subject
  const { owner, amiFamily, instanceType, kubeletVersion, operatingSystem, group } = identity
  const cores = Number(node.status?.capacity?.cpu ?? NaN)
  const running = subject.runningValues()
  const start = subject.startFact()
  return {
    owner,
    amiFamily,
    instanceType,
    kubeletVersion,
    operatingSystem,
    cluster,
    group: group.name,
    cores: Number.isSafeInteger(cores) && cores > 0 ? cores : null,
    /** The configuration is computed from files and flags: the running configuration was not read. */
    isOnDisk: isConfigurationOnDisk,
    running,
    node: declaredNode(subject),
    peers: peersOf(subject),
    /** Paths whose value changes at the next start. The rule changed-not-restarted reports them. */
    pending: !start || !isStartKnown(subject) ? [] : pendingPaths(start, running, kubeletVersion),
  }
}

function* fromBaseline(fact: BaselineFact, baseline: Baseline['configuration']) {
  const { running, kubeletVersion } = fact
  const deviations = Object.entries(wantedValues(baseline, fact))
    .filter(
      ([path, value]) => meaningOf(path, value, kubeletVersion) !== runningMeaning(running, path),
    )
    .map(([path, value]) => ({ path, expected: shownSetting(value), value }))
  if (deviations.length > 0) {
    yield {
      ...failing('baseline', deviations, fact),
      fix: { config: configOf(deviations, running) },
    }
  }
  const open = Object.keys(baseline).filter(
    field => !isComparedField(field) || (baseline[field] === null && dependsOnSize(field)),
  )
  if (open.length > 0)
    yield { unknown: `policy baseline: ${shorten(open.join(', '), 200)} is not compared` }
}

/** Wanted values by path. Null means the default for a field, and no value for a key in a map. */
function wantedValues(
  baseline: Baseline['configuration'],
  fact: BaselineFact,
): Record<string, unknown> {
  const fields = Object.entries(baseline).filter(([, value]) => value !== null)
  const unset = Object.keys(baseline).filter(
    field => baseline[field] === null && !dependsOnSize(field),
  )
  const presets = unset.length === 0 ? {} : presetsOf(fact)
  const paths = [...Object.keys(presets), ...Object.keys(fact.running)].filter(path =>
    unset.includes(fieldOf(path)),
  )
  return {
    ...writtenSettings(Object.fromEntries(fields)),
    ...Object.fromEntries(paths.map(path => [path, presets[path]])),
  }
}

/** Reports deviations that most peers share. The rule peer-drift reports edits of single nodes. */
function* fromImage(fact: BaselineFact, context: NodeContext, group: () => Shares) {
  const deviations = imageDeviations(fact, context).filter(({ path }) =>
    isOnMost(group(), fact.peers, path),
  )
  if (deviations.length > 0) yield failing('ami', deviations, fact)
}

function imageDeviations(fact: BaselineFact, context: NodeContext): Deviation[] {
  const declaration = wholeDeclaration(fact.node, context)
  if (!declaration) return []
  const { running, amiFamily, kubeletVersion, pending } = fact
  const presets = presetsOf(fact)
  const ofKubelet = writtenSettings({ ...configurationDefaults })
  const plain = Object.keys(running).flatMap((path): Deviation[] => {
    if (dependsOnSize(path) || !isAmiDefaultKnown(amiFamily, fieldOf(path))) return []
    const beside = undeclaredOrigin(path, declaration, fact)
    if (beside === null) return []
    const expected = beside === 'image' ? presets[path] : undefined
    const isRunningValue = (value: unknown) =>
      meaningOf(path, value, kubeletVersion) === runningMeaning(running, path)
    return isRunningValue(expected) || (isNewInAmi(path) && isRunningValue(ofKubelet[path]))
      ? []
      : [{ path, expected: shownSetting(expected) }]
  })
  const isNamed = (field: string) =>
    declaration.settings.some(({ path }) => fieldOf(path) === field)
  const reserved = reservationDeviations(fact).filter(({ path }) => !isNamed(fieldOf(path)))
  return [...plain, ...reserved].filter(({ path }) => !pending.includes(path))
}

/**
 * Origin of the value of an undeclared path. `image`: the image sets the value. `none`: a declared
 * map without the key replaces the image's map. Null: the path is declared, or origin unknown.
 */
function undeclaredOrigin(path: string, { settings }: Declaration, { amiFamily }: BaselineFact) {
  const field = fieldOf(path)
  const own = settings.filter(setting => fieldOf(setting.path) === field)
  if (
    field === 'evictionHard' &&
    settings.some(setting => setting.path === 'mergeDefaultEvictionSettings')
  )
    return null
  if (own.length === 0) return 'image'
  if (
    own.some(setting => setting.path === path || setting.lostBy !== null || setting.by === 'flag')
  )
    return null
  if (amiFamily === 'Bottlerocket') return 'none'
  // nodeadm writes declared maps into a drop-in, which the kubelet merges by key.
  return amiFamily === 'AL2023' ? 'image' : null
}

const presetsOf = ({ amiFamily, kubeletVersion, operatingSystem }: BaselineFact) =>
  writtenSettings({
    ...configurationDefaults,
    evictionHard: evictionHardDefaults(kubeletVersion, operatingSystem),
    ...amiDefaults(amiFamily, kubeletVersion),
  })

function reservationDeviations({ running, cores }: BaselineFact): Deviation[] {
  const cpu = cores === null ? null : `${eksReservedCpuMillis(cores)}m`
  const system = Object.keys(running).filter(
    path => fieldOf(path) === 'systemReserved' && runningMeaning(running, path) !== '',
  )
  const memory = 'kubeReserved.memory'
  const hasMemory = isEksReservation('memory', running[memory]?.shown, cores) === true
  return [
    ...(hasMemory ? [] : [{ path: memory, expected: '255Mi and 11Mi for each pod' }]),
    ...Object.entries({ cpu, 'ephemeral-storage': '1Gi' }).flatMap(([resource, value]) => {
      const path = `kubeReserved.${resource}`
      return value === null || runningMeaning(running, path) === meaningOf(path, value, null)
        ? []
        : [{ path, expected: value }]
    }),
    ...system.map(path => ({ path, expected: 'none' })),
  ]
}

function failing(
  layer: 'baseline' | 'ami',
  deviations: Deviation[],
  { running, isOnDisk }: BaselineFact,
) {
  const has = isOnDisk ? 'The files and flags of the kubelet come to' : 'The kubelet runs with'
  const meant =
    layer === 'baseline'
      ? 'the baseline of the policy says'
      : 'its AMI writes, though nothing that is declared says so'
  const words = deviations.map(
    ({ path, expected }) => `${path} ${shownRunning(running, path)} instead of ${expected}`,
  )
  return {
    consequence: `${has} ${plural(deviations.length, 'setting')} other than ${meant}: ${firstReasons(words, 6)}.`,
    evidence: [
      line('layer', 'layer', layer),
      ...deviations.flatMap(({ path, expected }) => [
        line('declared', `${layer} ${path}`, expected),
        line('configz', `${path}`, shownRunning(running, path)),
      ]),
    ],
  }
}

const isStartKnown = ({ nextStart }: NodeSubject) =>
  nextStart?.errors.length === 0 && nextStart.settings?.isCommandLineKnown === true
