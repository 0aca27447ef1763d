/** The end of the page: undecided, not audited, passed, and how everything was read. */
import { type ReadMode, readModes } from '#model/read-mode.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { nodeCountText, subjectText } from './findings.ts'
import { modeRights, nameLimit } from './node.ts'
import { hasNodes } from './verdict.ts'

const remainderLimits = { unknowns: 300, notAudited: 500, clusters: 300, inputErrors: 50 }

/** The rows that fit, and a sentence for the others. */
export interface Rows<Row> {
  rows: Row[]
  leftOut: string | null
}

export interface RemainderView {
  unknowns: Rows<{
    rule: string
    cluster: string
    subject: string
    nodeCount: string
    reason: string
  }>
  notAudited: Rows<{ cluster: string; node: string; reason: string }>
  outcomes: Rows<{
    name: string
    pass: string
    fail: string
    unknown: string
    notApplicable: string
    error: string
  }>
  quietRules: string[]
  quietRulesCount: string
  run: { what: string; value: string }[]
  inputErrors: Rows<string>
}

export function remainderView(
  { document, nodes }: Pick<AuditReport, 'document' | 'nodes'>,
  language: Language,
): RemainderView {
  const { words: all, line, count } = language
  const words = all.remainder
  const { run, clusters, findings, waived, unknowns, notAudited } = document
  const spoken = new Set([...findings, ...waived, ...unknowns].map(({ rule }) => rule))
  // If nothing was read, no rule ran and none passed.
  const hasPassed = clusters.some(({ outcomes }) => outcomes.pass > 0)
  const quiet = hasPassed ? run.rules.filter(rule => !spoken.has(rule)) : []
  return {
    unknowns: rowsOf(
      unknowns,
      remainderLimits.unknowns,
      ({ rule, cluster, subject, nodes, reason }) => ({
        rule: line(rule, 80),
        cluster: line(cluster, nameLimit),
        subject: subjectText(subject, language),
        nodeCount: nodeCountText(nodes, language),
        reason: line(reason, 400),
      }),
      language,
    ),
    notAudited: rowsOf(
      notAudited,
      remainderLimits.notAudited,
      ({ cluster, node, reason }) => ({
        cluster: line(cluster, nameLimit),
        node:
          node === null
            ? words[hasNodes(clusters, cluster) ? 'clusterItself' : 'wholeCluster']
            : line(node, nameLimit),
        reason: line(reason, 600),
      }),
      language,
    ),
    outcomes: rowsOf(
      clusters,
      remainderLimits.clusters,
      ({ name, outcomes: { pass, fail, unknown, notApplicable, error } }) => ({
        name: line(name, nameLimit),
        pass: count(pass),
        fail: count(fail),
        unknown: count(unknown),
        notApplicable: count(notApplicable),
        error: count(error),
      }),
      language,
    ),
    quietRules: quiet.map(rule => line(rule, 80)),
    quietRulesCount: hasPassed
      ? words.quietRules(quiet.length, run.rules.length)
      : words.noRulePassed,
    run: [
      { what: words.snapshotTaken, value: language.utc(run.takenAt) },
      { what: words.source, value: run.source === 'live' ? words.live : words.saved },
      ...(nodes.length === 0
        ? []
        : [{ what: words.nodes, value: readText(nodes, clusters, language) }]),
      { what: words.account, value: line(run.account ?? all.unknown, 60) },
      { what: words.region, value: line(run.region ?? all.unknown, 60) },
      { what: 'highwater', value: line(run.version, 60) },
      { what: words.rules, value: all.list(run.rules.map(rule => line(rule, 80))) },
    ],
    inputErrors: rowsOf(
      run.inputErrors,
      remainderLimits.inputErrors,
      error => line(error, 400),
      language,
    ),
  }
}

/**
 * `12 nodes requested through the API server (mode proxy, which needs list nodes, list pods, get
 * nodes/proxy): 10 read, 2 partly read`.
 */
function readText(
  nodes: AuditReport['nodes'],
  clusters: AuditReport['document']['clusters'],
  { words: all }: Language,
): string {
  const readings = clusters.flatMap(({ readings = [] }) => readings)
  const rightsOf = (mode: ReadMode) =>
    readings.find(reading => reading.mode === mode)?.rights.join(', ') ?? all.all(modeRights[mode])
  return all.clauses(
    readModes
      .map(mode => ({ mode, asked: nodes.filter(node => node.mode === mode) }))
      .filter(({ asked }) => asked.length > 0)
      .map(({ mode, asked }) =>
        all.remainder.asked(
          asked.length,
          all.ways[mode],
          mode,
          rightsOf(mode),
          answeredTexts(asked, all),
        ),
      ),
  )
}

function answeredTexts(asked: AuditReport['nodes'], words: Language['words']): string[] {
  const states = ['read', 'partlyRead', 'notRead'] as const
  return states
    .map(state => ({ state, count: asked.filter(({ coverage }) => coverage === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => words.remainder.answered(count, words.coverage[state]))
}

function rowsOf<Item, Row>(
  items: Item[],
  limit: number,
  row: (item: Item) => Row,
  { words }: Language,
): Rows<Row> {
  return {
    rows: items.slice(0, limit).map(row),
    leftOut: items.length > limit ? words.remainder.leftOut(items.length - limit) : null,
  }
}
