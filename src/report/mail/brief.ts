/**
 * A mail in a few lines, for messengers: verdict, next evictions, changes, worst causes, link to
 * the report.
 */
import type { MessageCard } from '#model/report.ts'
import type { MailView } from './view.ts'

const shownCauses = 5
const shownInputErrors = 3
const shownRuns = 3
const limit = 3000

const cardCauses = 3

export function messageCard({
  words: all,
  subject,
  verdict,
  causes,
  report,
}: MailView): MessageCard {
  const { brief: words } = all.mail
  const listed = [...(causes?.cards ?? []), ...(causes?.lines ?? [])]
  return {
    title: subject,
    lines: [
      ...nextLines(verdict, all),
      ...[verdict.change, verdict.gaps && words.gaps(verdict.gaps)].filter(Boolean).map(String),
    ],
    causes: listed
      .slice(0, cardCauses)
      .map(({ severityWord, label, title, where, step }) =>
        words.cause(severityWord, label?.toLowerCase() ?? null, title, where, step),
      ),
    link: report.link === null ? null : { text: all.report.open, url: report.link },
    open: report.open,
  }
}

const nextLines = ({ next }: MailView['verdict'], words: MailView['words']): string[] =>
  next.flatMap(({ state, name, where, basis, answers }) => [
    words.mail.brief.next(state, name, where),
    ...(basis === '' ? [] : [basis]),
    ...answers.map(({ key, text }) => words.said(key, text)),
  ])

/** Returns at most 3,000 characters: lines separated by \n, without markup. */
export function mailBrief({
  words: all,
  subject,
  audience,
  cutShort,
  verdict,
  causes,
  hidden,
  ended,
  notices,
  report,
}: MailView): string {
  const { brief: words } = all.mail
  const listed = [...(causes?.cards ?? []), ...(causes?.lines ?? [])]
  const more = listed.length > shownCauses || (causes?.leftOut ?? null) !== null
  const lines = [
    subject,
    audience,
    cutShort && words.cutShort(cutShort.title, cutShort.text),
    ...nextLines(verdict, all),
    verdict.change,
    ...listed
      .slice(0, shownCauses)
      .map(({ severityWord, label, title, where, step }) =>
        words.cause(severityWord, label?.toLowerCase() ?? null, title, where, step),
      ),
    more ? words.more : null,
    hidden &&
      all.said(
        hidden.title,
        all.clauses(
          hidden.list.map(({ severityWord, title, where }) =>
            words.hidden(severityWord, title, where),
          ),
        ),
      ),
    ended &&
      all.said(
        ended.title,
        all.clauses(ended.list.map(({ title, where, how }) => words.ended(title, where, how))),
      ),
    verdict.gaps && words.gaps(verdict.gaps),
    ...(notices?.runs ?? [])
      .slice(0, shownRuns)
      .map(({ title, counts, approval }) => all.said(title, `${counts} ${approval}`)),
    ...(notices?.refused ?? []).slice(0, shownInputErrors),
    ...verdict.inputErrors.slice(0, shownInputErrors),
    verdict.undelivered,
  ].filter(line => line !== null)
  const end = report.link === null ? (report.places[0] ?? '') : words.report(report.link)
  const room = limit - end.length - 2
  const text = lines.join('\n')
  return `${text.length > room ? `${text.slice(0, room).replace(/[\ud800-\udbff]$/, '')}…` : text}${end === '' ? '' : `\n${end}`}`
}
