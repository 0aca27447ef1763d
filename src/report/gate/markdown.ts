/** The answer of a gate as a comment of a pull request: verdict, a table by group, what stops it, and folded details. */
import type { GateDocument, GateGroup, GateProblem } from '#model/gate.ts'
import { escapeMarkdown, openSheet, type Sheet } from '#report/formats/markdown.ts'
import { nameText } from '#report/parts/findings.ts'
import { formatUtc, plural } from '#report/text.ts'
import {
  byEffect,
  detailOf,
  type Effect,
  fileText,
  headlineOf,
  isJudged,
  labelOf,
  pathOf,
  placeOf,
  placesOf,
  scopeOf,
  sentenceOf,
  settingText,
  shownSettings,
  verdictText,
} from './words.ts'

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
  addFolded(sheet, 'Why the change is stopped', details)
  const isBetter = ([{ kind }]: Effect) => kind === 'better'
  const [better, known] = [others.filter(isBetter), others.filter(one => !isBetter(one))]
  addFolded(sheet, 'What gets better', better.map(entry))
  addFolded(sheet, 'What to know', known.map(entry))
  const fileTexts = files.map(file => escapeMarkdown(fileText(file)))
  const isOne = fileTexts.length === 1
  if (!isOne)
    addFolded(
      sheet,
      'Files',
      fileTexts.map(text => `- ${text}\n`),
    )
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
  const shown = settings
    .toSorted((a, b) => Number(stops.has(b.field)) - Number(stops.has(a.field)))
    .slice(0, shownSettings)
    .map(({ field, values }) => escapeMarkdown(settingText(field, [values])))
  const more = settings.length - shown.length
  if (shown.length === 0 && refused + unread > 0)
    return refused > 0 ? 'unknown: refused' : 'unknown: not read'
  if (shown.length === 0) return 'as before'
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('<br>')
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

function addFolded(sheet: Sheet, title: string, entries: string[]) {
  if (entries.length === 0) return
  sheet.count(`\n<details><summary>${title}: ${entries.length}</summary>\n\n`)
  const left = sheet.addAll(entries, text => text)
  if (left.length > 0) sheet.count(`- and ${left.length} more in the JSON\n`)
  sheet.count('\n</details>\n')
}
