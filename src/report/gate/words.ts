/** Words that the formats of a gate share. */
import type { Subject } from '#model/finding/subject.ts'
import type { GateDocument, GateProblem, GateProblemKind, GateValues } from '#model/gate.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { lineText, nameText, nodesText } from '#report/parts/statements.ts'

const stopWords: Partial<Record<GateProblemKind, string>> = {
  unparsed: 'cannot be parsed',
  refused: 'is refused',
  'threshold-lost': 'ends a hard eviction threshold',
  eviction: 'evicts pods at once',
  'no-effect': 'takes no effect',
}

/** Whether a node was compared, or no file is the kubelet's business. */
export const isJudged = ({ files, groups }: GateDocument): boolean =>
  files.every(({ unread }) => unread === null) &&
  (groups.length > 0 || files.every(({ kinds: known }) => known.length === 0))

/** The verdict with its first reason, and what an empty or a small one means. */
export function verdictText(document: GateDocument): string {
  const { verdict, files, groups, problems } = document
  const [worst, ...others] = byEffect(problems.filter(problem => problem.stops))
  if (verdict !== 'ok' && worst !== undefined) return stoppedText(worst, others.length)
  const unread = counted(files.filter(file => file.unread !== null).length, 'file')
  if (isJudged(document)) return 'Merge: no node gets worse'
  if (files.every(({ kinds: known }) => known.length === 0))
    return `Not judged: ${unread} could not be read`
  if (groups.length === 0) return 'Not judged: no node of the snapshot is reached'
  return `No node gets worse by what was read, but ${unread} could not be read`
}

function stoppedText(worst: Effect, others: number) {
  const [first] = worst
  const nodes = worst.reduce((sum, one) => sum + one.nodes.count, 0)
  const on = nodes === 0 ? '' : ` on ${counted(nodes, 'node')}`
  const more = others === 0 ? '' : `, and ${counted(others, 'more problem')}`
  const why = stopWords[first.kind] ?? `leads to "${lineText(first.text).replace(/\.$/, '')}"`
  return `Do not merge: ${placeOf(first)} ${why}${on}${more}`
}

export const kinds: Record<GateProblemKind, string> = {
  unparsed: 'cannot be parsed',
  refused: 'refused',
  'no-effect': 'takes no effect',
  'threshold-lost': 'threshold lost',
  eviction: 'evicts at once',
  worse: 'worse',
  'image-gc': 'image GC at once',
  better: 'better',
  note: 'note',
}

/** Null: the problem's own text begins with its kind. */
export function labelOf({ kind, severity }: GateProblem): string | null {
  if (kind === 'unparsed' || kind === 'no-effect') return null
  return severity === null ? kinds[kind] : `${kinds[kind]}, ${severity}`
}

export const placeOf = ({ file, line }: GateProblem): string => `${nameText(file)}:${line}`

/** The same effect of one place in the files on several groups is one entry, with the worst severity. */
export const byEffect = (problems: readonly GateProblem[]): Effect[] =>
  [
    ...Map.groupBy(problems, ({ kind, file, line, field, rule, text }) =>
      JSON.stringify([kind, file, line, field, rule ?? text]),
    ).values(),
  ].flatMap(([first, ...others]) => (first === undefined ? [] : [[first, ...others]]))

export type Effect = [GateProblem, ...GateProblem[]]

/** `5 nodes in 2 groups: prod/general (3), prod/batch (2)`. */
export function placesOf(effect: Effect, names: number): string | null {
  const [first, ...others] = effect
  if (others.length === 0) return whereOf(first, names)
  const nodes = effect.reduce((sum, one) => sum + one.nodes.count, 0)
  const shown = effect
    .slice(0, names)
    .map(one => `${pathOf(one.cluster, one.group)} (${formatCount(one.nodes.count)})`)
  const more = effect.length > names ? `, and ${effect.length - names} more` : ''
  return `${counted(nodes, 'node')} in ${counted(effect.length, 'group')}: ${shown.join(', ')}${more}`
}

export const pathOf = (cluster: string | null, group: Subject | null): string =>
  `${nameText(cluster ?? '')}/${nameText(group?.name ?? '')}`

/** `prod/general, 3 nodes: a, b, c`; null: the problem is the file's own. */
function whereOf(problem: GateProblem, names: number) {
  const { cluster, group, nodes } = problem
  if (cluster === null || group === null) return null
  const on = nodesText(nodes, names)
  return [pathOf(cluster, group), ...(on === null ? [] : [on])].join(', ')
}

/** The sentence, and the values of the field: `… (evictionHard.nodefs.available: 10% or not set → 5%)`. */
export function sentenceOf(effect: Effect): string {
  const [{ text, detail, field }] = effect
  const whole = lineText(detail === null ? text : `${text} ${detail}`)
  const known = effect.flatMap(({ values }) => values ?? [])
  if (field === null || known.length === 0) return whole
  return `${whole} (${nameText(field)}: ${valuesText(known)})`
}

const shownValues = 3

/** `10% or not set → 5%` */
export const valuesText = (known: readonly GateValues[]): string =>
  (['before', 'after'] as const)
    .map(when => eitherText(known.flatMap(values => values[when])))
    .join(' → ')

function eitherText(values: (string | null)[]) {
  const once = [...new Set(values)]
  const shown = once
    .slice(0, shownValues)
    .map(value => (value === null ? 'not set' : nameText(value)))
  return [...shown, ...(once.length > shownValues ? ['others'] : [])].join(' or ')
}

/** What was judged: `2 files, 12 nodes in 3 groups, compared with what runs now`. */
export function scopeOf({ files, groups, comparedWith }: GateDocument): string {
  const judged = files.filter(({ kinds: own }) => own.length > 0).length
  const nodes = groups.reduce((sum, group) => sum + group.nodes, 0)
  const against = comparedWith === 'base' ? 'the files before the change' : 'what runs now'
  return `${counted(judged, 'file')}, ${counted(nodes, 'node')} in ${counted(groups.length, 'group')}, compared with ${against}`
}
