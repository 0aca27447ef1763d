/** Words that the formats of a gate share. */

import type {
  GateDocument,
  GateFile,
  GateLimit,
  GateProblem,
  GateProblemKind,
  GateValues,
} from '#model/gate.ts'
import { lineText, nameText, nodesText } from '#report/parts/findings.ts'
import { formatBytes, formatCount, plural } from '#report/text.ts'

const stopWords: Partial<Record<GateProblemKind, string>> = {
  unparsed: 'cannot be parsed',
  refused: 'is refused',
  'threshold-lost': 'ends a hard eviction threshold',
  'settings-lost': 'drops settings that run today',
  eviction: 'evicts pods at once',
  'no-effect': 'takes no effect',
}

/** Whether a node was compared, or no file is the kubelet's business. */
export const isJudged = ({ verdict, files, groups }: GateDocument) =>
  verdict !== 'unread' &&
  (groups.length > 0 || files.every(({ kinds: known }) => known.length === 0))

/** The verdict with its first reason, and what an empty or a small one means. */
export function verdictText(document: GateDocument) {
  const { verdict, files, problems } = document
  const [worst, ...others] = byEffect(problems.filter(problem => problem.stops))
  if (worst) return stoppedText(worst, others.length)
  if (isJudged(document)) return 'Merge: no node gets worse'
  if (verdict !== 'unread') return 'Not judged: no node of the snapshot is reached'
  const unread = byEffect(problems.filter(({ kind }) => kind === 'unread'))
  const counts = { file: 0, value: 0 }
  for (const [{ field }] of unread) counts[field === null ? 'file' : 'value']++
  const what = (['file', 'value'] as const).filter(one => counts[one] > 0)
  const shown = what.map(one => plural(counts[one], one)).join(' and ')
  return files.every(({ kinds: known }) => known.length === 0)
    ? `Not judged: ${shown} could not be read`
    : `No node gets worse by what was read, but not all is judged: ${shown}`
}

function stoppedText(worst: Effect, others: number) {
  const [first] = worst
  const nodes = nodeCount(groupsOf(worst))
  const on = nodes === 0 ? '' : ` on ${plural(nodes, 'node')}`
  const more = others === 0 ? '' : `, and ${plural(others, 'more problem')}`
  const why = stopWords[first.kind] ?? `leads to "${lineText(first.text).replace(/\.$/, '')}"`
  return `Do not merge: ${placeOf(first)} ${why}${on}${more}`
}

export const kinds: Record<GateProblemKind, string> = {
  unparsed: 'cannot be parsed',
  refused: 'refused',
  'no-effect': 'takes no effect',
  'threshold-lost': 'threshold lost',
  'settings-lost': 'settings lost',
  eviction: 'evicts at once',
  worse: 'worse',
  'image-gc': 'image GC at once',
  better: 'better',
  unread: 'not read',
  note: 'note',
}

/** Their texts say what they are. */
const selfExplaining: ReadonlySet<GateProblemKind> = new Set([
  ...(['unparsed', 'no-effect', 'unread', 'threshold-lost', 'settings-lost'] as const),
  ...(['eviction', 'image-gc'] as const),
])

/** Null: the problem's own text says it, and no finding reports it. */
export function labelOf({ kind, severity }: GateProblem): string | null {
  if (selfExplaining.has(kind)) return severity
  return severity === null ? kinds[kind] : `${kinds[kind]}, ${severity}`
}

export const placeOf = ({ file, line }: GateProblem) => `${nameText(file)}:${line}`

/** One entry for the same effect of one place on several groups, with the worst severity, and for settings that the same reason leaves without effect. */
export const byEffect = (problems: readonly GateProblem[]): Effect[] =>
  groupProblems(problems, ({ kind, file, line, field, rule, text }) =>
    kind === 'no-effect' ? [kind, file, text] : [kind, file, line, field, rule ?? text],
  )

export type Effect = [GateProblem, ...GateProblem[]]

const groupProblems = (
  problems: readonly GateProblem[],
  keyOf: (problem: GateProblem) => unknown[],
): Effect[] =>
  [...Map.groupBy(problems, problem => JSON.stringify(keyOf(problem))).values()].flatMap(
    ([first, ...others]) => (first ? [[first, ...others]] : []),
  )

/** The problem with the most nodes of each group. */
const groupsOf = (effect: Effect) =>
  groupProblems(effect, ({ cluster, group }) => [cluster, group]).map(([first, ...others]) =>
    others.reduce((most, one) => (one.nodes.count > most.nodes.count ? one : most), first),
  )

const nodeCount = (groups: readonly GateProblem[]) =>
  groups.reduce((sum, { nodes }) => sum + nodes.count, 0)

/** `5 nodes in 2 groups: prod/general (3), prod/batch (2)`, `prod/general, 3 nodes: a, b, c`; null: the problem is the file's own. */
export function placesOf(effect: Effect, names: number): string | null {
  const groups = groupsOf(effect)
  const [first = effect[0]] = groups
  if (groups.length === 1) {
    if (first.cluster === null || !first.group) return null
    return [pathOf(first), nodesText(first.nodes, names)].filter(Boolean).join(', ')
  }
  const shown = groups
    .slice(0, names)
    .map(one => `${pathOf(one)} (${formatCount(one.nodes.count)})`)
  const more = groups.length > names ? `, and ${groups.length - names} more` : ''
  return `${plural(nodeCount(groups), 'node')} in ${plural(groups.length, 'group')}: ${shown.join(', ')}${more}`
}

export const pathOf = ({ cluster, group }: Pick<GateProblem, 'cluster' | 'group'>) =>
  `${nameText(cluster ?? '')}/${nameText(group?.name ?? '')}`

/** Of a group. */
export const shownSettings = 4
const shownFields = 6
const shownValues = 3

/** What happens: for settings without effect their names and the reason. */
export function headlineOf(effect: Effect) {
  const [{ kind, text, line, otherLine }] = effect
  const other = otherLine === null ? [] : [`(the other field is on line ${otherLine})`]
  if (kind !== 'no-effect') return [lineText(text), ...other, ...valueTexts(effect)].join(' ')
  const settings = groupProblems(effect, one => [one.field, one.line]).map(
    ([one]) => `${nameText(one.field ?? '')}${one.line === line ? '' : ` (line ${one.line})`}`,
  )
  const more = settings.length - shownFields
  const shown = [...settings.slice(0, shownFields), ...(more > 0 ? [`${more} more`] : [])]
  return `${shown.join(', ')} ${settings.length === 1 ? 'takes' : 'take'} no effect: ${lineText(text)}`
}

/** The value to write. */
function valueTexts(effect: Effect): string[] {
  const limits = limitTexts(effect.flatMap(({ most }) => most))
  const instead = insteadTexts(effect)
  return [
    ...(limits.length === 0
      ? []
      : [`Now ${limits.join(' and ')}: set less than that${todayText(effect)}.`]),
    ...(instead.length === 0 ? [] : [`Write ${instead.slice(0, shownValues).join(', ')} instead.`]),
  ]
}

/** `imageGCHighThresholdPercent 56 and imageGCLowThresholdPercent 51`, with the nodes that each is for if they differ. */
function insteadTexts(effect: Effect): string[] {
  const all = effect.flatMap(problem =>
    problem.instead.map(({ settings, nodes }) => ({
      text: Object.entries(settings)
        .map(pair => pair.map(nameText).join(' '))
        .join(' and '),
      place: `${plural(nodes, 'node')} of ${pathOf(problem)}`,
    })),
  )
  const byText = [...Map.groupBy(all, ({ text }) => text)]
  return byText.map(([text, own]) =>
    byText.length === 1 ? text : `${text} on ${own.map(({ place }) => place).join(' and ')}`,
  )
}

/** The value that runs, if all nodes have one: with it the problem is not there. */
function todayText(effect: Effect): string {
  const [now, ...others] = new Set(effect.flatMap(({ values }) => values?.before ?? [null]))
  const isOfField = effect.every(({ field, most }) =>
    most.every(({ signal }) => field?.endsWith(`.${signal}`)),
  )
  return now == null || others.length > 0 || !isOfField ? '' : `, such as today's ${nameText(now)}`
}

/** `nodefs.available is 3.2 GiB (10%)`, which holds in each group. */
const limitTexts = (limits: readonly GateLimit[]) =>
  [...Map.groupBy(limits, ({ signal }) => signal)].map(([signal, own]) => {
    const least = Math.min(...own.map(({ available }) => available))
    const percents = own.map(({ percent }) => percent ?? 0)
    const percent = percents.includes(0) ? '' : ` (${Math.min(...percents)}%)`
    return `${nameText(signal)} is ${amountText(signal, least)}${percent}`
  })

/** Bytes as the findings beside it have them. */
function amountText(signal: string, available: number) {
  if (signal.endsWith('.inodesFree')) return `${formatCount(available)} inodes`
  return signal === 'pid.available'
    ? `${formatCount(available)} process ids`
    : formatBytes(available).replaceAll('\u00a0', ' ')
}

/** The whole sentence, and the values of the field: `… (evictionHard.nodefs.available: 10% or 15% → 5%)`. */
export function sentenceOf(effect: Effect) {
  const [{ field }] = effect
  const known = effect.flatMap(({ values }) => values ?? [])
  const values = field === null || known.length === 0 ? '' : `(${settingText(field, known)})`
  return [headlineOf(effect), detailOf(effect), values].filter(Boolean).join(' ')
}

/** What follows on the first node. Empty: the headline says all. */
export function detailOf(effect: Effect) {
  const [first] = effect
  if (first.detail === null) return ''
  const isOfOne = new Set(effect.map(one => one.detail)).size > 1
  return `${isOfOne ? `In ${pathOf(first)}: ` : ''}${lineText(first.detail)}`
}

/** `imageMaximumGCAge: 12h or not set → 24h`; without a key of evictionHard nothing evicts. */
export function settingText(field: string, known: readonly GateValues[]) {
  const none = field.startsWith('evictionHard.') ? 'no threshold' : 'not set'
  const [before, after] = (['before', 'after'] as const).map(when => {
    const once = [...new Set(known.flatMap(values => values[when]))]
    const shown = once.slice(0, shownValues).map(value => (value === null ? none : nameText(value)))
    return [...shown, ...(once.length > shownValues ? ['others'] : [])].join(' or ')
  })
  return `${nameText(field)}: ${before} → ${after}`
}

export const fileText = ({ file, kinds, nodes, reach }: GateFile) =>
  `${nameText(file)}: ${kinds.length === 0 ? lineText(reach) : `${kinds.join(', ')}, ${plural(nodes, 'node')} (${lineText(reach)})`}`

/** What was judged: `2 files, 12 nodes in 3 groups, compared with what runs now`. */
export function scopeOf({ files, groups, comparedWith, waived }: GateDocument) {
  const judged = files.filter(({ kinds: own }) => own.length > 0).length
  const nodes = groups.reduce((sum, group) => sum + group.nodes, 0)
  const against = comparedWith === 'base' ? 'the files before the change' : 'what runs now'
  return `${plural(judged, 'file')}, ${plural(nodes, 'node')} in ${plural(groups.length, 'group')}, compared with ${against}${waived.length === 0 ? '' : `; worse, and silenced by waivers: ${waived.join(', ')}`}`
}
