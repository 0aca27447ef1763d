/** Causes in a mail: the worst three as cards, the next in two lines, the rest counted. Each shown cause has its step and a command. */
import type { Language } from '#report/languages/language.ts'
import {
  type CauseView,
  causeView,
  type FoundCause,
  moreCauses,
  stepsAlone,
  stepWithCount,
} from '#report/parts/causes.ts'
import type { OutlookView } from '#report/parts/outlook.ts'
import type { TitleOf } from '#report/parts/rule-words.ts'
import { effectText, withoutCommands } from '#report/parts/steps.ts'
import type { Fold } from '#report/text.ts'
import type { MailChanges } from './changes.ts'
import { severityMark } from './palette.ts'

const shown = { cards: 3, lines: 1 }
const lineLimit = 160
const shownCauses = shown.cards + shown.lines
/** Number of nodes that the verdict names. */
export const nextShown = 3

interface MailWords {
  fold: Fold
  titleOf: TitleOf
  language: Language
}

/** Null: there are no findings. */
export function mailCausesView(
  causes: FoundCause[],
  rows: OutlookView['rows'],
  changes: MailChanges,
  words: MailWords,
) {
  if (causes.length === 0) return null
  const { fold, titleOf, language } = words
  const listed = causes.slice(0, shownCauses)
  const views = listed.map((cause, index) => causeView(cause, index, { titleOf, language }))
  const nearestName = (index: number) => rows.find(({ cause }) => cause === index)?.name ?? null
  const isOfVerdict = (index: number) =>
    rows.slice(0, nextShown).some(({ cause }) => cause === index)
  const cards = listed.map((cause, index) => ({
    ...mailCard(cause, views[index]!, changes, words),
    where: fold(whereOf(cause, views[index]!, nearestName(index), language), 200),
    number: views[index]!.number,
  }))
  const rest = causes.slice(shownCauses)
  return {
    cards: cards.slice(0, shown.cards),
    lines: cards
      .slice(shown.cards, shownCauses)
      .map(({ statement, ends, commands, ...card }, line) => {
        const index = shown.cards + line
        return {
          ...card,
          where: isOfVerdict(index) ? card.where : fold(views[index]!.shortWhere, 160),
          step: withRemarks(
            fold(lineStep(listed[index]!, language), lineLimit),
            [effectText(listed[index]!.steps, language), views[index]!.oneOf],
            language,
          ),
          commands,
        }
      }),
    leftOut: rest.length === 0 ? null : moreCauses(rest, language),
  }
}

/** The steps without prices and without what their commands do; the first alone if all are too long for a line. */
function lineStep(cause: FoundCause, language: Language): string {
  const steps = withoutCommands(cause.steps).map(
    ({ action: { usdPerMonth: _, ...action }, ...step }) => ({ ...step, action }),
  )
  const all = stepsAlone({ ...cause, steps }, language)
  return all.length <= lineLimit
    ? all
    : stepsAlone({ ...cause, steps: steps.slice(0, 1) }, language)
}

/** `… (replaces 1 node, 1 of 3 commands)`: what the shown command does, and that it is not the only one. */
function withRemarks(step: string, remarks: (string | null)[], { words }: Language) {
  const shown = remarks.flatMap(remark => remark ?? [])
  return shown.length === 0 ? step : words.steps.labelledBy(step, words.list(shown))
}

/** The templates write the full stop. */
const withoutStop = (text: string) => text.replace(/\.$/, '')

/** Where the cause is, with the node that is nearest to eviction. */
function whereOf(
  { nodes: { count }, findings }: FoundCause,
  { where }: CauseView,
  nearest: string | null,
  { words, line }: Language,
) {
  const name = nearest ?? findings[0]?.nodes.sample[0]
  return count < 2 || name === undefined ? where : words.causes.first(where, line(name, 80))
}

function mailCard(
  cause: FoundCause,
  view: CauseView,
  changes: MailChanges,
  { fold, language }: MailWords,
) {
  const rule = cause.findings[0]?.rule ?? ''
  const commands =
    view.leading > 0
      ? view.commands.slice(0, view.leading).map(({ command }) => command)
      : [`highwater explain ${rule}`]
  return {
    ...severityMark(cause.severity),
    severityWord: view.severityWord,
    label: labelOf(cause, changes, language),
    title: fold(view.title, 160),
    ownTitle: view.ownTitle === null ? null : fold(view.ownTitle, 160),
    statement: view.statement === null ? null : fold(withoutStop(view.statement), 240),
    step: withoutStop(fold(stepWithCount(view), 400)),
    ends: view.ends,
    // A command that would be cut is left out: half a command does something else.
    commands: commands.filter(command => fold(command, 400) === command),
  }
}

/** What is new about the cause's worst changed finding. Null: nothing, or no earlier run. */
function labelOf({ findings }: FoundCause, { listed, since }: MailChanges, { words }: Language) {
  if (since === null) return null
  const ids = new Set(findings.map(({ id }) => id))
  const kind = listed.find(({ finding, kind }) => ids.has(finding.id) && kind !== 'unchanged')?.kind
  return kind == null ? null : words.changes.labels[kind]
}
