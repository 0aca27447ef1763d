/** Words that the formats of a gate share. */

import { firstLines, firstNames } from '#base/text.ts'
import {
  type GateDocument,
  type GateFile,
  type GateGroup,
  type GateLimit,
  type GateProblem,
  type GateProblemKind,
  type GateValues,
  gateEffects,
} from '#model/gate.ts'
import { addFolded, escapeMarkdown, openSheet, type Sheet } from '#report/formats/markdown.ts'
import { lineText, nameText, nodesText } from '#report/parts/findings.ts'
import { formatBytes, formatCount, formatUtc, plural } from '#report/text.ts'

const stopWords: Partial<Record<GateProblemKind, string>> = {
  unparsed: 'cannot be parsed',
  refused: 'is refused',
  'threshold-lost': 'ends a hard eviction threshold',
  'settings-lost': 'drops settings that run today',
  eviction: 'evicts pods at once',
  'no-effect': 'takes no effect',
}

/** Whether a node was compared, or no file is the kubelet's business. */
const isJudged = ({ verdict, files, groups }: GateDocument) =>
  verdict !== 'unread' &&
  (groups.length > 0 || files.every(({ kinds: known }) => known.length === 0))

/** The verdict with its first reason, and what an empty or a small one means. */
function verdictText(document: GateDocument) {
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
function labelOf({ kind, severity }: GateProblem) {
  if (selfExplaining.has(kind)) return severity
  return severity === null ? kinds[kind] : `${kinds[kind]}, ${severity}`
}

const placeOf = ({ file, line }: GateProblem) => `${nameText(file)}:${line}`

/** One entry for the same effect of one place on several groups, with the worst severity, and for settings that the same reason leaves without effect. */
const byEffect = (problems: readonly GateProblem[]): Effect[] =>
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
export function placesOf(effect: Effect, names: number) {
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

const pathOf = ({ cluster, group }: Pick<GateProblem, 'cluster' | 'group'>) =>
  `${nameText(cluster ?? '')}/${nameText(group?.name ?? '')}`

/** Of a group. */
const shownSettings = 4
const shownFields = 6
const shownValues = 3

/** What happens: for settings without effect their names and the reason. */
function headlineOf(effect: Effect) {
  const [{ kind, text, line, otherLine }] = effect
  const other = otherLine === null ? [] : [`(the other field is on line ${otherLine})`]
  if (kind !== 'no-effect') return [lineText(text), ...other, ...valueTexts(effect)].join(' ')
  const settings = groupProblems(effect, one => [one.field, one.line]).map(
    ([one]) => `${nameText(one.field ?? '')}${one.line === line ? '' : ` (line ${one.line})`}`,
  )
  return `${firstNames(settings, shownFields)} ${settings.length === 1 ? 'takes' : 'take'} no effect: ${lineText(text)}`
}

/** The value to write. */
function valueTexts(effect: Effect) {
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
function insteadTexts(effect: Effect) {
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
function todayText(effect: Effect) {
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
function detailOf(effect: Effect) {
  const [first] = effect
  if (first.detail === null) return ''
  const isOfOne = new Set(effect.map(one => one.detail)).size > 1
  return `${isOfOne ? `In ${pathOf(first)}: ` : ''}${lineText(first.detail)}`
}

/** `imageMaximumGCAge: 12h or not set → 24h`; without a key of evictionHard nothing evicts. */
function settingText(field: string, known: readonly GateValues[]) {
  const none = field.startsWith('evictionHard.') ? 'no threshold' : 'not set'
  const [before, after] = (['before', 'after'] as const).map(when => {
    const once = [...new Set(known.flatMap(values => values[when]))]
    const shown = once.slice(0, shownValues).map(value => (value === null ? none : nameText(value)))
    return [...shown, ...(once.length > shownValues ? ['others'] : [])].join(' or ')
  })
  return `${nameText(field)}: ${before} → ${after}`
}

const fileText = ({ file, kinds, nodes, reach }: GateFile) =>
  `${nameText(file)}: ${kinds.length === 0 ? lineText(reach) : `${kinds.join(', ')}, ${plural(nodes, 'node')} (${lineText(reach)})`}`

/** What was judged: `2 files, 12 nodes in 3 groups, compared with what runs now`. */
function scopeOf({ files, groups, comparedWith, waived }: GateDocument) {
  const judged = files.filter(({ kinds: own }) => own.length > 0).length
  const nodes = groups.reduce((sum, group) => sum + group.nodes, 0)
  const against = comparedWith === 'base' ? 'the files before the change' : 'what runs now'
  return `${plural(judged, 'file')}, ${plural(nodes, 'node')} in ${plural(groups.length, 'group')}, compared with ${against}${waived.length === 0 ? '' : `; worse, and silenced by waivers: ${waived.join(', ')}`}`
}

/* The answer of a gate for a terminal or a log. */

/** @param heading styles a heading */
export function gateText(document: GateDocument, heading: (text: string) => string) {
  const { files, groups, problems } = document
  const stops = problems.filter(problem => problem.stops)
  const others = problems.filter(problem => !problem.stops)
  const lines = [
    heading(`${verdictText(document)} (${scopeOf(document)})`),
    '',
    ...files.map(file => `  ${fileText(file)}`),
    ...section(heading('Stops the change'), stops),
    ...section(heading('Also'), others),
    ...(groups.length === 0 ? [] : ['', heading('Groups'), ...groups.flatMap(groupLines)]),
  ]
  return `${lines.join('\n')}\n`
}

const section = (title: string, problems: readonly GateProblem[]) =>
  problems.length === 0 ? [] : ['', title, ...byEffect(problems).flatMap(effectLines)]

function effectLines(effect: Effect) {
  const [first] = effect
  const where = placesOf(effect, 3)
  const label = labelOf(first)
  return [
    `  ${[placeOf(first), label && `[${label}]`, sentenceOf(effect)].filter(Boolean).join(' ')}`,
    ...(where === null ? [] : [`    ${where}`]),
  ]
}

function groupLines(group: GateGroup) {
  const { nodes, imageGcs, evictions, settings } = group
  const more = settings.length - shownSettings
  const effects = gateEffects.filter(effect => group[effect] > 0)
  const shown = [
    ...effects.map(effect => `${group[effect]} ${effect === 'unread' ? 'not judged' : effect}`),
    ...(imageGcs > 0 ? [`image GC at once on ${imageGcs}`] : []),
    ...(evictions > 0 ? [`evictions at once on ${evictions}`] : []),
  ]
  return [
    `  ${pathOf(group)}: ${plural(nodes, 'node')}: ${shown.join(', ')}`,
    ...settings
      .slice(0, shownSettings)
      .map(({ field, values }) => `    ${settingText(field, [values])}`),
    ...(more > 0 ? [`    and ${plural(more, 'more setting')}`] : []),
  ]
}

/* The answer of a gate as a comment of a pull request: verdict, a table by group, what stops it, and folded details. */

/** As many entries as there is room for. */
const whole = { place: 'the JSON', most: Number.POSITIVE_INFINITY }
/** What a reader takes in at once. */
const shownStops = 5
const shownUnread = 5
const shownRows = 30

export function gateMarkdown(document: GateDocument) {
  const { groups, problems, files, takenAt } = document
  const stops = byEffect(problems.filter(problem => problem.stops))
  const others = byEffect(problems.filter(({ stops, kind }) => !stops && kind !== 'unread'))
  const unread = byEffect(problems.filter(({ kind }) => kind === 'unread'))
  const sheet = openSheet()
  sheet.add(`## ${markOf(document)} ${escapeMarkdown(verdictText(document))}\n\n`)
  table(sheet, groups, problems)
  sheet.addAll(
    [...Map.groupBy(stops.slice(0, shownStops), ([first]) => placeOf(first)).values()],
    shortEntries,
  )
  const more = stops.length - shownStops
  if (more > 0) sheet.count(`- and ${plural(more, 'more problem')}, see the details\n`)
  sheet.addAll(
    unread.slice(0, shownUnread),
    effect => `- ⚪ **${placeText(effect)}** ${shortText(effect)}\n`,
  )
  if (unread.length > shownUnread)
    sheet.count(
      `- and ${plural(unread.length - shownUnread, 'more text')} not read, see the JSON\n`,
    )
  const details = [
    ...stops.slice(0, shownStops).flatMap(detailEntry),
    ...stops.slice(shownStops).map(entry),
  ]
  addFolded(sheet, 'Why the change is stopped', details, text => text, whole)
  const { better = [], known = [] } = Object.groupBy(others, ([{ kind }]) =>
    kind === 'better' ? kind : 'known',
  )
  addFolded(sheet, 'What gets better', better, entry, whole)
  addFolded(sheet, 'What to know', known, entry, whole)
  const fileTexts = files.map(file => escapeMarkdown(fileText(file)))
  const isOne = fileTexts.length === 1
  if (!isOne) addFolded(sheet, 'Files', fileTexts, text => `- ${text}\n`, whole)
  const of = isOne ? ` ${fileTexts[0]}.` : ''
  sheet.count(`\n*highwater gate: ${scopeOf(document)}.${of} Snapshot of ${formatUtc(takenAt)}.*\n`)
  return sheet.text()
}

function markOf(document: GateDocument) {
  if (isJudged(document) && document.verdict === 'ok') return '✅'
  return document.problems.some(({ stops }) => stops) ? '❌' : '⚪'
}

const placeText = ([first]: Effect) => escapeMarkdown(placeOf(first))

function shortText(effect: Effect) {
  const label = labelOf(effect[0])
  return `${label === null ? '' : `${label}: `}${escapeMarkdown(headlineOf(effect))}`
}

/** The place once, with what it does. */
function shortEntries(effects: readonly Effect[]) {
  const [first, second] = effects
  if (!first) return ''
  const place = `- **${placeText(first)}**`
  if (!second) return `${place} ${shortText(first)}\n`
  return `${place}\n${effects.map(effect => `  - ${shortText(effect)}\n`).join('')}`
}

function entry(effect: Effect) {
  const label = labelOf(effect[0])
  const kind = label === null ? '' : ` (${label})`
  return `- **${placeText(effect)}**${kind}: ${withNodes(effect, sentenceOf(effect))}\n`
}

/** What the short entry and the table do not say. */
function detailEntry(effect: Effect) {
  const detail = detailOf(effect)
  const isOfGroups = new Set(effect.map(pathOf)).size > 1
  if (detail === '' && !isOfGroups) return []
  const fields = new Set(effect.flatMap(({ field }) => field ?? []).map(nameText))
  const text = withNodes(effect, detail || [...fields].slice(0, shownSettings).join(', '))
  return [`- **${placeText(effect)}** ${text}\n`]
}

function withNodes(effect: Effect, text: string) {
  const where = placesOf(effect, 3)
  return [escapeMarkdown(text), where && `*${escapeMarkdown(where)}*`].filter(Boolean).join(' ')
}

/** Groups with a change; the others are counted. */
function table(sheet: Sheet, all: readonly GateGroup[], problems: readonly GateProblem[]) {
  if (all.length === 0) return
  const groups = all.filter(
    ({ nodes, unchanged, imageGcs, evictions, settings }) =>
      unchanged < nodes || imageGcs + evictions + settings.length > 0,
  )
  const byGroup = Map.groupBy(problems, ({ cluster, group }) => JSON.stringify([cluster, group]))
  sheet.add('| group | nodes | settings | at rollout |\n| --- | --- | --- | --- |\n')
  const left = sheet.addAll(groups.slice(0, shownRows), row => {
    const own = byGroup.get(JSON.stringify([row.cluster, row.group])) ?? []
    const cells = [settingsCell(row, own), consequences(row, own).join('<br>')]
    return `| ${escapeMarkdown(pathOf(row))} | ${row.nodes} | ${cells.join(' | ')} |\n`
  })
  const more = groups.length - Math.min(groups.length, shownRows) + left.length
  if (more > 0) sheet.count(`| and ${plural(more, 'more group')} | | | |\n`)
  const calm = all.length - groups.length
  if (calm > 0) sheet.count(`| ${plural(calm, 'group')} without a change | | | |\n`)
  sheet.count('\n')
}

/** Settings of a problem that stops the change come first. */
function settingsCell({ settings, refused, unread }: GateGroup, problems: readonly GateProblem[]) {
  const stops = new Set(problems.filter(problem => problem.stops).map(({ field }) => field))
  if (settings.length === 0 && refused + unread > 0)
    return refused > 0 ? 'unknown: refused' : 'unknown: not read'
  if (settings.length === 0) return 'as before'
  const texts = settings
    .toSorted((a, b) => Number(stops.has(b.field)) - Number(stops.has(a.field)))
    .map(({ field, values }) => escapeMarkdown(settingText(field, [values])))
  return firstLines(texts, shownSettings).join('<br>')
}

function consequences(
  { refused, unread, evictions, imageGcs }: GateGroup,
  own: readonly GateProblem[],
) {
  const problemsOf = (kind: GateProblem['kind']) => own.filter(problem => problem.kind === kind)
  const count = (kind: GateProblem['kind']) => byEffect(problemsOf(kind)).length
  const idle = problemsOf('no-effect')
  const idleNodes = Math.max(0, ...idle.map(({ nodes }) => nodes.count))
  const mark = problemsOf('worse').some(({ stops }) => stops) ? '❌ ' : ''
  const said: [number, string][] = [
    [refused, `❌ refused on ${plural(refused, 'node')}`],
    [evictions, `❌ evictions start on ${plural(evictions, 'node')}`],
    [count('threshold-lost'), '❌ a hard threshold is lost'],
    [
      idle.length,
      `❌ ${plural(idle.length, 'setting')} without effect on ${plural(idleNodes, 'node')}`,
    ],
    [count('worse'), `${mark}${plural(count('worse'), 'new or worse finding')}`],
    [imageGcs, `image GC starts on ${plural(imageGcs, 'node')}`],
    [count('better'), `✅ ${plural(count('better'), 'finding')} better`],
    [unread, `⚪ not judged on ${plural(unread, 'node')}`],
  ]
  const texts = said.filter(([number]) => number > 0).map(([, text]) => text)
  return texts.length > 0 ? texts : ['no effect predicted']
}
