/** The answer of a gate as a comment of a pull request: verdict, what stops it, a table by group, and folded details. */
import type { GateDocument, GateFile, GateGroup } from '#model/gate.ts'
import { escaped, openSheet, type Sheet } from '#report/formats/markdown.ts'
import { counted } from '#report/numbers.ts'
import { lineText, nameText, utcTime } from '#report/parts/statements.ts'
import {
  byEffect,
  type Effect,
  labelOf,
  placeOf,
  placesOf,
  scopeOf,
  sentenceOf,
  verdictText,
} from './words.ts'

/** What a reader takes in at once. */
const shownStops = 5
const shownRows = 30
const shownFiles = 3

export function gateMarkdown(document: GateDocument): string {
  const { verdict, groups, problems, files, takenAt } = document
  const stops = byEffect(problems.filter(problem => problem.stops))
  const others = byEffect(problems.filter(problem => !problem.stops))
  const sheet = openSheet()
  const okMark = groups.length === 0 ? '⚪' : '✅'
  sheet.add(`## ${verdict === 'ok' ? okMark : '❌'} highwater gate: ${verdictText(document)}\n\n`)
  sheet.add(`${escaped(scopeOf(document))}. Snapshot of ${utcTime(takenAt)}.\n\n`)
  const isShort = files.length <= shownFiles
  if (isShort) sheet.addAll(files, file => `*${fileText(file)}*\n\n`)
  sheet.addAll(stops.slice(0, shownStops), entry)
  table(sheet, groups)
  folded(sheet, 'More that stops the change', stops.slice(shownStops), entry)
  folded(sheet, 'Better, and what to know', others, entry)
  if (!isShort) folded(sheet, 'Files', files, file => `- ${fileText(file)}\n`)
  return sheet.text()
}

function fileText({ file, kinds, nodes, reach }: GateFile) {
  const how = kinds.length === 0 ? '' : `${kinds.join(', ')}, ${counted(nodes, 'node')}: `
  return `${escaped(nameText(file))}: ${escaped(`${how}${lineText(reach)}`)}`
}

function entry(effect: Effect) {
  const [first] = effect
  const where = placesOf(effect, 3)
  // The sentence of a setting without effect says so itself.
  const label = first.kind === 'no-effect' ? '' : ` (${labelOf(first)})`
  const head = `- **${escaped(placeOf(first))}**${label}: ${escaped(sentenceOf(effect))}`
  return where === null ? `${head}\n` : `${head} *${escaped(where)}*\n`
}

/** Groups with an effect; the others are counted. */
function table(sheet: Sheet, all: readonly GateGroup[]) {
  if (all.length === 0) return
  const groups = all.filter(
    ({ nodes, unchanged, imageGcs, evictions }) => unchanged < nodes || imageGcs + evictions > 0,
  )
  sheet.add(
    '\n| group | nodes | refused | worse | only better | image GC at once | evictions at once |\n| --- | --- | --- | --- | --- | --- | --- |\n',
  )
  const left = sheet.addAll(groups.slice(0, shownRows), ({ cluster, group, ...counts }) => {
    const { nodes, refused, worse, better, imageGcs, evictions } = counts
    const cells = [nodes, refused, worse, better, imageGcs, evictions].join(' | ')
    return `| ${escaped(`${nameText(cluster)}/${nameText(group.name)}`)} | ${cells} |\n`
  })
  const more = groups.length - Math.min(groups.length, shownRows) + left.length
  if (more > 0) sheet.count(`| and ${counted(more, 'more group')} | | | | | | |\n`)
  const calm = all.length - groups.length
  if (calm > 0) sheet.count(`| ${counted(calm, 'group')} without an effect | | | | | | |\n`)
}

function folded<Entry>(
  sheet: Sheet,
  title: string,
  entries: Entry[],
  textOf: (entry: Entry) => string,
) {
  if (entries.length === 0) return
  sheet.count(`\n<details><summary>${title}: ${entries.length}</summary>\n\n`)
  const left = sheet.addAll(entries, textOf)
  if (left.length > 0) sheet.count(`- and ${left.length} more in the JSON\n`)
  sheet.count('\n</details>\n')
}
