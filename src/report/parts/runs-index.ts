/** The list of a bucket's runs, newest first, with one plot of their trend. */
import { dayMs } from '#base/units.ts'
import { type Severity, severities } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { causesAndOutlook } from './causes.ts'
import { worstFirst } from './findings.ts'
import { GaugedNode } from './node.ts'
import { sparkline } from './sparkline.ts'
import { verdictView } from './verdict.ts'

/** One run, as `latest/runs.json` lists it. */
export interface ListedRun {
  runId: string
  /** RFC 3339. */
  at: string
  verdict: string
  severity: Severity | 'none'
  /** Number of critical and high findings. */
  severe: number
  /** Used percent of the disk that is nearest to eviction on the fullest node; null: unknown. */
  fullestPercent: number | null
}

export function listedRun(runId: string, report: AuditReport, language: Language): ListedRun {
  const { findings, run } = report.document
  const { causes, outlook } = causesAndOutlook(report, language)
  const { headline } = verdictView(report, { outlook, causeCount: causes.length, language })
  const used = report.nodes.flatMap(node =>
    new GaugedNode(node, report, language).gauges.flatMap(({ filesystem, kind, usedPercent }) =>
      filesystem !== null && kind === 'disk' && usedPercent !== null ? [usedPercent] : [],
    ),
  )
  return {
    runId,
    at: run.takenAt,
    verdict: headline,
    severity: findings.toSorted(worstFirst)[0]?.severity ?? 'none',
    severe: findings.filter(({ severity }) => severities.indexOf(severity) <= 1).length,
    fullestPercent: used.reduce<number | null>((most, one) => Math.max(most ?? 0, one), null),
  }
}

/** @param runs newest first */
export function runsIndexView(runs: readonly ListedRun[], language: Language) {
  const { words, line, count, percent } = language
  const points = runs.filter(({ at }) => Number.isFinite(Date.parse(at))).toReversed()
  const days = points.map(({ at }) => Date.parse(at) / dayMs)
  const used = points.map(({ fullestPercent }) => fullestPercent)
  const plot = (title: string, values: (number | null)[], textOf: (value: number) => string) => {
    const known = values.filter(value => value !== null)
    const [least, most] = [textOf(Math.min(...known)), textOf(Math.max(...known))]
    return {
      title: words.runs.range(
        title,
        least === most ? least : words.ledger.between(least, most),
        points.length,
      ),
      ends: [0, points.length - 1].map(index => {
        const value = values[index] ?? null
        const at = language.utc(points[index]?.at ?? '')
        return words.said(at, value === null ? words.unknown : textOf(value))
      }),
      spark: sparkline(days, { values }, title, days[0] ?? 0),
    }
  }
  return {
    tag: language.tag,
    words,
    rows: runs.map(run => ({
      href: `runs/${encodeURIComponent(run.runId)}/report.html`,
      at: language.utc(run.at),
      verdict: line(run.verdict, 300),
      severity: run.severity,
      severe: count(run.severe),
      fullest: run.fullestPercent === null ? words.unknown : percent(run.fullestPercent),
    })),
    plots:
      points.length < 3
        ? []
        : [
            plot(
              words.runs.columns.severe,
              points.map(({ severe }) => severe),
              count,
            ),
            ...(used.some(value => value !== null)
              ? [plot(words.runs.columns.fullest, used, percent)]
              : []),
          ],
  }
}

export type RunsIndexView = ReturnType<typeof runsIndexView>
