/** Notices of remediation: its runs of the last week, and the objects that remediation refused. */

import type { WaiverNotice } from '#model/finding/finding.ts'
import type { ReportedPlan } from '#model/plan/plan.ts'
import type { AuditReport, RemediationNotices, ReportedRun } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { Fold } from '#report/text.ts'

/* The plan made with an audit: how much it changes, and the command that approves the plan. */

/** Null: no plan was requested. */
export function planView(
  plan: ReportedPlan | null,
  { words: { plan: words }, ...language }: Language,
  fold: Fold = language.fold,
) {
  if (plan === null) return null
  if (plan.state === 'failed') return { text: words.failed(fold(plan.why, 600)), approval: null }
  const { nodes, waves, never, refused, unchanged, digest, command } = plan
  const beside = words.beside(never, refused, unchanged)
  if (nodes === 0) return { text: words.nothing(beside), approval: null }
  return {
    text: words.made(nodes, waves, beside),
    approval: { digest, command: fold(command, 600) },
  }
}

/** Null: there is nothing to show. @param limit of runs, and of refused objects */
export function noticesView(
  notices: RemediationNotices | undefined,
  language: Language,
  fold: Fold = language.fold,
  limit = Number.POSITIVE_INFINITY,
) {
  const { runs = [], refused = [] } = notices ?? {}
  if (runs.length === 0 && refused.length === 0) return null
  const more = Math.max(runs.length - limit, 0) + Math.max(refused.length - limit, 0)
  return {
    runs: runs.slice(0, limit).map(run => runView(run, language, fold)),
    refused: refused.slice(0, limit).map(text => fold(text, 600)),
    leftOut: more === 0 ? null : language.words.nodeChanges.leftOut(more),
  }
}

function runView(
  { run, state, planned, changed, failed, rolledBack, ...noted }: ReportedRun,
  { words: { nodeChanges: words, list }, utc }: Language,
  fold: Fold,
) {
  const { approvedBy, startedAt, endedAt, place } = noted
  return {
    title: words.run(run, words.states[state]),
    counts: words.nodes(changed, planned, failed, rolledBack),
    approval: words.approved(fold(list(approvedBy), 400)),
    when: endedAt === null ? words.since(utc(startedAt)) : words.when(utc(startedAt), utc(endedAt)),
    place: fold(place, 400),
  }
}

/** Policy notices for the user: waivers that need attention, and findings without an owner. */
const shownPlaces = 3

export function policyNotices(
  { document: { waiverNotices = [] }, ownerless = [] }: AuditReport,
  language: Language,
): string[] {
  const places = new Set(
    ownerless.map(({ cluster, subject }) => language.line(`${cluster}/${subject.name}`, 100)),
  )
  const shown = [...places].slice(0, shownPlaces)
  return [
    ...waiverNotices.map(notice => waiverNoticeText(notice, language)),
    ...(ownerless.length === 0
      ? []
      : [
          language.words.waived.ownerless(ownerless.length, [
            ...shown,
            ...(places.size > shown.length ? ['…'] : []),
          ]),
        ]),
  ]
}

function waiverNoticeText(notice: WaiverNotice, language: Language) {
  const matched = Object.entries(notice.match).map(([key, pattern]) => `${key} ${pattern}`)
  return language.words.waived.notices[notice.state](
    language.line([notice.rule, ...matched].join(', '), 300),
    language.line(notice.until, 40),
  )
}
