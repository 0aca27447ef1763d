/** Findings with severity and waiver of the policy, fixes and steps. */

import { mapOf, type RawObject, withoutKeys } from '#base/raw-object.ts'
import { meaningOf } from '#facts/kubelet/fields.ts'
import { declarationOf } from '#judge/drift/declared.ts'
import {
  type Declaration,
  type DeclaredNode,
  shownSetting,
  writtenSettings,
} from '#judge/drift/drift.ts'
import { durableFixes, type Proposal } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import { placeOfCluster } from '#judge/fixes/command-place.ts'
import { completerFor, type Refusals } from '#judge/fixes/completion.ts'
import { diskSourceOf } from '#judge/fixes/disk-source.ts'
import {
  actingPart,
  agreeOnFixes,
  type FixFact,
  type FixFacts,
  isDeclaring,
  type Wish,
  type Wishes,
} from '#judge/fixes/fix-facts.ts'
import { withPinnedFirst } from '#judge/fixes/pinning.ts'
import { stepsOf } from '#judge/fixes/steps.ts'
import { isEksReservation } from '#judge/help/reservations.ts'
import { line, plural, shorten } from '#judge/rule.ts'
import type { ClusterFacts } from '#judge/subject/node-subject.ts'
import type { Finding, StepAction } from '#model/finding.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { byFinding, type FoundFinding } from './tally.ts'
import { waiverOf } from './waivers.ts'

export interface Fixing {
  policy: Policy
  /** UTC day that decides which waivers hold. */
  day: string
  factsOf: (cluster: string) => ClusterFacts
  fixFacts: FixFacts
  /** Null: fixes stay as the rules propose them, without steps. */
  refusalsOf: Refusals | null
}

/** Worst first. */
export function completeFindings(found: readonly FoundFinding[], fixing: Fixing): FoundFinding[] {
  const all = withPinnedFirst(found.map(each => withWishes(each, fixing))).toSorted((a, b) =>
    byFinding(a.finding, b.finding),
  )
  const { refusalsOf } = fixing
  if (!refusalsOf) return all
  return settleFixes(all, refusalsOf).map(each => ({
    ...each,
    finding: { ...each.finding, steps: stepsFor(each, fixing) },
  }))
}

/** The finding with what its fixes need. */
function withWishes(source: FoundFinding, fixing: Fixing): FoundFinding & Wishes {
  const { cluster, subject, proposals } = source
  const { fixFacts, factsOf } = fixing
  const wishes = proposals.map(({ origin, config, nodes }) => {
    const fact = fixFacts.factOfMost(cluster, nodes)
    const declaration = fact && declarationIn(factsOf(cluster), fact.node)
    return { origin, config, fact, declaration }
  })
  const finding = withPolicy(source, fixing)
  return { ...source, finding, wishes, sizes: fixFacts.sizesOf(cluster, subject) }
}

function withPolicy(
  { cluster, rule, subject, finding }: FoundFinding,
  { policy, day }: Fixing,
): Finding {
  const { severities, waivers } = policy
  const own = Object.hasOwn(severities, rule.id) ? severities[rule.id] : undefined
  const found = waiverOf({ rule: rule.id, cluster, subject }, waivers, day)
  const rated = { ...finding, severity: own ?? finding.severity }
  if (!found) return rated
  const { until, reason } = found.waiver
  if (!found.expired) return { ...rated, waived: { until, reason } }
  const trace = line('waiver', 'waiver', `expired after ${until}; its reason was: ${reason}`)
  return { ...rated, evidence: [...finding.evidence, trace] }
}

function stepsFor(
  { cluster, finding, nodes, actions, commands }: FoundFinding,
  { policy, factsOf, fixFacts }: Fixing,
) {
  const place = placeOfCluster(cluster, factsOf(cluster).eks, policy.contextNames)
  const nodeOf = (action: StepAction | null) => {
    const name = action?.nodes?.[0] ?? nodes[0]
    const dnsNameOf = (instanceId: string) => factsOf(cluster).dnsNameOf(instanceId)
    return name === undefined ? null : fixFacts.stepNode(cluster, name, dnsNameOf)
  }
  const declared = fixFacts.factOfMost(cluster, nodes)?.node
  const diskSource = (device: string | null) =>
    declared ? diskSourceOf(declared, device, factsOf(cluster).contextOf('')) : null
  // An import pins the image, too; a plan takes it from another source.
  const isImported =
    nodeOf(null)?.hasSessions !== true && actions?.some(({ id }) => id === 'import-image')
  const wanted = isImported
    ? actions?.filter(({ id, variant }) => id !== 'pin-images' || variant)
    : actions
  return (wanted ?? [null]).flatMap(action =>
    stepsOf(finding, action && [action], {
      commands,
      place,
      cluster,
      diskSource,
      node: nodeOf(action),
    }),
  )
}

function declarationIn(facts: ClusterFacts, node: DeclaredNode) {
  const declaration = declarationOf(node, facts.contextOf(''))
  return typeof declaration === 'string' ? null : declaration
}

/* Completes the proposed fixes, makes them agree within a group, and writes them as text for the source of the nodes. */

/** The findings with complete fixes, in the same order. @param all worst first */
function settleFixes<Found extends Wishes>(all: readonly Found[], refusalsOf: Refusals): Found[] {
  const fixable = all.filter(
    ({ wishes }) => wishes[0] !== undefined && Object.keys(wishes[0].config).length > 0,
  )
  const groups = Map.groupBy(fixable, ({ finding: { cluster, subject } }) =>
    JSON.stringify([cluster, subject.kind, subject.namespace, subject.name]),
  )
  const findings = new Map<Wishes, Finding>()
  for (const group of groups.values())
    for (const [index, finding] of settledGroup(group, refusalsOf).entries())
      findings.set(group[index] as Found, finding)
  return all.map(found => ({ ...found, finding: findings.get(found) ?? found.finding }))
}

function settledGroup(group: readonly Wishes[], refusalsOf: Refusals) {
  const completers = new Map<FixFact | null, ReturnType<typeof completerFor>>()
  const completerOf = (fact: FixFact | null) => {
    const version = fact?.node.kubeletVersion ?? null
    const completer =
      completers.get(fact) ??
      completerFor(fact?.running ?? null, configuration => refusalsOf(configuration, version))
    completers.set(fact, completer)
    return completer
  }
  const completeWishes = (found: Wishes): Wishes => ({
    ...found,
    wishes: found.wishes.map(wish => {
      const { config, refused } = completerOf(wish.fact)(wish.config)
      return { ...wish, config, notes: [...new Set([...(wish.notes ?? []), ...refused])] }
    }),
  })
  // Fixes of several findings are merged, so the result must be valid again.
  return agreeOnFixes(group.map(completeWishes)).map((found, index) => {
    const complete = completeWishes(found)
    const finding = withFix(complete)
    return isDeclaring(finding)
      ? withYieldedValues(finding, complete.wishes, group[index]?.wishes[0]?.config ?? {})
      : finding
  })
}

function withFix({ finding, wishes, sizes }: Wishes) {
  const [main] = wishes
  if (!main) return finding
  const isPinning = sizes.length > 1 && !isDeclaring(finding)
  // On EKS Auto Mode, nothing can apply a configuration.
  const own = isPinning ? withoutReservations(main.config) : main.config
  const fix = {
    ...finding.fix,
    config: main.origin.owner === 'auto-mode' ? {} : own,
    durable: durableFixes(
      durableTargets,
      finding.subject,
      wishes.map(wish => durablePart(wish, finding, sizes)),
    ),
  }
  return { ...finding, fix }
}

/** The part of a fix to write at the source of the nodes, with notes on further steps. */
function durablePart(wish: Wish, finding: Finding, sizes: readonly string[]): Proposal {
  const { origin, config, notes = [] } = wish
  if (origin.owner === 'auto-mode') return { origin, config }
  const reserving = durableReservations(wish, isDeclaring(finding), sizes)
  const acting = actingPart({ ...wish, config: reserving.config })
  return {
    origin,
    config: acting.config,
    notes:
      Object.keys(config).length === 0 ? notes : [...notes, ...reserving.notes, ...acting.notes],
  }
}

const withoutReservations = ({
  kubeReserved: _kube,
  systemReserved: _system,
  ...config
}: RawObject): RawObject => config

/** A fix does not restore a value that another finding on the same nodes reports. */
function withYieldedValues(finding: Finding, wishes: readonly Wish[], proposed: RawObject) {
  const agreed = writtenSettings(wishes[0]?.config ?? {})
  const changed = Object.entries(writtenSettings(proposed)).filter(
    ([path, value]) =>
      Object.hasOwn(agreed, path) && meaningOf(path, agreed[path]) !== meaningOf(path, value),
  )
  if (changed.length === 0) return finding
  const words = changed.map(
    ([path, value]) => `${path} ${shownSetting(agreed[path])}, not ${shownSetting(value)}`,
  )
  return {
    ...finding,
    consequence: shorten(
      `${finding.consequence} Other findings on these nodes call for other values, and the fix has theirs: ${words.slice(0, 4).join('; ')}.`,
      consequenceLength,
    ),
    evidence: [...finding.evidence, ...words.map(value => line('fix', 'fix', value))],
  }
}

const consequenceLength = 1200

const computing: Partial<Record<AmiFamily, string>> = {
  AL2023: 'nodeadm',
  AL2: 'bootstrap.sh',
  Bottlerocket: 'Bottlerocket',
}
const computed = ['cpu', 'memory', 'ephemeral-storage']

/**
 * Removes reservations that would pin or override the values that the image computes.
 * @param isDeclared the operator has chosen these values @param sizes the group's instance types
 */
function durableReservations(
  { config, origin, fact, declaration }: Wish,
  isDeclared: boolean,
  sizes: readonly string[],
) {
  const notes: string[] = []
  const image = origin.owner === 'hybrid' ? undefined : computing[origin.amiFamily]
  const running = mapOf(fact?.running?.kubeReserved)
  const wanted = mapOf(config.kubeReserved)
  let kube = wanted
  if (image !== undefined) {
    const changed = Object.entries(wanted).filter(
      ([key, value]) =>
        meaningOf('kubeReserved', running[key]) !== meaningOf('kubeReserved', value),
    )
    const overridden = isDeclared
      ? []
      : changed.filter(([key]) => isOverride(key, running)).map(([key]) => key)
    const kept = changed.filter(([key]) => !overridden.includes(key))
    if (overridden.length > 0) notes.push(removalText(overridden, image, declaration))
    // On AL2 the flag replaces the whole map, including the values that bootstrap.sh computed.
    const isWhole = origin.amiFamily === 'AL2' && origin.owner !== 'karpenter' && kept.length > 0
    if (isWhole && sizes.length > 1) {
      notes.push(
        `Left out: on AL2 kubeReserved goes by flag, which would fix for all sizes what ${image} computes for each.`,
      )
      kube = {}
    } else kube = isWhole ? wanted : Object.fromEntries(kept)
  }
  const system = mapOf(config.systemReserved)
  if (
    sizes.length > 1 &&
    !isDeclared &&
    Object.keys(kube).length + Object.keys(system).length > 0
  ) {
    const names = [
      ...(Object.keys(kube).length > 0 ? ['kubeReserved'] : []),
      ...(Object.keys(system).length > 0 ? ['systemReserved'] : []),
    ]
    notes.push(
      `Left out ${names.join(' and ')}: the group has nodes of ${plural(sizes.length, 'size')} (${shorten(sizes.join(', '), 100)}), and one value does not suit them all. Make it groups of one size${names.includes('kubeReserved') ? ', or lower maxPods' : ''}.`,
    )
    return { config: withoutKeys(config, ['kubeReserved', 'systemReserved']), notes }
  }
  if (config.kubeReserved === undefined) return { config, notes }
  return {
    config:
      Object.keys(kube).length === 0
        ? withoutKeys(config, ['kubeReserved'])
        : { ...config, kubeReserved: kube },
    notes,
  }
}

/** Whether a changed key overrides the image's computed value. Memory does not if it fits the formula for some number of pods. */
function isOverride(key: string, running: RawObject) {
  if (!computed.includes(key)) return false
  return key !== 'memory' || !isEksReservation('memory', String(running.memory), null)
}

function removalText(keys: readonly string[], image: string, declaration: Declaration | null) {
  const by = declaration?.settings.find(
    ({ path, value }) => value !== undefined && keys.some(key => path === `kubeReserved.${key}`),
  )
  return `Take kubeReserved ${keys.join(' and ')} away from ${by ? shorten(by.where, 150) : 'whatever sets it'}: ${image} computes it for each instance, and a value written here would hold for all of them.`
}
