/**
 * Groups findings by equal causes: the same change ends them. A vendor default that is the same everywhere is one decision for the
 * fleet; a holder is one cause for each owner that has to act.
 */

import { by, nodeKey } from '#base/text.ts'
import { holders } from '#facts/holders.ts'
import { hoursToFill } from '#judge/compare/history/fill.ts'
import { sampleSize } from '#judge/drift/variants.ts'
import { mostLosses } from '#judge/help/deletion.ts'
import { withAmounts } from '#judge/help/disk-size.ts'
import { diskUse } from '#judge/help/holder-steps.ts'
import { cutMounts } from '#judge/help/host-mounts.ts'
import { amountOf } from '#judge/help/thresholds.ts'
import {
  type Cause,
  type CauseGroup,
  type CausePlace,
  type CauseSetting,
  type DeviceCause,
  type Finding,
  type HolderCause,
  type SettingCause,
  type Step,
  type StepAction,
  severities,
} from '#model/finding.ts'
import { isWatched } from '#model/prediction.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import { imageGcThresholds, isSilence, silence } from './rule.ts'

/**
 * The causes of all findings: the worst first. What happens now stands above what a vendor default makes possible, then those of the nodes
 * whose disks fill first at observed growth, then of those nearest to eviction. Each finding belongs to one cause.
 */
export function causesOf({
  document: { findings },
  nodes,
}: Pick<AuditReport, 'document' | 'nodes'>): CauseGroup[] {
  const nodeOf = nodesByName(nodes)
  const leastAmongNodes = (
    { cluster, nodes }: Finding,
    numberOf: (node: AuditedNode | undefined) => number,
  ) =>
    Math.min(...nodes.sample.map(name => numberOf(nodeOf(cluster, name))), Number.POSITIVE_INFINITY)
  const all = withDevices(findings)
  const ranked = all
    .map(finding => ({
      finding,
      hours: leastAmongNodes(finding, hoursToEnd),
      room: leastAmongNodes(finding, headroomShare),
    }))
    .toSorted(
      by(
        ({ finding }) => rank(finding),
        ({ hours }) => hours,
        ({ room }) => room,
        ({ finding }) => !hasHappened(finding),
      ),
    )
  const byChange = new Map<string, string>()
  const wantedOf = wantedValues(all, nodeOf)
  const parts = Map.groupBy(ranked, ({ finding }) => {
    const cause = settingOf(finding, nodeOf) ?? finding.cause
    const key = JSON.stringify(keyOf(finding, cause, wantedOf))
    const change = changeKey(finding) ?? key
    byChange.set(change, byChange.get(change) ?? key)
    return byChange.get(change)
  })
  const sorted = [...parts.values()]
    .map(part => rankedCause(part, nodeOf))
    .toSorted(
      by(
        ({ worst }) => rank(worst.finding),
        part => mildness(part),
        ({ worst }) => worst.hours,
        ({ worst }) => worst.room,
        part => !isDiskCause(part),
        ({ worst }) => !hasHappened(worst.finding),
        ({ group }) => -group.nodes.count,
        ({ group }) => -group.findings.length,
        ({ group }) => group.rule,
      ),
    )
  const spread = nextNodesFirst(sorted)
  // What was not read is no incident: what was seen comes first.
  const seen = 1 + spread.findLastIndex(({ worst }) => isIncident(worst.finding))
  return [
    ...spread.slice(0, seen).toSorted(by(({ worst }) => isGap(worst.finding))),
    ...spread.slice(seen),
  ].map(({ group }) => group)
}

interface RankedFinding {
  finding: Finding
  hours: number
  room: number
}

interface RankedCause {
  group: CauseGroup
  worst: RankedFinding
  nodes: string[]
}

const rank = ({ severity }: Finding) => severities.indexOf(severity)

/** A node with more known writers comes first. */
const fewWriters = ({ steps }: Finding) => -(steps[0]?.action.mounts?.length ?? 0)

/** What was seen names the cause; the node with the least room ranks it. */
function rankedCause(part: readonly RankedFinding[], nodeOf: NodeOf): RankedCause {
  const findings = part
    .map(({ finding }) => finding)
    .toSorted(by(rank, finding => !hasHappened(finding), fewWriters))
  return {
    group: groupOf(findings, nodeOf),
    worst: { ...part[0]!, finding: findings[0]! },
    nodes: findings.flatMap(({ cluster, nodes }) =>
      nodes.sample.map(name => nodeKey(cluster, name)),
    ),
  }
}

/** A further cause of a node comes after the first cause of the next node that is near, if both are equally severe; if the node was not read, also if it is critical. */
function nextNodesFirst(sorted: RankedCause[]): RankedCause[] {
  const named = new Set<string>()
  const parts = sorted.map(part => {
    // The rank of a setting may come from a node that is named already.
    const isSetting = part.group.cause.kind === 'setting' && !hasHappened(part.worst.finding)
    const isFurther =
      part.nodes.length > 0 &&
      (part.nodes.every(node => named.has(node)) ||
        (isSetting && part.nodes.some(node => named.has(node))))
    for (const node of part.nodes) named.add(node)
    const isUnread = isFurther && part.worst.finding.family === 'coverage'
    const severity = isUnread && part.group.severity === 'critical' ? 'high' : part.group.severity
    return { part, isFurther, rank: `${severity} ${mildness(part)}` }
  })
  return [...Map.groupBy(parts, ({ rank }) => rank).values()].flatMap(alike => {
    const last = alike.findLastIndex(({ part, isFurther }) => isNear(part.worst) && !isFurther)
    const [first, rest] = [alike.slice(0, last + 1), alike.slice(last + 1)]
    return [...first.toSorted(by(({ isFurther }) => isFurther)), ...rest].map(({ part }) => part)
  })
}

/** What was seen to happen says more than what could. */
const hasHappened = ({ seen }: Finding) => seen !== undefined

const isIncident = (finding: Finding) =>
  hasHappened(finding) && finding.severity !== 'low' && finding.severity !== 'info'

/** A node that was not read, and nothing seen of it. One that is critical keeps its rank. */
const isGap = (finding: Finding) =>
  finding.family === 'coverage' && finding.severity !== 'critical' && !hasHappened(finding)

/** What fills a disk, or makes it small, counts more than a setting that does not see it. */
const isDiskCause = ({ group: { cause } }: { group: CauseGroup }) =>
  cause.kind === 'holder' || cause.kind === 'device'

/** 1: a setting of which nothing was seen, or an untouched default that is far from acting. 2: an untouched default below severity high, or drift: neither says that something breaks. */
function mildness({
  group: { cause, severity },
  worst: { finding, hours, room },
}: Pick<RankedCause, 'group' | 'worst'>): number {
  if (finding.family === 'drift') return 2
  if (cause.kind !== 'setting') return 0
  const isUntouched = cause.isDefault && severity !== 'high' && severity !== 'critical'
  if (hasHappened(finding)) return isUntouched && !isNear({ hours, room }) ? 1 : 0
  if (severity === 'critical' || (severity === 'high' && isNear({ hours, room }))) return 0
  return isUntouched ? 2 : 1
}

/** Share of a disk or of memory, below which a node is near to eviction. */
const nearShare = 0.1

const isNear = ({ hours, room }: { hours: number; room: number }) =>
  hours < Number.POSITIVE_INFINITY || room < nearShare

/** A finding about the size of a disk takes cause and steps of a device that is too small on its nodes; if only on some of them, just the steps. */
function withDevices(findings: Finding[]) {
  const devices = findings.filter(({ cause }) => isTooSmall(cause))
  if (devices.length === 0) return findings
  return findings.map(finding => {
    const { nodes } = finding
    const onDevice = (device: Finding) =>
      nodes.sample.filter(name => device.nodes.sample.includes(name))
    const [device] = devices
      .filter(device => device.cluster === finding.cluster && isOfSize(finding, device))
      .toSorted(by(one => -onDevice(one).length))
    const small = device ? onDevice(device) : []
    if (device === undefined || device === finding || small.length === 0) return finding
    const { cause } = device
    if (small.length < nodes.sample.length)
      return { ...finding, steps: stepsOfSome(finding, device, small) }
    // The peers run with a larger disk; until then this one can be freed.
    const frees =
      cause.kind === 'device' && cause.what === 'below-peers'
        ? finding.steps.filter(({ kind }) => kind === 'free')
        : []
    return { ...finding, cause, steps: [...frees, ...device.steps] }
  })
}

/** Whether a disk of the right size ends the finding. */
const isOfSize = (finding: Finding, { cause }: Finding) =>
  isImageCause(finding) ||
  isUnsized(finding) ||
  (finding.cause.kind === 'unread' && finding.cause.source === diskUse && isMuchTooSmall(cause))

/** The size of the device is for its nodes, another size for the others. */
function stepsOfSome(finding: Finding, device: Finding, small: readonly string[]): Step[] {
  const forNodes = (step: Step, nodes: readonly string[]) => ({
    ...step,
    action: { ...step.action, nodes: nodes.slice(0, sampleSize) },
  })
  const others = finding.nodes.sample.filter(name => !small.includes(name))
  return [
    ...finding.steps.map(step => (step.kind === 'resize' ? forNodes(step, others) : step)),
    ...device.steps.map(step => forNodes(step, small)),
  ]
}

const wantedBytes = ({ declaredBytes, peerBytes }: DeviceCause) => declaredBytes ?? peerBytes ?? 0

const isTooSmall = (cause: Cause) =>
  cause.kind === 'device' && cause.actualBytes !== null && cause.actualBytes < wantedBytes(cause)

/** A disk of less than half of its declared size is too small, whatever holds it. */
const isMuchTooSmall = (cause: Cause) =>
  cause.kind === 'device' && 2 * (cause.actualBytes ?? 0) < wantedBytes(cause)

/** No size is known of it: its disk is too small for an image. */
const isUnsized = ({ cause }: Finding) => cause.kind === 'device' && cause.what === 'too-small'

/** Whether images fill a disk: not whether a threshold is set well. */
function isImageCause({ cause, steps }: Finding) {
  if (cause.kind === 'holder') return /^images(?:-|$)/.test(cause.holder)
  return (
    cause.kind === 'setting' &&
    cause.fields[0] === imageGcThresholds.fields[0] &&
    steps.some(({ kind }) => kind === 'free')
  )
}

type NodeOf = (cluster: string, name: string) => AuditedNode | undefined

function nodesByName(nodes: AuditedNode[]): NodeOf {
  const byName = new Map(nodes.map(node => [nodeKey(node.cluster, node.identity.name), node]))
  return (cluster, name) => byName.get(nodeKey(cluster, name))
}

/** Share of a disk, of inodes, memory or process ids until the next hard threshold, or until none is left if no threshold watches it. Negative: the node evicts. Infinite: unknown. */
export function headroomShare(node: Pick<AuditedNode, 'prediction'> | undefined): number {
  const { filesystems, eviction } = node?.prediction ?? {}
  const { thresholds = [], signals = {} } = eviction ?? {}
  const shares = Object.entries(signals).flatMap(([signal, { availableBytes, capacityBytes }]) => {
    const isOpen = isWatched(signal, thresholds, filesystems?.layout ?? null) === false
    const left = thresholds.flatMap(({ hard, margin, ...one }) =>
      hard && margin !== null && one.signal === signal ? [margin] : [],
    )
    if (isOpen && !signal.startsWith('allocatable')) left.push(availableBytes)
    return capacityBytes ? left.map(one => one / capacityBytes) : []
  })
  return Math.min(...shares, Number.POSITIVE_INFINITY)
}

/** Hours until the first disk of the node evicts, or is full if no threshold watches it, at observed growth. Infinite: not within a week, or unknown. */
function hoursToEnd(node: AuditedNode | undefined): number {
  const { filesystems, eviction } = node?.prediction ?? {}
  const hours = (['nodefs', 'imagefs'] as const).flatMap(name => {
    const growth = node?.growth?.[name]
    const margins = (eviction?.thresholds ?? []).flatMap(({ hard, signal, margin }) =>
      hard && margin !== null && signal === `${name}.available` ? [margin] : [],
    )
    const left = margins.length > 0 ? Math.min(...margins) : filesystems?.[name]?.availableBytes
    return left == null ? [] : [hoursToFill(left, growth)]
  })
  return Math.min(...hours, Number.POSITIVE_INFINITY)
}

/** The setting with `isDefault` if each node of the finding runs the default. Null: the cause is no setting. */
function settingOf({ cause, cluster, nodes }: Finding, nodeOf: NodeOf): SettingCause | null {
  if (cause.kind !== 'setting') return null
  const isDefault = nodes.sample.every(name => {
    const { imageGC } = nodeOf(cluster, name)?.prediction.settings ?? {}
    return imageGC?.some(one => one.field === cause.fields[0] && one.value === one.preset)
  })
  return { ...cause, isDefault: isDefault && nodes.sample.length > 0 }
}

/** Fields that are set where they are the cause, with the nodes: each cause names what runs on its own. Null: none are. */
function changeKey({
  cause,
  cluster,
  subject,
  nodes,
  fix: { config },
  steps,
}: Finding): string | null {
  const isSet = cause.kind === 'setting' && steps[0]?.action.id === 'set-fields'
  const fields = Object.entries(config).toSorted(by(([field]) => field))
  return isSet && fields.length > 0 ? JSON.stringify([cluster, subject, nodes, fields]) : null
}

/** What has to be equal for one change to end both. */
function keyOf(finding: Finding, cause: Cause, wantedOf: WantedOf): unknown[] {
  const { cluster, subject, nodes } = finding
  switch (cause.kind) {
    case 'setting':
      return [
        ...[cause.kind, cause.layer, cause.fields[0], cause.isDefault],
        // What a pod did is not what other pods might do.
        cause.layer === 'workload' && hasHappened(finding),
        wantedOf(finding, cause),
      ]
    case 'holder':
      return [
        cause.kind,
        cause.holder,
        ...(holders[cause.holder].actor === 'owner' ? ownerKey(cause, cluster) : []),
      ]
    case 'device':
      return [cause.kind, cause.what, cluster, cause.device ?? subject.name, wantedBytes(cause)]
    case 'world':
      return [cause.kind, cause.event, cause.subject]
    case 'unread':
      return [cause.kind, cause.source, cause.reason]
    default:
      return [cause.kind, cause.place, cluster, nodes.sample]
  }
}

type WantedOf = (finding: Finding, cause: SettingCause) => string[]

/**
 * What each node runs, and what it needs: one value can be too high for one disk and too low for another. A finding that does not set the
 * field itself needs what another finding sets on its node.
 */
function wantedValues(findings: readonly Finding[], nodeOf: NodeOf): WantedOf {
  const settings = findings.flatMap(by =>
    Object.entries(by.fix.config)
      .flatMap(entriesOf)
      .map(one => ({ ...one, by })),
  )
  const byPath = Map.groupBy(settings, ({ path }) => path)
  const amount = (value: string) => amountOf(value, 100) ?? 0
  return (finding, { fields: [field = ''] }) => {
    const { cluster, nodes } = finding
    const all = byPath.get(field) ?? []
    const own = all.find(one => one.by === finding)
    const values = nodes.sample.map(name => {
      const node = nodeOf(cluster, name)
      const now = node && runningValue(field, node)
      const wanted =
        own ?? all.find(({ by }) => by.cluster === cluster && by.nodes.sample.includes(name))
      const isKnown = wanted !== undefined && now != null
      const change = isKnown ? Math.sign(amount(wanted.value) - amount(now)) : wanted && 'set'
      return JSON.stringify([now, change ?? 'not set'])
    })
    return [...new Set(values)].toSorted()
  }
}

/** What holds a disk, and whose it is: the same steps free it on each node. */
export const holderKey = (cause: HolderCause): unknown[] => [cause.holder, ...ownerKey(cause, '')]

interface CauseKind {
  kind: string
  what?: string
  event?: string
  fields?: string[]
}

/** Equal for causes that one change ends. */
export function causeKey(
  cause: Cause,
  keyOfHolder: (cause: HolderCause) => unknown[] = holderKey,
): string {
  if (cause.kind === 'holder') return JSON.stringify(keyOfHolder(cause))
  if (isSilence(cause)) return JSON.stringify(silence)
  const { kind, what, event, fields }: CauseKind = cause
  return JSON.stringify([kind, what ?? event ?? fields?.[0]])
}

function ownerKey({ owner, place }: HolderCause, cluster: string): unknown[] {
  if (owner === null) return [cluster, place]
  // One image can lie on all nodes of a cluster: its cause is one.
  if (owner.kind === 'image') return [cluster]
  if (owner.kind === 'process') return [cluster, owner.namespace, owner.pod ?? owner.command]
  return [cluster, owner.namespace, owner.workload ?? owner.pod]
}

/** @param findings worst first */
function groupOf(findings: Finding[], nodeOf: NodeOf): CauseGroup {
  const worst = findings[0]!
  const cause = settingOf(worst, nodeOf) ?? worst.cause
  const places = placesOf(findings)
  const count = countOf(places)
  const ofRule = countOf(placesOf(findings.filter(({ rule }) => rule === worst.rule)))
  return {
    cause,
    steps: withSetting(cause, stepsOf(findings)),
    severity: worst.severity,
    rule: worst.rule,
    settings: settingsOf(findings, fieldsOf(cause, worst), nodeOf),
    nodes: { count, ...(ofRule < count && { ofRule }), places },
    findings: findings.map(({ id }) => id),
  }
}

/** What frees bytes now comes first; a setting that is the cause comes second, not later. */
function withSetting({ kind }: Cause, steps: Step[]): Step[] {
  const set = steps.find(({ action }) => action.id === 'set-fields')
  if (kind !== 'setting' || set === undefined || steps.indexOf(set) < 2) return steps
  return [steps[0]!, set, ...steps.slice(1).filter(step => step !== set)]
}

/** The steps of the findings, those of the worst first, each with its commands of all places. */
function stepsOf(findings: Finding[]): Step[] {
  const all = findings.flatMap(({ cluster, nodes, steps }) =>
    steps.map(step => ({
      step,
      on: (step.action.nodes ?? nodes.sample).map(name => nodeKey(cluster, name)),
    })),
  )
  const sized = new Set(
    all.flatMap(({ step: { action }, on }) =>
      action.id === 'larger-disk' && action.bytes !== undefined ? on : [],
    ),
  )
  const byForm = Map.groupBy(
    // Another finding knows the size for these nodes.
    all.filter(({ step, on }) => !isUnsizedDisk(step.action) || on.some(node => !sized.has(node))),
    ({ step }) => formOf(step.action),
  )
  return [...byForm.values()]
    .slice(0, shownSteps)
    .map(alike => ({
      ...alike[0]!.step,
      action: actionOf(alike.map(({ step }) => step.action)),
      commands: distinctItems(alike.flatMap(({ step }) => step.commands)),
    }))
}

const isUnsizedDisk = ({ id, bytes, unit }: StepAction) =>
  id === 'larger-disk' && bytes === undefined && unit === undefined

/** What the text of a step says beside who, where and how much. */
function formOf({ id, variant, unit, message, above, limit, ...action }: StepAction) {
  const { isShort = false, rollsOut = false } = action
  const isSized = !isUnsizedDisk({ id, unit, ...action })
  return JSON.stringify([
    ...[id, variant, unit, message, above, limit],
    ...[isShort, rollsOut, isSized],
  ])
}

const distinctItems = <Item>(items: readonly Item[]): Item[] => [
  ...new Map(items.map(item => [JSON.stringify(item), item])).values(),
]

/** Owners, places and sources that one step names. */
const mostSites = 20

/** The first action; with owner, place, source and amount of each site, if there are several. */
function actionOf(actions: StepAction[]): StepAction {
  const sites = Map.groupBy(actions, ({ owner, place, source }) =>
    JSON.stringify([withoutPod(owner), place, source]),
  )
  const { nodes: _, pods: __, lost, ...own } = withAmounts(actions)
  const mounts = actions.flatMap(one => one.mounts ?? [])
  const hasMore = actions.some(one => one.hasMoreMounts)
  const nodes = actions.every(one => one.nodes) ? actions.flatMap(one => one.nodes!) : []
  const pods = actions.flatMap(one => one.pods ?? [])
  const shared = {
    ...(nodes.length > 0 && { nodes: [...new Set(nodes)].slice(0, sampleSize) }),
    ...(pods.length > 0 && { pods: [...new Set(pods)].slice(0, mostLosses) }),
    ...(mounts.length > 0 && cutMounts(mounts, hasMore)),
    ...(lost && { lost: joinedLosses(actions.flatMap(one => one.lost ?? [])) }),
  }
  if (sites.size === 1) return { ...own, ...shared }
  const { owner: _o, place: _p, source: _s, folders: _f, ...action } = own
  const each = [...sites.values()].slice(0, mostSites).map(alike => {
    const { owner, place, source, bytes, usdPerMonth, most } = withAmounts(alike)
    return { owner, place, source, bytes, usdPerMonth, most }
  })
  return { ...action, ...shared, each }
}

/** The pods of a workload have one owner. */
const withoutPod = (owner: StepAction['owner']) =>
  owner && 'workload' in owner && owner.workload !== null ? { ...owner, pod: null } : owner

const joinedLosses = (lost: NonNullable<StepAction['lost']>[]) => ({
  pods: [...new Set(lost.flatMap(one => one.pods))].slice(0, mostLosses),
  data: [...new Set(lost.flatMap(one => one.data))].slice(0, mostLosses),
})

/** The clusters of the findings. Each node of a subject counts once; objects have no nodes. */
function placesOf(findings: Finding[]): CausePlace[] {
  const byCluster = Map.groupBy(findings, ({ cluster }) => cluster)
  return [...byCluster].map(([cluster, own]) => {
    const bySubject = Map.groupBy(own, ({ subject: { kind, name } }) =>
      kind === 'Node' ? 'Node' : `${kind} ${name}`,
    )
    const counts = [...bySubject.values()].map(nodeCount)
    return {
      cluster,
      nodes: counts.reduce((sum, count) => sum + count, 0),
      subjects: distinctItems(own.map(({ subject }) => subject)),
    }
  })
}

const countOf = (places: readonly CausePlace[]) => places.reduce((sum, { nodes }) => sum + nodes, 0)

function nodeCount(findings: Finding[]) {
  const isWhole = findings.every(({ nodes }) => nodes.sample.length === nodes.count)
  const names = new Set(findings.flatMap(({ nodes }) => nodes.sample))
  return isWhole ? names.size : Math.max(names.size, ...findings.map(({ nodes }) => nodes.count))
}

/** Fields that are set: of the cause, or by a step against a holder. */
function fieldsOf(cause: Cause, { steps, fix }: Finding): readonly string[] {
  if (cause.kind === 'setting') return cause.fields
  const isSet = cause.kind === 'holder' && steps.some(({ action }) => action.id === 'set-fields')
  return isSet ? Object.keys(fix.config) : []
}

/** The settings to change, the cause's own first. Values of most nodes come first; values that run now are left out. */
function settingsOf(
  findings: Finding[],
  fields: readonly string[],
  nodeOf: NodeOf,
): CauseSetting[] {
  const isOfFields = (path: string) =>
    fields.some(field => path === field || path.startsWith(`${field}.`))
  const roots = fields.map(field => field.split('.')[0])
  const found = findings.flatMap(finding => {
    const nodes = finding.nodes.sample.flatMap(name => nodeOf(finding.cluster, name) ?? [])
    return Object.entries(finding.fix.config)
      .filter(([field]) => roots.includes(field))
      .flatMap(entriesOf)
      .map(({ path, value }) => ({
        path,
        value,
        now: nodes.map(node => runningValue(path, node)),
        subject: finding.subject,
        cluster: finding.cluster,
        count: finding.nodes.count,
      }))
      .filter(({ value, now }) => now.length === 0 || now.some(one => one !== value))
  })
  const settings = [...Map.groupBy(found, ({ path }) => path)].map(([path, own]) => {
    const byValue = [...Map.groupBy(own, ({ value }) => value)].toSorted(
      by(([, ones]) => -ones.reduce((sum, { count }) => sum + count, 0)),
    )
    const now = [...new Set(own.flatMap(one => one.now.flatMap(value => value ?? [])))].toSorted()
    return {
      path,
      now,
      values: byValue.map(([value, ones]) => ({
        value,
        subjects: distinctItems(ones.map(({ cluster, subject }) => ({ cluster, subject }))),
      })),
    }
  })
  return settings.toSorted(by(({ path }) => !isOfFields(path)))
}

const shownSteps = 6

function entriesOf([field, value]: [string, unknown]) {
  if (typeof value !== 'object' || value === null) return [{ path: field, value: String(value) }]
  if (Array.isArray(value)) return [{ path: field, value: value.join(',') }]
  return Object.entries(value).map(([key, entry]) => ({
    path: `${field}.${key}`,
    value: String(entry),
  }))
}

/** The running value of a field, as text. Undefined: the report does not have it; null: not set. */
function runningValue(path: string, { prediction }: AuditedNode) {
  const setting = prediction.settings.imageGC?.find(({ field }) => field === path)
  if (setting !== undefined) return setting.value
  const [, map, signal] = /^eviction(Hard|Soft)\.(.+)$/.exec(path) ?? []
  const thresholds = prediction.eviction?.thresholds
  if (signal === undefined || thresholds === undefined) return undefined
  return (
    thresholds.find(one => one.hard === (map === 'Hard') && one.signal === signal)?.value ?? null
  )
}
