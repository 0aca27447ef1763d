/**
 * Groups findings by cause: one setting or one event. A vendor default that is the same everywhere
 * is one decision for the fleet.
 */
import type { Cause, CauseKind, CausePlace, CauseSetting, Family, Finding } from '#model/finding.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import { byText } from '#model/text-order.ts'
import { mostUrgentFirst } from '#report/statements.ts'

/** A cause with its findings. */
export interface FoundCause extends Omit<Cause, 'findings'> {
  /** Worst first. */
  findings: Finding[]
}

/** Prefixes of a family's own fields. Its fixes can contain further fields that must fit these. */
const fieldsOfFamily: Partial<Record<Family, readonly string[]>> = {
  'image-gc': ['imageGC', 'imageM'],
  eviction: ['eviction'],
  reservations: ['kubeReserved', 'systemReserved'],
  logs: ['containerLog'],
}

/** Fields that are set together. Each list counts as one setting. */
const together = [
  ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'],
  ['kubeReserved', 'systemReserved', 'enforceNodeAllocatable'],
]

/**
 * By rule: the rules whose findings on the same nodes are consequences of this rule's finding.
 * `isByFix`: only if this rule's finding has fields to set.
 */
const consequences: Record<string, { rules: readonly string[]; isByFix: boolean }> = {
  'eviction-due': {
    rules: ['eviction-loop', 'zero-min-reclaim-thrash', 'eviction-before-image-gc'],
    isByFix: true,
  },
  'image-gc-dead': { rules: ['image-gc-due'], isByFix: false },
  'unreachable-gc-low-threshold': {
    rules: ['image-gc-due', 'useless-eviction', 'image-gc-never-first'],
    isByFix: false,
  },
  'rate-limited-registry': { rules: ['pull-failing-now'], isByFix: false },
  'dead-registry': { rules: ['pull-failing-now'], isByFix: false },
  'memory-cgroup-leak': { rules: ['cgroup-v1'], isByFix: false },
}

/** The causes of all findings, worst first. Each finding belongs to one cause. */
export function causesOf({
  document: { findings },
  nodes,
}: Pick<AuditReport, 'document' | 'nodes'>): FoundCause[] {
  const sorted = findings.toSorted(mostUrgentFirst)
  const nodeOf = nodesByName(nodes)
  const fieldOfRule = new Map(
    sorted.flatMap(finding => {
      const field = primaryField(finding)
      return field === null ? [] : [[finding.rule, field] as const]
    }),
  )
  const roots = Map.groupBy(
    sorted.filter(({ rule }) => rule in consequences),
    ({ cluster }) => cluster,
  )
  const parts = Map.groupBy(sorted, finding => {
    const root = rootOf(finding, roots.get(finding.cluster) ?? [])
    return JSON.stringify(keyOf(root, fieldOfRule, nodeOf))
  })
  return [...parts.values()]
    .map(part => causeOf(part, nodeOf))
    .toSorted(
      (a, b) =>
        mostUrgentFirst(a.findings[0]!, b.findings[0]!) ||
        b.nodes.count - a.nodes.count ||
        b.findings.length - a.findings.length ||
        byText(a.rule, b.rule),
    )
}

type NodeOf = (cluster: string, name: string) => AuditedNode | undefined

function nodesByName(nodes: AuditedNode[]): NodeOf {
  const byName = new Map(
    nodes.map(node => [JSON.stringify([node.cluster, node.identity.name]), node]),
  )
  return (cluster, name) => byName.get(JSON.stringify([cluster, name]))
}

/** The root that a finding follows from, or the finding itself. @param roots of the same cluster */
function rootOf(finding: Finding, roots: readonly Finding[]): Finding {
  const root = roots.find(other => {
    const follows = consequences[other.rule]
    return (
      follows?.rules.includes(finding.rule) &&
      (!follows.isByFix || Object.keys(other.fix.config).length > 0) &&
      isWithin(finding, other)
    )
  })
  return root ?? finding
}

/** Whether `other` samples every node of a finding. False if the finding's sample is truncated. */
const isWithin = ({ nodes }: Finding, other: Finding) =>
  nodes.sample.length === nodes.count &&
  nodes.count > 0 &&
  nodes.sample.every(name => other.nodes.sample.includes(name))

function primaryField({ family, fix: { config } }: Finding): string | null {
  const fields = Object.keys(config)
  const own = fieldsOfFamily[family]
  const field =
    fields.find(name => own?.some(prefix => name.startsWith(prefix))) ?? fields[0] ?? null
  return field === null ? null : (together.find(names => names.includes(field))?.[0] ?? field)
}

function keyOf(
  finding: Finding,
  fieldOfRule: ReadonlyMap<string, string>,
  nodeOf: NodeOf,
): [CauseKind, ...(string | boolean)[]] {
  // On Auto Mode a fix is NodeClass text. Its field comes from findings of the same rule elsewhere.
  const isDurable = finding.fix.durable.length > 0
  const field = primaryField(finding) ?? (isDurable ? fieldOfRule.get(finding.rule) : undefined)
  if (field === undefined || field === null) return ['event', finding.rule]
  if (finding.rule in consequences) return ['setting', field, finding.rule]
  return ['setting', field, isDefault(finding, field, nodeOf)]
}

/** Whether the finding's first node runs the kubelet's default of the field. */
function isDefault({ cluster, nodes }: Finding, field: string, nodeOf: NodeOf): boolean {
  const node = nodeOf(cluster, nodes.sample[0] ?? '')
  const setting = node?.prediction.settings.imageGC?.find(one => one.field === field)
  return setting !== undefined && setting.value === setting.preset
}

function causeOf(findings: Finding[], nodeOf: NodeOf): FoundCause {
  const worst = findings[0]!
  const settings = settingsOf(findings, nodeOf)
  const field = primaryField(worst)
  const places = placesOf(findings)
  return {
    kind: settings.length > 0 ? 'setting' : 'event',
    severity: worst.severity,
    rule: worst.rule,
    isDefault: field !== null && isDefault(worst, field, nodeOf),
    settings,
    nodes: { count: places.reduce((sum, { nodes }) => sum + nodes, 0), places },
    commands: [...new Set(findings.flatMap(({ fix }) => fix.commands))],
    findings,
  }
}

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
      subjects: [...new Map(own.map(({ subject }) => [JSON.stringify(subject), subject])).values()],
    }
  })
}

function nodeCount(findings: Finding[]): number {
  const isWhole = findings.every(({ nodes }) => nodes.sample.length === nodes.count)
  const names = new Set(findings.flatMap(({ nodes }) => nodes.sample))
  return isWhole ? names.size : Math.max(names.size, ...findings.map(({ nodes }) => nodes.count))
}

/** The settings to change. Values of most nodes come first; values that run now are left out. */
function settingsOf(findings: Finding[], nodeOf: NodeOf): CauseSetting[] {
  const fields = ownFields(findings[0]!)
  const found = findings.flatMap(finding => {
    const node = nodeOf(finding.cluster, finding.nodes.sample[0] ?? '')
    return Object.entries(finding.fix.config)
      .filter(([field]) => fields.includes(field))
      .flatMap(([field, value]) => entriesOf(field, value))
      .map(({ path, value }) => ({
        path,
        value,
        now: node === undefined ? undefined : running(path, node),
        subject: finding.subject,
        cluster: finding.cluster,
        count: finding.nodes.count,
      }))
      .filter(({ value, now }) => now !== value)
  })
  return [...Map.groupBy(found, ({ path }) => path)].map(([path, own]) => {
    const byValue = [...Map.groupBy(own, ({ value }) => value)].toSorted(
      ([, a], [, b]) => weight(b) - weight(a),
    )
    const now = [...new Set(own.flatMap(one => one.now ?? []))].toSorted(byText)
    return {
      path,
      now,
      values: byValue.map(([value, ones]) => ({
        value,
        subjects: [
          ...new Map(
            ones.map(({ cluster, subject }) => [
              JSON.stringify([cluster, subject]),
              { cluster, subject },
            ]),
          ).values(),
        ],
      })),
    }
  })
}

const weight = (ones: { count: number }[]) => ones.reduce((sum, { count }) => sum + count, 0)

/** The primary field of a finding's fix, with the fields that are set together with it. */
function ownFields(finding: Finding): string[] {
  const field = primaryField(finding)
  if (field === null) return []
  return together.find(names => names.includes(field)) ?? [field]
}

function entriesOf(field: string, value: unknown): { path: string; value: string }[] {
  if (typeof value !== 'object' || value === null) return [{ path: field, value: String(value) }]
  if (Array.isArray(value)) return [{ path: field, value: value.join(',') }]
  return Object.entries(value).map(([key, entry]) => ({
    path: `${field}.${key}`,
    value: String(entry),
  }))
}

/** The running value of a field, as text. Undefined: the report does not have it; null: not set. */
function running(path: string, { prediction }: AuditedNode): string | null | undefined {
  const setting = prediction.settings.imageGC?.find(({ field }) => field === path)
  if (setting !== undefined) return setting.value
  const [, signal] = /^evictionHard\.(.+)$/.exec(path) ?? []
  const thresholds = prediction.eviction?.thresholds
  if (signal === undefined || thresholds === undefined) return undefined
  return thresholds.find(one => one.hard && one.signal === signal)?.value ?? null
}

/** The causes as in `findings.json`, which lists the ids of their findings. */
export const causeRecords = (causes: FoundCause[]): Cause[] =>
  causes.map(({ findings, ...cause }) => ({ ...cause, findings: findings.map(({ id }) => id) }))
