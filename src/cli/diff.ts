/** `highwater diff`: what changed between two saved audits. */

import { Command } from 'commander'
import { cut, firstNames, linesOf } from '#base/text.ts'
import {
  type Change,
  type ClusterChange,
  changes,
  type DiffDocument,
  type DiffInput,
  type FindingState,
  type ListedChange,
  type NotReadNow,
} from '#model/delta.ts'
import type { FleetUpgrade } from '#model/upgrade.ts'
import { diff } from '#pipeline/audit/diff.ts'
import { upgradeText } from '#report/terminal/upgrade-text.ts'
import {
  addFailOptions,
  addFormatOption,
  addPolicyOption,
  addSelectionOptions,
  type FailOptions,
  policyFile,
  type SelectionOptions,
  selectionOf,
} from './options.ts'
import {
  clean,
  diffExitCode,
  firstLines,
  nodeNames,
  nodesOf,
  printDocument,
  type Screen,
  type Sheet,
  severityStyles,
  sheetOf,
  version,
} from './terminal.ts'

interface DiffOptions extends SelectionOptions, FailOptions {
  policy?: string
  format: 'text' | 'json'
}

export function diffCommand() {
  const command = new Command('diff')
    .argument('<old>', 'snapshot.ndjson.gz or findings.json of an earlier audit')
    .argument('<new>', 'likewise, of a later one')
  return addFormatOption(addPolicyOption(addSelectionOptions(addFailOptions(command))))
    .addHelpText(
      'after',
      `
Snapshots are judged by today's rules and policy, so two snapshots differ only
in their data. A findings.json keeps the rules and policy of its day. It lists
at most 20 nodes of a finding (all with audit --all-nodes); the output names
what stays open because of this. --fail-on counts new and worse findings.

Examples:
  highwater diff yesterday.ndjson.gz today.ndjson.gz
  highwater diff yesterday/findings.json today/snapshot.ndjson.gz --fail-on high
  highwater diff before.ndjson.gz after.ndjson.gz --nodegroup general \\
    --format json

Exit codes: 0 nothing new or worse at or above --fail-on; 1 something is; 2 bad
usage or bad input; 3 a part of either audit was not read (--fail-on-unread); 4
failed.`,
    )
    .action(async (oldFile: string, newFile: string, options: DiffOptions) => {
      const result = await diff(oldFile, newFile, {
        policy: policyFile(options.policy),
        selection: selectionOf(options),
        version,
      })
      printDocument(options.format, result.document, screen => diffText(result.document, screen))
      process.exitCode = diffExitCode(result, options)
    })
}

/** The changes between two audits for a terminal: new and worse first, fixed last. */
const shownFindings = 10
const shownNodes = 8
const shownReason = 240
const widest = 120

/** `isGood`: it needs no action, so it gets fewer lines. */
const words: Record<Change, { title: string; counted: string; isGood?: true }> = {
  new: { title: 'New', counted: 'new' },
  worse: { title: 'Worse', counted: 'worse' },
  waiverExpired: { title: 'Waiver expired', counted: 'with an expired waiver' },
  newlySeen: { title: 'Newly seen: not read before, so perhaps not new', counted: 'newly seen' },
  cannotTell: { title: 'Cannot tell', counted: 'that could not be compared' },
  moved: { title: 'As bad, but elsewhere', counted: 'elsewhere' },
  better: { title: 'Better', counted: 'better', isGood: true },
  fixed: { title: 'Fixed', counted: 'fixed', isGood: true },
  fixedOrGone: { title: 'Fixed, or gone with its nodes', counted: 'fixed or gone', isGood: true },
  replaced: {
    title: 'Ended: other nodes replaced its nodes',
    counted: 'ended with replaced nodes',
    isGood: true,
  },
  gone: { title: 'Gone with its nodes', counted: 'gone with their nodes', isGood: true },
  waivedSince: { title: 'Waived since', counted: 'waived since', isGood: true },
}

/** The text ends with a newline. */
export function diffText(document: DiffDocument, screen: Screen) {
  const sheet = sheetOf(screen, widest)
  const lines = linesOf(
    inputLines('OLD', document.old, sheet),
    inputLines('NEW', document.new, sheet),
    document.notes.map(note => sheet.wrap(clean(note, 400), '! ', '  ')),
    '',
    clusterLines(document.clusters),
    '',
    sheet.wrap(verdict(document)).map(sheet.bold),
    '',
    changes.map(change => changeLines(change, document.findings[change], sheet)),
    nodeLines(document, sheet),
    upgradeLines(document.kubeletUpgrades, sheet),
  )
  return `${lines.join('\n').trimEnd()}\n`
}

function inputLines(
  name: string,
  { file, kind, takenAt, inputErrors }: DiffInput,
  { wrap }: Sheet,
) {
  const time = `${takenAt.slice(0, 16).replace('T', ' ')} UTC`
  const errors = inputErrors
    .slice(0, shownNodes)
    .flatMap(error => wrap(clean(error, shownReason), `! ${name} `, '  '))
  return [`${name}  ${time}  ${kind.padEnd(8)}  ${clean(file)}`, ...errors]
}

function clusterLines(clusters: ClusterChange[]) {
  const wide = Math.min(32, Math.max(7, ...clusters.map(({ name }) => clean(name).length)))
  const row = (...cells: string[]) =>
    `${cut(cells[0] ?? '', wide).padEnd(wide)}  ${(cells[1] ?? '').padEnd(8)}  ${cells[2]}`
  const changeText = (before: string | null, after: string | null) =>
    before === after ? (after ?? '') : `${before ?? 'none'} → ${after ?? 'none'}`
  const readCount = (state: ClusterChange['after']) =>
    state && `${state.coverage.read}/${state.coverage.nodes}`
  return [
    row('cluster', 'grade', 'nodes read'),
    ...clusters.map(({ name, before, after }) => {
      const grades = changeText(before && (before.grade ?? '–'), after && (after.grade ?? '–'))
      return row(clean(name), grades, changeText(readCount(before), readCount(after)))
    }),
  ]
}

function verdict({ findings, unchanged }: DiffDocument) {
  const counts = changes
    .filter(change => findings[change].length > 0)
    .map(change => `${findings[change].length} ${words[change].counted}`)
  const { open, waived, inDoubt } = unchanged
  const stillWaived = waived > 0 ? [`${waived} still waived`] : []
  const doubt = inDoubt > 0 ? ` (${inDoubt} of them where not all was read)` : ''
  return counts.length === 0
    ? [`Nothing changed: ${open} as before${doubt}`, ...stillWaived].join(', ')
    : [...counts, ...stillWaived, `${open} unchanged${doubt}`].join(', ')
}

function changeLines(change: Change, found: ListedChange[], sheet: Sheet) {
  if (found.length === 0) return []
  return [
    sheet.bold(`${words[change].title} (${found.length})`),
    ...firstLines(
      found,
      shownFindings,
      finding => findingLines(finding, !words[change].isGood, sheet),
      moreInJson,
    ),
    '',
  ]
}

const moreInJson = (more: number) => `  … and ${more} more (--format json has all)`
const indent = ' '.repeat(12)

function findingLines(
  { rule, cluster, subject, title, before, after, why }: ListedChange,
  isLong: boolean,
  { paint, wrap }: Sheet,
) {
  const state = after ?? before
  const severity = state?.severity ?? 'info'
  const where = `${clean(cluster)}, ${subject.kind.toLowerCase()} ${clean(subject.name)}`
  const isOnNodes = state !== null && subject.kind !== 'Node' && state.nodes.count > 0
  const namedOrCounted = (nodes: NonNullable<typeof state>['nodes']) =>
    before && after ? nodeCounts(before, after) : nodeNames(nodes)
  const nodes = isOnNodes ? `: ${namedOrCounted(state.nodes)}` : ''
  const head = isLong ? clean(title) : clean(rule)
  const place = isLong
    ? `${where}${nodes} (${clean(rule)})`
    : `${where}${before && after ? nodes : ''}`
  const [first = '', ...rest] = wrap(
    isLong ? head : `${head}: ${place}`,
    `  ${severity.toUpperCase().padEnd(8)}  `,
    indent,
  )
  return [
    isLong ? paint(severityStyles[severity], first) : first,
    ...rest,
    ...(isLong ? wrap(place, indent) : []),
    ...why
      .flatMap(sentence => wrap(clean(sentence, shownReason), indent))
      .map(line => paint('dim', line)),
  ]
}

/** Without node names: the lines below name the nodes. */
function nodeCounts(before: FindingState, { nodes: { count } }: FindingState) {
  const earlier = before.nodes.count
  return `${nodesOf(count)}${count === earlier ? '' : `, before ${earlier}`}`
}

function nodeLines({ nodes: { gone, come, notReadNow } }: DiffDocument, sheet: Sheet) {
  const nodesNamed = (title: string, nodes: { cluster: string; node: string }[] | null) => {
    if (!nodes || nodes.length === 0) return []
    const names = nodes.map(({ cluster, node }) => `${clean(cluster)}/${clean(node)}`)
    return sheet.wrap(firstNames(names, shownNodes), `${title} (${nodes.length}): `, '  ')
  }
  return [
    ...nodesNamed('Nodes gone', gone),
    ...nodesNamed('Nodes come', come),
    ...unreadLines(notReadNow, sheet),
  ]
}

/** Nodes that were read in the run before come first; nodes with the same reason share a line. */
function unreadLines(unread: NotReadNow[], { indented }: Sheet) {
  if (unread.length === 0) return []
  const isLost = ({ coverage, before }: NotReadNow) =>
    before === 'read' || (before === 'partlyRead' && coverage === 'notRead')
  const sorted = [...unread.filter(isLost), ...unread.filter(entry => !isLost(entry))]
  const alike = Map.groupBy(sorted, ({ node, ...same }) => JSON.stringify([same, node === null]))
  const reasonLines = (entries: NotReadNow[]) => {
    const [first] = entries
    if (!first) return []
    const earlier = first.before === 'read' ? ', read before' : ', partly read before'
    const how = `${first.coverage === 'partlyRead' ? ', partly' : ''}${isLost(first) ? earlier : ''}`
    return indented(`${unreadNodesText(first, entries)}${how}: ${clean(first.reason, shownReason)}`)
  }
  const moreReasons = (more: number) => `  … and for ${more} more reasons`
  return [
    `Not read now (${unread.length}):`,
    ...firstLines([...alike.values()], shownNodes, reasonLines, moreReasons),
  ]
}

function unreadNodesText({ cluster }: NotReadNow, entries: NotReadNow[]) {
  const names = entries.flatMap(({ node }) => node ?? []).map(node => clean(node))
  if (names.length === 0) return `cluster ${clean(cluster)}`
  return names.length === 1
    ? `${clean(cluster)}/${names[0]}`
    : `${clean(cluster)}, ${nodeNames({ count: names.length, sample: names })}`
}

function upgradeLines(upgrades: FleetUpgrade[] | null, { bold, wrap, indented }: Sheet) {
  if (!upgrades || upgrades.length === 0) return []
  const upgradeOf = (upgrade: FleetUpgrade) => {
    const { cluster, group, nodes, from, to } = upgrade
    const place = `${clean(cluster)}, ${group.kind.toLowerCase()} ${clean(group.name)}`
    const versions = `${clean(from ?? 'unknown')} → ${clean(to)}`
    return [
      ...wrap(`${place}: ${versions} (${nodeNames(nodes)})`, '  ', '    '),
      ...upgradeText(upgrade).flatMap(line => indented(clean(line, 500), 4)),
    ]
  }
  return [
    '',
    bold(`Kubelet upgrades (${upgrades.length})`),
    ...firstLines(upgrades, shownNodes, upgradeOf, moreInJson),
  ]
}
