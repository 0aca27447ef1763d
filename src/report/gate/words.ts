/** Words that the formats of a gate share. */
import type { GateDocument, GateProblem, GateProblemKind, GateVerdict } from '#model/gate.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { lineText, nameText, nodesText } from '#report/parts/statements.ts'

const verdicts: Record<GateVerdict, string> = {
  ok: 'no node gets worse',
  worse: 'do not merge: nodes get worse',
  refused: 'do not merge: a kubelet would not start, or the file is refused',
}

/** The verdict, and what an empty or a small one means. */
export function verdictText({ verdict, files, groups, problems }: GateDocument): string {
  const isRead = files.some(({ kinds: known }) => known.length > 0)
  if (verdict === 'ok' && isRead && groups.length === 0)
    return 'nothing compared: no node of the snapshot is reached'
  const stops = problems.filter(problem => problem.stops)
  return verdict === 'worse' && stops.every(({ kind }) => kind === 'no-effect')
    ? 'do not merge: settings take no effect'
    : verdicts[verdict]
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

export const labelOf = ({ kind, severity }: GateProblem): string =>
  severity === null ? kinds[kind] : `${kinds[kind]}, ${severity}`

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
    .map(one => `${groupOf(one)} (${formatCount(one.nodes.count)})`)
  const more = effect.length > names ? `, and ${effect.length - names} more` : ''
  return `${counted(nodes, 'node')} in ${counted(effect.length, 'group')}: ${shown.join(', ')}${more}`
}

const groupOf = ({ cluster, group }: GateProblem) =>
  `${nameText(cluster ?? '')}/${nameText(group?.name ?? '')}`

/** `prod/general, 3 nodes: a, b, c`; null: the problem is the file's own. */
function whereOf(problem: GateProblem, names: number) {
  const { cluster, group, nodes } = problem
  if (cluster === null || group === null) return null
  const on = nodesText(nodes, names)
  return [groupOf(problem), ...(on === null ? [] : [on])].join(', ')
}

/** The sentence, and the values of the field: `… (evictionHard.nodefs.available: 10% or not set → 5%)`. */
export function sentenceOf(effect: Effect): string {
  const [{ text, field }] = effect
  const known = effect.flatMap(({ values }) => values ?? [])
  if (field === null || known.length === 0) return lineText(text)
  const [before, after] = (['before', 'after'] as const).map(when =>
    valuesText(known.flatMap(values => values[when])),
  )
  return `${lineText(text)} (${nameText(field)}: ${before} → ${after})`
}

const shownValues = 3

function valuesText(values: (string | null)[]) {
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
