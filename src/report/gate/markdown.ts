/** The answer of a gate as a comment of a pull request: verdict, what stops it, a table by group, and folded details. */
import type { GateDocument, GateGroup, GateProblem } from '#model/gate.ts'
import { escaped, openSheet, type Sheet } from '#report/formats/markdown.ts'
import { counted } from '#report/numbers.ts'
import { lineText, nameText, utcTime } from '#report/statements.ts'
import { labelOf, placeOf, scopeOf, sentenceOf, verdicts, whereOf } from './words.ts'

/** What a reader takes in at once. */
const shownStops = 5
const shownRows = 30

export function gateMarkdown(document: GateDocument): string {
  const { verdict, groups, problems, files, takenAt } = document
  const stops = problems.filter(problem => problem.stops)
  const others = problems.filter(problem => !problem.stops)
  const sheet = openSheet()
  sheet.add(`## ${verdict === 'ok' ? '✅' : '❌'} highwater gate: ${verdicts[verdict]}\n\n`)
  sheet.add(`${escaped(scopeOf(document))}. Snapshot of ${utcTime(takenAt)}.\n\n`)
  sheet.addAll(stops.slice(0, shownStops), entry)
  table(sheet, groups)
  folded(sheet, 'More that stops the change', stops.slice(shownStops), entry)
  folded(sheet, 'Better, and what to know', others, entry)
  folded(sheet, 'Files', files, ({ file, kinds, nodes, reach }) => {
    const how = kinds.length === 0 ? '' : `${kinds.join(', ')}, ${counted(nodes, 'node')}: `
    return `- ${escaped(nameText(file))}: ${escaped(`${how}${lineText(reach)}`)}\n`
  })
  return sheet.text()
}

function entry(problem: GateProblem): string {
  const where = whereOf(problem, 3)
  const head = `- **${escaped(placeOf(problem))}** (${labelOf(problem)}): ${escaped(sentenceOf(problem))}`
  return where === null ? `${head}\n` : `${head} *${escaped(where)}*\n`
}

function table(sheet: Sheet, groups: readonly GateGroup[]): void {
  if (groups.length === 0) return
  sheet.add(
    '\n| group | nodes | refused | worse | better | image GC at once | evictions at once |\n| --- | --- | --- | --- | --- | --- | --- |\n',
  )
  const left = sheet.addAll(groups.slice(0, shownRows), ({ cluster, group, ...counts }) => {
    const { nodes, refused, worse, better, imageGcs, evictions } = counts
    const cells = [nodes, refused, worse, better, imageGcs, evictions].join(' | ')
    return `| ${escaped(`${nameText(cluster)}/${nameText(group.name)}`)} | ${cells} |\n`
  })
  const more = groups.length - Math.min(groups.length, shownRows) + left.length
  if (more > 0) sheet.count(`| and ${counted(more, 'more group')} | | | | | | |\n`)
}

function folded<Entry>(
  sheet: Sheet,
  title: string,
  entries: Entry[],
  textOf: (entry: Entry) => string,
): void {
  if (entries.length === 0) return
  sheet.count(`\n<details><summary>${title}: ${entries.length}</summary>\n\n`)
  const left = sheet.addAll(entries, textOf)
  if (left.length > 0) sheet.count(`- and ${left.length} more in the JSON\n`)
  sheet.count('\n</details>\n')
}
