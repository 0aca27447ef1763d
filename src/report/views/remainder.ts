/** What the page says after the pictures: what was undecided, not audited, passed, and how it was all read. */
import { type ReadMode, readModes } from '#model/read-mode.ts'
import type { AuditReport } from '#model/report.ts'
import { counted, formatCount, formatUtc } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'
import { nodeCountText, subjectText } from './findings.ts'
import { coverageTexts, modeTexts, nameLimit } from './node.ts'
import { hasNodes } from './verdict.ts'

const remainderLimits = { unknowns: 300, notAudited: 500, clusters: 300, inputErrors: 50 }

/** The rows that fit, and a sentence for those that do not. */
export interface Rows<Row> {
  rows: Row[]
  leftOut: string | null
}

export interface RemainderView {
  unknowns: Rows<{ rule: string; cluster: string; subject: string; nodeCount: string; reason: string }>
  notAudited: Rows<{ cluster: string; node: string; reason: string }>
  outcomes: Rows<{ name: string; pass: string; fail: string; unknown: string; notApplicable: string; error: string }>
  quietRules: string[]
  quietRulesCount: string
  run: { what: string; value: string }[]
  inputErrors: Rows<string>
}

export function remainderView({ document, nodes }: Pick<AuditReport, 'document' | 'nodes'>): RemainderView {
  const { run, clusters, findings, waived, unknowns, notAudited } = document
  const spoken = new Set([...findings, ...waived, ...unknowns].map(({ rule }) => rule))
  // Where nothing was read no rule spoke, and none passed either.
  const hasPassed = clusters.some(({ outcomes }) => outcomes.pass > 0)
  const quiet = hasPassed ? run.rules.filter(rule => !spoken.has(rule)) : []
  return {
    unknowns: rowsOf(unknowns, remainderLimits.unknowns, ({ rule, cluster, subject, nodes, reason }) => ({
      rule: shownLine(rule, 80),
      cluster: shownLine(cluster, nameLimit),
      subject: subjectText(subject),
      nodeCount: nodeCountText(nodes),
      reason: shownLine(reason, 400),
    })),
    notAudited: rowsOf(notAudited, remainderLimits.notAudited, ({ cluster, node, reason }) => ({
      cluster: shownLine(cluster, nameLimit),
      node: node !== null ? shownLine(node, nameLimit) : hasNodes(clusters, cluster) ? 'the cluster itself' : 'the whole cluster',
      reason: shownLine(reason, 600),
    })),
    outcomes: rowsOf(clusters, remainderLimits.clusters, ({ name, outcomes: { pass, fail, unknown, notApplicable, error } }) => ({
      name: shownLine(name, nameLimit),
      pass: formatCount(pass),
      fail: formatCount(fail),
      unknown: formatCount(unknown),
      notApplicable: formatCount(notApplicable),
      error: formatCount(error),
    })),
    quietRules: quiet.map(rule => shownLine(rule, 80)),
    quietRulesCount: hasPassed
      ? `${formatCount(quiet.length)} of ${counted(run.rules.length, 'rule')} found nothing and left nothing undecided`
      : 'No rule passed anywhere: nothing was read that one could judge',
    run: [
      { what: 'Snapshot taken', value: formatUtc(run.takenAt) },
      { what: 'Source', value: run.source === 'live' ? 'the clusters themselves' : 'a saved snapshot' },
      ...(nodes.length === 0 ? [] : [{ what: 'Nodes', value: readText(nodes, clusters) }]),
      { what: 'AWS account', value: shownLine(run.account ?? 'unknown', 60) },
      { what: 'Region', value: shownLine(run.region ?? 'unknown', 60) },
      { what: 'highwater', value: shownLine(run.version, 60) },
      { what: 'Rules', value: run.rules.map(rule => shownLine(rule, 80)).join(', ') },
    ],
    inputErrors: rowsOf(run.inputErrors, remainderLimits.inputErrors, error => shownLine(error, 400)),
  }
}

/** `12 nodes asked through the API server (mode proxy, which needs list nodes, list pods, get nodes/proxy): 10 read, 2 partly read`. Being asked is not having answered. */
function readText(nodes: AuditReport['nodes'], clusters: AuditReport['document']['clusters']): string {
  const readings = clusters.flatMap(({ readings = [] }) => readings)
  const rightsOf = (mode: ReadMode) => readings.find(reading => reading.mode === mode)?.rights.join(', ') ?? modeTexts[mode].right
  return readModes
    .map(mode => ({ mode, asked: nodes.filter(node => node.mode === mode) }))
    .filter(({ asked }) => asked.length > 0)
    .map(
      ({ mode, asked }) =>
        `${counted(asked.length, 'node')} asked ${modeTexts[mode].way} (mode ${mode}, which needs ${rightsOf(mode)}): ${answeredText(asked)}`,
    )
    .join('; ')
}

function answeredText(asked: AuditReport['nodes']): string {
  const states = ['read', 'partlyRead', 'notRead'] as const
  return states
    .map(state => ({ state, count: asked.filter(({ coverage }) => coverage === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${formatCount(count)} ${coverageTexts[state]}`)
    .join(', ')
}

function rowsOf<Item, Row>(items: Item[], limit: number, row: (item: Item) => Row): Rows<Row> {
  return {
    rows: items.slice(0, limit).map(row),
    leftOut: items.length > limit ? `${formatCount(items.length - limit)} more in findings.json.` : null,
  }
}
