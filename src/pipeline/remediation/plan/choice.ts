/** Selects the fixes of each node and combines them. */

import { OperatorError } from '#base/operator-error.ts'
import {
  isRawObject,
  leavesOf,
  mapOf,
  overlay,
  patchAt,
  type RawObject,
  valueAt,
} from '#base/raw-object.ts'
import { isPlannable, meaningOf, plannableFields } from '#facts/kubelet/fields.ts'
import { withLowestImageGc } from '#judge/fixes/fix-facts.ts'
import type { Finding, StepActionId } from '#model/finding.ts'
import { type ConfigurationChange, stepKey } from '#model/plan.ts'
import type { ReadNode } from './node.ts'

export interface PlanChoice {
  /** Rule and finding ids; both empty: every finding with a fix that a plan may apply, unless there are changes. */
  rules: readonly string[]
  findings: readonly string[]
  changes: readonly ConfigurationChange[]
}

export const wantsFindings = ({ rules, findings, changes }: PlanChoice) =>
  rules.length > 0 || findings.length > 0 || changes.length === 0

/**
 * The change that ends a finding: kubelet configuration, wanted logrotate files, logrotate files without ineffective blocks,
 * or pulled and pinned images.
 */
export type RemedyKind = 'configuration' | 'log-files' | 'idle-log-blocks' | 'images'

/** Steps that need another remedy than the configuration fields of the fix. */
const otherRemedies: Readonly<Partial<Record<StepActionId, RemedyKind>>> = {
  'drop-idle-log-blocks': 'idle-log-blocks',
  'pin-images': 'images',
  'set-log-files': 'log-files',
}

export interface ChosenFix {
  id: string
  remedy: RemedyKind
  rule: string
  config: RawObject
}

const allFields = Object.keys(plannableFields).join(', ')

/** @throws OperatorError for a field that no plan may change */
export function checkChanges(changes: readonly ConfigurationChange[]) {
  const foreign = changes.find(({ path: [field = ''] }) => !isPlannable(field))
  if (foreign)
    throw new OperatorError(
      `${foreign.path[0]} is no field that a plan may change under running pods. Those are ${allFields}`,
    )
}

/** What rules of single nodes propose: by the finding's id, then by node. */
export type NodeProposals = Map<string, ReadonlyMap<string, RawObject>>

/** Returns the fixes by `cluster/node`. @throws OperatorError if a named rule or finding is missing or cannot be applied */
export function chosenFixes(
  findings: readonly Finding[],
  choice: PlanChoice,
  proposals: NodeProposals,
) {
  const byNode = new Map<string, ChosenFix[]>()
  for (const finding of chosenFindings(findings, choice)) {
    const { id, rule, cluster, nodes, fix } = finding
    const remedy = remedyOf(finding)
    if (remedy === null) continue
    for (const node of nodes.sample) {
      const own = remedy === 'configuration' ? proposals.get(id)?.get(node) : undefined
      const config = ownConfig(fix.config, own)
      if (!config) continue
      const key = stepKey({ cluster, node })
      byNode.set(key, [...(byNode.get(key) ?? []), { id, remedy, rule, config }])
    }
  }
  return byNode
}

function chosenFindings(all: readonly Finding[], { rules, findings: ids }: PlanChoice) {
  const isNamed = rules.length + ids.length > 0
  const unknown = ids.find(id => !all.some(finding => finding.id === id))
  if (unknown !== undefined)
    throw new OperatorError(
      `No open finding of these nodes has the id ${JSON.stringify(unknown.slice(0, 80))}`,
    )
  const named = isNamed
    ? all.filter(({ id, rule }) => ids.includes(id) || rules.includes(rule))
    : all
  const fit = named.filter(finding => remedyOf(finding) !== null)
  if (isNamed && named.length > 0 && fit.length === 0)
    throw new OperatorError(
      `${named.length === 1 ? `The finding ${named[0]?.id} of ${named[0]?.rule} has` : `The ${named.length} findings that were named have`} no fix that a plan may apply: a plan sets ${allFields}, writes files of logrotate, and pins images`,
    )
  return fit
}

/** Null: no plan ends the finding. */
function remedyOf({ steps, fix }: Finding): RemedyKind | null {
  const [other] = steps.flatMap(({ action }) => otherRemedies[action.id] ?? [])
  if (other !== undefined) return other
  const fields = Object.keys(fix.config)
  return fields.length > 0 && fields.every(isPlannable) ? 'configuration' : null
}

/**
 * A finding has the fix of most of its nodes. Maps can differ per node, so a fix of a node rule is the node's own. The image-GC percentages
 * come from the finding: they are valid for all its nodes. Null: no plan may set the node's own.
 */
function ownConfig(config: RawObject, own: RawObject | undefined) {
  if (!own) return config
  const fields = Object.keys(own)
  return fields.length > 0 && fields.every(isPlannable) ? withLowestImageGc(own, [config]) : null
}

export interface Settled {
  /** Merge patch of the running configuration; empty: nothing to change. */
  patch: RawObject
  findings: string[]
  /** Two contradicting findings, for people; null: none. */
  conflict: string | null
}

interface LeafWish {
  value: unknown
  by: ChosenFix | null
}

/**
 * Image-GC percentages take the lowest value of the fixes, as in a report; the operator's changes win; any other difference is a
 * conflict.
 * @param node its running configuration may be unknown
 */
export function settle(
  fixes: readonly ChosenFix[],
  changes: readonly ConfigurationChange[],
  { running, identity: { kubeletVersion } }: ReadNode,
): Settled {
  const present = running ?? {}
  const isSame = (leaf: string, a: unknown, b: unknown) =>
    meaningOf(leaf, a, kubeletVersion) === meaningOf(leaf, b, kubeletVersion)
  const isChange = (leaf: string, value: unknown) => !isSame(leaf, value, valueAt(present, leaf))
  const wishes = new Map<string, LeafWish>()
  const overruled = new Set<ChosenFix>()
  for (const { path, value } of changes) {
    const [field = '', key] = path
    const whole = key === undefined ? wholeMap(value, present[field]) : { [key]: value ?? null }
    for (const [leaf, wished] of leavesOf({ [field]: whole }))
      wishes.set(leaf, { value: wished, by: null })
  }
  const configs = fixes.map(({ config }) => config)
  for (const fix of fixes) {
    for (const [leaf, value] of leavesOf(withLowestImageGc(fix.config, configs))) {
      const other = wishes.get(leaf)
      const wish = { value, by: fix }
      if (!other) wishes.set(leaf, wish)
      else if (isSame(leaf, other.value, value)) continue
      else if (!other.by) overruled.add(fix)
      else if (isChange(leaf, value) && isChange(leaf, other.value))
        return {
          patch: {},
          findings: [other.by.id, fix.id].sort(),
          conflict: contradiction(leaf, wish, other),
        }
      else if (isChange(leaf, value)) wishes.set(leaf, wish)
    }
  }
  const news = [...wishes].filter(([leaf, { value }]) => isChange(leaf, value))
  const findings = fixes.filter(fix => !overruled.has(fix)).map(({ id }) => id)
  return {
    patch: news
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .reduce<RawObject>((patch, [leaf, { value }]) => overlay(patch, patchAt(leaf, value)), {}),
    findings: [...new Set(findings)].sort(),
    conflict: null,
  }
}

/** A map given as a whole removes running keys that it lacks. */
function wholeMap(value: unknown, before: unknown): unknown {
  if (!isRawObject(value)) return value ?? null
  const gone = Object.keys(mapOf(before)).map(key => [key, null])
  return { ...Object.fromEntries(gone), ...value }
}

function contradiction(leaf: string, a: LeafWish, b: LeafWish) {
  const [first, second] = [a, b].map(
    ({ value, by }) =>
      `finding ${by?.id} of ${by?.rule} wants ${value === null ? 'it gone' : String(value)}`,
  )
  return `its findings contradict each other about ${leaf}: ${first}, ${second}. Choose one with --finding, or say it with --set`
}
