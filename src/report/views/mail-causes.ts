/** Causes in a mail: the worst three with their step, the next in one line each, the rest counted. */
import type { FoundCause } from '#report/causes.ts'
import type { Language } from '#report/languages/language.ts'
import type { TitleOf } from '#report/rule-words.ts'
import type { Fold } from '#report/text.ts'
import { type CauseView, causeView, moreCauses } from './causes.ts'
import type { MailChanges } from './mail-changes.ts'
import { severityMark } from './mail-palette.ts'

const shown = { cards: 3, lines: 4, commands: [2, 1, 0] }

interface MailWords {
  fold: Fold
  titleOf: TitleOf
  language: Language
}

/** Null without findings. */
export function mailCausesView(causes: FoundCause[], changes: MailChanges, words: MailWords) {
  if (causes.length === 0) return null
  const { fold, titleOf, language } = words
  const listed = causes.slice(0, shown.cards + shown.lines)
  const views = listed.map((cause, index) => causeView(cause, index, { titleOf, language }))
  const cards = listed.map((cause, index) => mailCard(cause, views[index]!, index, changes, words))
  const short = views.slice(shown.cards).map(({ shortWhere }) => shortWhere)
  const rest = causes.slice(shown.cards + shown.lines)
  return {
    cards: cards.slice(0, shown.cards),
    lines: cards
      .slice(shown.cards, shown.cards + shown.lines)
      .map((card, index) => lineOf(card, fold(short[index]!, 160))),
    leftOut: rest.length === 0 ? null : language.words.causes.inReport(moreCauses(rest, language)),
  }
}

function lineOf(
  { severity, tone, glyph, severityWord, label, title, ownTitle }: ReturnType<typeof mailCard>,
  where: string,
) {
  return { severity, tone, glyph, severityWord, label, title, ownTitle, where }
}

function mailCard(
  cause: FoundCause,
  view: CauseView,
  index: number,
  changes: MailChanges,
  { fold, language }: MailWords,
) {
  const commands = view.commands.slice(0, shown.commands[index] ?? 0)
  return {
    ...severityMark(cause.severity),
    severityWord: view.severityWord,
    label: labelOf(cause, changes, language),
    title: fold(view.title, 160),
    ownTitle: view.ownTitle === null ? null : fold(view.ownTitle, 160),
    statement: view.statement === null ? null : fold(view.statement, 160),
    where: fold(view.where, 160),
    step: fold(view.step, 240),
    ends: view.ends,
    // Half a command does something else.
    commands: commands.filter(command => fold(command, 400) === command),
  }
}

/** What is new about its worst finding that changed. */
function labelOf(
  { findings }: FoundCause,
  { listed, since }: MailChanges,
  { words }: Language,
): string | null {
  if (since === null) return null
  const ids = new Set(findings.map(({ id }) => id))
  const kind = listed.find(({ finding, kind }) => ids.has(finding.id) && kind !== 'unchanged')?.kind
  return kind == null ? null : words.changes.labels[kind]
}
