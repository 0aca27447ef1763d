/** Words for causes and steps. */
import type { Amount, Cause, HolderCause, Step, StepCommand } from '#model/cause.ts'
import type { HolderOwner } from '#model/disk-ledger.ts'
import type { Finding } from '#model/finding.ts'
import type { Language } from '#report/languages/language.ts'
import { firstAdvice } from '#report/rule-words.ts'
import { costText } from './garbage-words.ts'

const limits = {
  name: 120,
  place: 160,
  commands: 6,
  sequence: 3,
  command: 1000,
  advice: 260,
  together: 2,
}

/** `Deployment shop/checkout`. */
function ownerText(owner: HolderOwner, { words, line }: Language): string {
  const { steps } = words
  const name = (text: string) => line(text, limits.name)
  if (owner.kind === 'image') return steps.image(name(owner.reference))
  if (owner.kind === 'process' && owner.pod === null)
    return steps.process(name(owner.command), owner.pid)
  const workload = 'workload' in owner ? owner.workload : null
  const [kind, own] = workload === null ? ['Pod', owner.pod ?? ''] : split(workload)
  const pod = name(`${kind} ${owner.namespace ?? ''}/${own}`)
  return owner.kind === 'container' ? steps.container(pod, name(owner.container)) : pod
}

const split = (workload: string): [kind: string, name: string] => {
  const [kind = '', ...rest] = workload.split(' ')
  return [kind, rest.join(' ')]
}

function amountText({ unit, low, high }: Amount, { words, bytes, count }: Language): string {
  const { steps, ledger } = words
  const shown = (value: number) => (unit === 'bytes' ? bytes(value) : steps.inodes(count(value)))
  if (high === null) return steps.atLeast(shown(low))
  if (low === 0 && high > 0) return steps.upTo(shown(high))
  return shown(low) === shown(high) ? shown(low) : ledger.between(shown(low), shown(high))
}

/** `70.0 GiB leftover snapshots of containerd; neither garbage collection nor eviction frees it`. */
function holderText(cause: HolderCause, language: Language): string {
  const { steps, ledger } = language.words
  const { holder, freedBy, amount, owner, place } = cause
  const where = [
    ...(owner === null ? [] : [ownerText(owner, language)]),
    ...(place === null ? [] : [language.line(place, limits.place)]),
  ]
  const text = steps.holds(ledger.holders[holder], amountText(amount, language), where)
  return freedBy === 'nothing' ? steps.nothingFrees(text) : text
}

/** Null: the title of the finding has it. */
export function causeText(cause: Cause, language: Language): string | null {
  const { words, bytes, line } = language
  const { steps } = words
  switch (cause.kind) {
    case 'holder':
      return holderText(cause, language)
    case 'device': {
      const { what, declaredBytes, actualBytes } = cause
      const [declared, actual] = [declaredBytes, actualBytes].map(size =>
        size === null ? null : bytes(size),
      )
      return steps.device(steps.devices[what], declared ?? null, actual ?? null)
    }
    case 'world':
      return cause.event === 'pull-fails' && cause.subject !== null
        ? steps.pullsFail(line(cause.subject, limits.name))
        : null
    case 'unread':
      return steps.unread[cause.reason]
    case 'hand-edit':
      return cause.place === null ? null : steps.edited(line(cause.place, limits.place))
    default:
      return null
  }
}

/** @param settings text of the fields to set; null: none */
function stepText(
  { action }: Step,
  finding: Pick<Finding, 'rule' | 'docs'>,
  settings: string | null,
  language: Language,
): string {
  const { id, owner, place, bytes, usdPerMonth, message } = action
  const more = usdPerMonth === undefined ? message : costText(usdPerMonth, language)
  if (id === 'set-fields' && settings !== null) return settings
  if (id === 'advice' || id === 'clean-objects' || id === 'set-fields')
    return language.line(firstAdvice(finding, language), limits.advice)
  return language.words.steps.actions[id](
    owner === undefined ? null : ownerText(owner, language),
    place === undefined ? null : language.line(place, limits.place),
    bytes === undefined ? null : language.bytes(bytes),
    more === undefined ? undefined : language.line(more, limits.advice),
  )
}

/** The first steps as one text. */
export function stepsText(
  steps: readonly Step[],
  finding: Pick<Finding, 'rule' | 'docs'>,
  settings: string | null,
  language: Language,
): string {
  const [first, second] = steps
    .slice(0, limits.together)
    .map(step => stepText(step, finding, settings, language))
  return second === undefined ? (first ?? '') : language.words.steps.inOrder(first!, second)
}

/** The commands that have to run together: cordon, drain and replace one node. Other commands are for other places. */
export function leadingCommands(steps: readonly Step[]): StepCommand[] {
  const first = steps.find(({ commands }) => commands.length > 0)
  if (first === undefined) return []
  const { kind, action, commands } = first
  const last = commands.findIndex(({ effect }) => effect === 'replaces' || effect === 'restarts')
  const isSequence = kind === 'replace' || action.id === 'drain'
  return commands.slice(0, Math.min(last + 1, limits.sequence) || (isSequence ? 2 : 1))
}

/** `1 of 3 commands`. Null: the leading commands are all of the first step. */
export function oneOfText(steps: readonly Step[], { words }: Language): string | null {
  const first = steps.find(({ commands }) => commands.length > 0)
  const count = first?.commands.length ?? 0
  return count > leadingCommands(steps).length ? words.steps.oneOf(count) : null
}

/** Commands with what they do; a command for each cluster and group. */
export const commandsView = (steps: readonly Step[], language: Language) =>
  steps
    .flatMap(({ commands }) => commands)
    .slice(0, limits.commands)
    .map(({ command, effect, nodes = 0 }) => ({
      command: language.block(command, limits.command),
      effect: language.words.steps.effect(effect, nodes),
    }))
