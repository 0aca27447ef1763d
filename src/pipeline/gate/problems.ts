/** Collects what a change does to nodes, one entry for all nodes of a group with the same effect. */

import { byText } from '#base/text.ts'
import { type Severity, severities } from '#model/finding.ts'
import {
  type GateGroup,
  type GateInstead,
  type GateLimit,
  type GateProblem,
  type GateProblemKind,
  type GateValues,
  type GateVerdict,
  gateEffects,
  gateProblemKinds,
} from '#model/gate.ts'
import type { Subject } from '#model/input/record.ts'

/** A node, as problems name it. */
export interface NodePlace {
  cluster: string
  group: Subject
  name: string
}

export type ProblemHead = Pick<GateProblem, 'kind' | 'file' | 'line' | 'field' | 'text'> &
  Partial<
    Pick<GateProblem, 'otherLine' | 'rule' | 'severity' | 'values' | 'most' | 'instead' | 'detail'>
  >

const sampleSize = 20
/** Effects of a kind beyond this number are of no use to a reader, and a hostile file could cause any number. */
const mostProblems = 1_000

const stopping: ReadonlySet<GateProblemKind> = new Set([
  'unparsed',
  'refused',
  'no-effect',
  'threshold-lost',
  'settings-lost',
  'eviction',
])
const isSerious = (severity: Severity | null) =>
  severity !== null && severities.indexOf(severity) <= severities.indexOf('medium')

interface OpenProblem extends GateProblem {
  names: Set<string>
}

type Effect = (typeof gateEffects)[number]

interface OpenGroup extends Pick<GateGroup, 'cluster' | 'group' | 'imageGcs' | 'evictions'> {
  /** By node. */
  effects: Map<string, Effect>
  /** By field. */
  settings: Map<string, GateValues>
}

export class Problems {
  readonly #problems = new Map<string, OpenProblem>()
  readonly #groups = new Map<string, OpenGroup>()

  /** Counts a node that the files reach. */
  reach(node: NodePlace) {
    this.#groupOf(node).effects.set(node.name, 'unchanged')
  }

  #groupOf({ cluster, group }: NodePlace): OpenGroup {
    const key = JSON.stringify([cluster, group])
    const none = { imageGcs: 0, evictions: 0, effects: new Map(), settings: new Map() }
    const known = this.#groups.get(key) ?? { cluster, group, ...none }
    this.#groups.set(key, known)
    return known
  }

  /** Keeps the values of a field. Null: it stays, or is unknown. */
  change(node: NodePlace, field: string | null, values: GateValues | null) {
    if (field === null || !values) return
    const { settings } = this.#groupOf(node)
    const known = settings.get(field) ?? null
    if (!known && settings.size >= mostSettings) return
    settings.set(field, joinedValues(known, values))
  }

  /** @param node of those that the files reach. Null: the problem is the file's own */
  add(head: ProblemHead, node: NodePlace | null = null) {
    const { kind, file, line, field, text } = head
    const { rule = null, severity = null, values = null, most = [], instead = [] } = head
    const stops = stopping.has(kind) || (kind !== 'better' && isSerious(severity))
    const { cluster = null, group = null } = node ?? {}
    // The text of a finding has numbers of its node.
    const same = rule ?? (kind === 'eviction' || kind === 'image-gc' ? kind : text)
    const key = JSON.stringify([kind, file, line, field, cluster, group, same])
    if (!this.#problems.has(key) && this.#problems.size >= mostProblems) return
    const problem: OpenProblem = this.#problems.get(key) ?? {
      kind,
      stops,
      file,
      line,
      field,
      values: null,
      most: [],
      instead: [],
      cluster,
      group,
      otherLine: head.otherLine ?? null,
      rule,
      severity,
      text,
      detail: head.detail ?? null,
      names: new Set(),
      nodes: { count: 0, sample: [] },
    }
    this.#problems.set(key, problem)
    if (values) problem.values = joinedValues(problem.values, values)
    problem.most = smallestLimits([...problem.most, ...most])
    problem.instead = countedInstead([...problem.instead, ...instead])
    if (!node) return
    problem.names.add(node.name)
    this.change(node, field, values)
    this.#mark(node, kind, stops)
  }

  #mark(node: NodePlace, kind: GateProblemKind, stops: boolean) {
    const group = this.#groupOf(node)
    if (kind === 'image-gc') group.imageGcs++
    if (kind === 'eviction') group.evictions++
    const effect = effectOf(kind, stops)
    const worst = group.effects.get(node.name) ?? 'unchanged'
    if (gateEffects.indexOf(effect) < gateEffects.indexOf(worst))
      group.effects.set(node.name, effect)
  }

  groups(): GateGroup[] {
    return [...this.#groups.values()]
      .map(({ cluster, group, imageGcs, evictions, ...open }) => {
        const counts = { refused: 0, worse: 0, unread: 0, better: 0, unchanged: 0 }
        for (const effect of open.effects.values()) counts[effect]++
        const settings = [...open.settings].map(([field, values]) => ({ field, values }))
        const nodes = open.effects.size
        return { cluster, group, nodes, ...counts, imageGcs, evictions, settings }
      })
      .toSorted((a, b) => byText(a.cluster, b.cluster) || byText(a.group.name, b.group.name))
  }

  /** Worst first. */
  list(): GateProblem[] {
    return [...this.#problems.values()]
      .map(({ names, ...problem }) => ({
        ...problem,
        nodes: { count: names.size, sample: [...names].toSorted(byText).slice(0, sampleSize) },
      }))
      .toSorted(worstFirst)
  }
}

const mostValues = 4
const mostSettings = 20

function joinedValues(a: GateValues | null, b: GateValues) {
  if (!a) return b
  const firstValues = (values: (string | null)[]) => [...new Set(values)].slice(0, mostValues)
  return {
    before: firstValues([...a.before, ...b.before]),
    after: firstValues([...a.after, ...b.after]),
  }
}

const countedInstead = (all: readonly GateInstead[]): GateInstead[] =>
  [...Map.groupBy(all, ({ settings }) => JSON.stringify(settings)).values()]
    .flatMap(([first, ...others]) =>
      first
        ? [{ ...first, nodes: others.reduce((sum, { nodes }) => sum + nodes, first.nodes) }]
        : [],
    )
    .slice(0, mostValues)

/** Limits that hold on each node: the smallest of each signal. */
const smallestLimits = (limits: readonly GateLimit[]): GateLimit[] =>
  [...Map.groupBy(limits, ({ signal }) => signal)].map(([signal, own]) => {
    const percents = own.map(({ percent }) => percent)
    return {
      signal,
      available: Math.min(...own.map(({ available }) => available)),
      percent: percents.includes(null) ? null : Math.min(...percents.map(Number)),
    }
  })

function effectOf(kind: GateProblemKind, stops: boolean): Effect {
  if (kind === 'refused') return 'refused'
  if (stops) return 'worse'
  return kind === 'better' || kind === 'unread' ? kind : 'unchanged'
}

const rank = ({ severity }: GateProblem) => (severity === null ? 0 : severities.indexOf(severity))

const worstFirst = (a: GateProblem, b: GateProblem) =>
  Number(b.stops) - Number(a.stops) ||
  gateProblemKinds.indexOf(a.kind) - gateProblemKinds.indexOf(b.kind) ||
  rank(a) - rank(b) ||
  byText(a.file, b.file) ||
  a.line - b.line ||
  byText(`${a.cluster} ${a.group?.name} ${a.text}`, `${b.cluster} ${b.group?.name} ${b.text}`)

export function verdictOf(problems: readonly GateProblem[]): GateVerdict {
  const stops = problems.filter(problem => problem.stops)
  if (stops.some(({ kind }) => kind === 'unparsed' || kind === 'refused')) return 'refused'
  if (stops.length > 0) return 'worse'
  return problems.some(({ kind }) => kind === 'unread') ? 'unread' : 'ok'
}
