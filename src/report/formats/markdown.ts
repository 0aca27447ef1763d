/**
 * Markdown for a pull request comment, most important findings first. Findings beyond GitHub's
 * limit are only counted.
 */
import { type Finding, severities } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Format } from '#report/format.ts'
import { english } from '#report/languages/language.ts'
import {
  bySeverity,
  countBySeverity,
  evidenceLines,
  fixLines,
  lineText,
  nameText,
  nodesText,
  subjectPath,
} from '#report/parts/findings.ts'
import { plural } from '#report/text.ts'

/** Source: GitHub REST API, issue comments: "body is too long (maximum is 65536 characters)". Counted in bytes here, so the limit also holds if GitHub counts bytes. */
const maxBytes = 65_536
/** Reserved for the lines that count what was left out. */
const countingBytes = 2_000
const shownClusters = 50
const shownEntries = 10
const shownNames = 5

export const markdown: Format = {
  id: 'markdown',
  name: 'findings.md',
  contentType: 'text/markdown; charset=utf-8',
  render: markdownOf,
}

function markdownOf(report: AuditReport) {
  const { run, clusters, findings, waived, unknowns, notAudited } = report.document
  const sheet = openSheet()
  sheet.add(`## highwater: ${headline(findings)}\n\n`)
  sheet.add(
    `Taken ${escapeMarkdown(nameText(run.takenAt))}, highwater ${escapeMarkdown(nameText(run.version))}.\n\n`,
  )
  sheet.add('| cluster | grade | nodes read | findings |\n| --- | --- | --- | --- |\n')
  const left = sheet.addAll(clusters.slice(0, shownClusters), ({ name, grade, coverage }) => {
    const own = findings.filter(({ cluster }) => cluster === name)
    const partly = coverage.partlyRead > 0 ? `, ${coverage.partlyRead} partly` : ''
    return `| ${escapeMarkdown(nameText(name))} | ${grade ?? 'none'} | ${coverage.read} of ${coverage.nodes}${partly} | ${severityList(own)} |\n`
  })
  const unshown = clusters.slice(0, shownClusters).length - left.length
  if (clusters.length > unshown)
    sheet.count(`| and ${plural(clusters.length - unshown, 'more cluster')} | | | |\n`)
  addFolded(sheet, 'Not audited', notAudited, ({ cluster, node, reason }) => {
    const where = node === null ? nameText(cluster) : `${nameText(cluster)}/${nameText(node)}`
    return `- ${escapeMarkdown(where)}: ${escapeMarkdown(lineText(reason))}\n`
  })
  sheet.add('\n')
  const more = sheet.addAll(findings.toSorted(bySeverity), findingText)
  if (more.length > 0)
    sheet.count(
      `\n**${plural(more.length, 'more finding')}** that did not fit: ${severityList(more)}. All of them are in findings.json.\n`,
    )
  addFolded(
    sheet,
    'Waived',
    waived.toSorted(bySeverity),
    ({ title, cluster, subject, waived: waiver }) => {
      const until = escapeMarkdown(lineText(waiver?.until ?? 'unknown'))
      return `- ${escapeMarkdown(lineText(title))} (${escapeMarkdown(subjectPath(cluster, subject))}), until ${until}: ${escapeMarkdown(lineText(waiver?.reason ?? ''))}\n`
    },
  )
  addFolded(sheet, 'Undecided', unknowns, ({ rule, cluster, subject, nodes, reason }) => {
    return `- ${escapeMarkdown(rule)} of ${escapeMarkdown(subjectPath(cluster, subject))}${nodes.count === 0 ? '' : `, ${plural(nodes.count, 'node')}`}: ${escapeMarkdown(lineText(reason))}\n`
  })
  addFolded(
    sheet,
    'Broken input',
    run.inputErrors,
    error => `- ${escapeMarkdown(lineText(error))}\n`,
  )
  return sheet.text()
}

const headline = (findings: Finding[]) =>
  findings.length === 0
    ? 'no findings'
    : `${plural(findings.length, 'finding')}, ${severityList(findings)}`

function severityList(findings: Finding[]) {
  const counts = countBySeverity(findings)
  const said = severities
    .filter(severity => counts[severity] > 0)
    .map(severity => `${counts[severity]} ${severity}`)
  return said.join(', ') || 'none'
}

function findingText(finding: Finding) {
  const { severity, title, rule, cluster, subject, nodes, consequence } = finding
  const on = nodesText(nodes, shownNames)
  const quote = [...evidenceLines(finding), '', ...fixLines(finding)].map(
    line => `${escapeMarkdown(line)}  \n`,
  )
  return [
    `### ${english.words.severities[severity]}: ${escapeMarkdown(lineText(title))}\n\n`,
    `${escapeMarkdown(subjectPath(cluster, subject))} (${escapeMarkdown(rule)})${on === null ? '' : `, ${escapeMarkdown(on)}`}\n\n`,
    `${escapeMarkdown(lineText(consequence))}\n\n`,
    `<details><summary>Evidence and fix</summary>\n\n${quote.join('')}\n</details>\n\n`,
  ].join('')
}

/** Adds a collapsed list. @param most entries beyond it are only counted; @param place where they are */
export function addFolded<Entry>(
  sheet: Sheet,
  title: string,
  entries: Entry[],
  textOf: (entry: Entry) => string,
  { place, most } = { place: 'findings.json', most: shownEntries },
) {
  if (entries.length === 0) return
  const summary = `\n<details><summary>${title}: ${entries.length}</summary>\n\n`
  const end = '\n</details>\n'
  if (!sheet.hasRoom(`${summary}${end}`)) {
    sheet.count(`\n${title}: ${entries.length}\n`)
    return
  }
  sheet.add(summary)
  const shown = entries.slice(0, most)
  const left = sheet.addAll(shown, textOf)
  const more = entries.length - shown.length + left.length
  if (more > 0) sheet.count(`- and ${more} more in ${place}\n`)
  sheet.count(end)
}

/** A text below GitHub's limit. */
export interface Sheet {
  hasRoom(text: string): boolean
  add(text: string): void
  /** Writes as many entries as fit; returns the others. */
  addAll<Entry>(entries: Entry[], textOf: (entry: Entry) => string): Entry[]
  /** Adds a short line that counts entries or closes a list. Room is reserved for such lines. */
  count(text: string): void
  text(): string
}

export function openSheet(): Sheet {
  const parts: string[] = []
  let used = 0
  const push = (text: string) => {
    parts.push(text)
    used += Buffer.byteLength(text)
  }
  const hasRoom = (text: string) => used + Buffer.byteLength(text) <= maxBytes - countingBytes
  return {
    hasRoom,
    add: text => {
      if (hasRoom(text)) push(text)
    },
    addAll(entries, textOf) {
      for (const [index, entry] of entries.entries()) {
        const text = textOf(entry)
        if (!hasRoom(text)) return entries.slice(index)
        push(text)
      }
      return []
    },
    count: push,
    text: () => parts.join(''),
  }
}

/** Escapes foreign text, so that it is no markup, HTML, link or mention (`@`). */
export const escapeMarkdown = (text: string) =>
  text
    .replace(/[\\`*_{}[\]<>~&$|#^]/g, '\\$&')
    .replace(/^(\d*)([-+=.):])/, '$1\\$2')
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/\b(www)\./gi, '$1\\.')
    .replace(/@(?=\S)/g, '@<!-- -->')
    .replace(/\\#(?=\w)/g, '\\#<!-- -->')
