/** The end of the page: undecided checks, what was not audited, and how everything was read. */

import { byText } from '#base/text/text-order.ts'
import type { UnknownOutcome } from '#model/finding/finding.ts'
import { type ReadMode, readModes } from '#model/input/read-mode.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { modeRights, nameLimit } from '#report/parts/node.ts'
import { hasNodes } from '#report/parts/verdict.ts'

const remainderLimits = { unknowns: 100, notAudited: 500, inputErrors: 50 }

export function remainderView({ document, nodes }: AuditReport, language: Language) {
  const { words: all, line } = language
  const words = all.remainder
  const { run, clusters, unknowns, notAudited } = document
  const byModeBoth = unknowns.filter(({ endedBy }) => endedBy === 'mode-both').length
  return {
    unknowns: {
      lead: byModeBoth === 0 ? null : words.modeBothFirst(byModeBoth, unknowns.length),
      ...rowsOf(
        unknownGroups(unknowns),
        remainderLimits.unknowns,
        group => unknownGroup(group, language),
        language,
      ),
    },
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
    run: [
      { what: words.snapshotTaken, value: language.utc(run.takenAt) },
      { what: words.source, value: run.source === 'live' ? words.live : words.saved },
      ...(nodes.length === 0
        ? []
        : [{ what: words.nodes, value: readText(nodes, clusters, language) }]),
      { what: words.account, value: line(run.account ?? all.unknown, 60) },
      { what: words.region, value: line(run.region ?? all.unknown, 60) },
      { what: 'highwater', value: line(run.version, 60) },
      { what: words.rules, value: language.count(run.rules.length) },
    ],
    inputErrors: rowsOf(
      run.inputErrors,
      remainderLimits.inputErrors,
      error => line(error, 400),
      language,
    ),
  }
}

/** Undecided checks by reason; the reason of most checks comes first. */
const unknownGroups = (unknowns: UnknownOutcome[]) =>
  [...Map.groupBy(unknowns, ({ reason }) => reason).values()].toSorted(
    (a, b) => b.length - a.length || byText(a[0]!.reason, b[0]!.reason),
  )

function unknownGroup(group: UnknownOutcome[], language: Language) {
  const { words, line, count } = language
  const clusters = new Set(group.map(({ cluster }) => cluster))
  const rules = new Set(group.map(({ rule }) => rule))
  const ended = group.filter(({ endedBy }) => endedBy === 'mode-both').length
  return {
    checks: count(group.length),
    reason: line(group[0]!.reason, 400),
    where: words.remainder.checksOf(rules.size, clusters.size),
    ends:
      ended === 0
        ? ''
        : words.remainder.modeBoth(ended, ended === group.length ? null : group.length),
  }
}

/**
 * `12 nodes requested through the API server (mode proxy, which needs list nodes, list pods, get
 * nodes/proxy): 10 read, 2 partly read`. Then the nodes with an incomplete list of images.
 */
function readText(
  nodes: AuditReport['nodes'],
  clusters: AuditReport['document']['clusters'],
  { words: all, line }: Language,
) {
  const readings = clusters.flatMap(({ readings = [] }) => readings)
  const rightsOf = (mode: ReadMode) =>
    readings.find(reading => reading.mode === mode)?.rights.join(', ') ?? all.all(modeRights[mode])
  const withoutInsights = clusters.flatMap(({ coverage }) => coverage.insightsUnread ?? [])
  const [unread] = withoutInsights
  const cut = clusters.reduce((sum, { coverage }) => sum + (coverage.cutImageLists ?? 0), 0)
  return all.clauses([
    ...readModes
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
    ...(cut > 0 ? [all.remainder.cutImageLists(cut)] : []),
    ...(unread === undefined
      ? []
      : [all.remainder.insightsUnread(withoutInsights.length, line(unread, 400))]),
  ])
}

function answeredTexts(asked: AuditReport['nodes'], words: Language['words']) {
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
) {
  return {
    rows: items.slice(0, limit).map(row),
    leftOut: items.length > limit ? words.remainder.leftOut(items.length - limit) : null,
  }
}
