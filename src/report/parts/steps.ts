/** Words for causes and steps. */

import {
  type Amount,
  type Cause,
  type CommandEffect,
  type Finding,
  type HolderCause,
  mostNames,
  type Step,
  type StepAction,
  type StepCommand,
  type StepSite,
} from '#model/finding.ts'
import { splitHost } from '#model/input/image-reference.ts'
import { isOfCustomKind, parseWorkload, placedWorkload } from '#model/input/record.ts'
import type { HolderOwner, LedgerLine } from '#model/prediction.ts'
import type { Language } from '#report/languages/language.ts'
import { costText } from './garbage-words.ts'
import { firstAdvice } from './rule-words.ts'

const limits = {
  name: 120,
  place: 160,
  places: 500,
  commands: 6,
  sequence: 2,
  command: 1000,
  advice: 260,
  together: 2,
}

/** `Deployment shop/checkout`. */
export function ownerText(owner: HolderOwner, { words, line }: Language) {
  const { steps } = words
  const name = (text: string) => line(text, limits.name)
  if (owner.kind === 'image')
    return steps.image(name(splitHost(owner.reference).path), usersText(owner.workloads, name))
  if (owner.kind === 'process' && owner.pod === null)
    return steps.process(name(owner.command), owner.pid)
  const workload = 'workload' in owner ? owner.workload : null
  const pod = name(placedWorkload(owner.namespace ?? '', workload ?? `Pod ${owner.pod ?? ''}`))
  if (owner.kind === 'process') return steps.processIn(pod, name(owner.command))
  return owner.kind === 'container' ? steps.container(pod, name(owner.container)) : pod
}

/** `Deployment shop/web`, of `shop/Deployment web`; several by the first. Null: none. */
export function usersText(users: readonly string[], name: (text: string) => string): string | null {
  const [first] = users
  if (first === undefined) return null
  const slash = first.indexOf('/')
  const workload = placedWorkload(first.slice(0, slash), first.slice(slash + 1))
  return `${name(workload)}${users.length > 1 ? ', …' : ''}`
}

/** Share of the high bound below which the low one says nothing. */
const leastLow = 0.05

export const isVague = (low: number, high: number): boolean => low < leastLow * high

/** `12 GiB` if measured, else the bounds: `up to 12 GiB`, `5 GiB to 12 GiB`. */
export function boundsText(
  { lowBytes, highBytes }: Pick<LedgerLine, 'lowBytes' | 'highBytes'>,
  { words, bytes }: Language,
) {
  const [low, high] = [bytes(lowBytes), bytes(highBytes)]
  if (low === high) return high
  return isVague(lowBytes, highBytes) ? words.ledger.upTo(high) : words.ledger.between(low, high)
}

function amountText({ unit, low, high }: Amount, { words, bytes, count }: Language): string {
  const { steps, ledger } = words
  const shown = (value: number) => (unit === 'bytes' ? bytes(value) : steps.inodes(count(value)))
  if (high === null) return steps.atLeast(shown(low))
  if (isVague(low, high)) return steps.upTo(shown(high))
  return shown(low) === shown(high) ? shown(low) : ledger.between(shown(low), shown(high))
}

const ofKubelet: ReadonlySet<string> = new Set(['pod-volumes', 'memory-volumes'])

/** The kubelet names the folders of pods and containers by ids: their names say more. */
function placeText(
  { holder, owner, ownerCount, place }: HolderCause,
  language: Language,
): string[] {
  // Of several volumes of one owner among many, the largest alone says little.
  if (owner?.kind === 'container' || ownerCount !== undefined) return []
  if (owner?.kind === 'pod' && owner.volume !== null && ofKubelet.has(holder))
    return [language.words.steps.volume(language.line(owner.volume, limits.name))]
  if (place === null) return []
  const shown = shownPlace(place, language)
  return [holder === 'other-namespaces' ? language.words.steps.namespace(shown) : shown]
}

/** Ids of containers are known by their first letters. */
const shownPlace = (place: string, { line }: Language) =>
  line(place.replace(/\/([0-9a-f]{12})[0-9a-f]{52}(?=\/|$)/g, '/$1…'), limits.place)

/** `claim shop/data`. */
const claimsText = (claims: string[], { words, line }: Language) =>
  words.steps.claims(claims.length, words.all(claims.map(name => line(name, limits.name))))

const placesOf = (cause: HolderCause, language: Language): string[] => [
  ...(cause.owner ? [ownerText(cause.owner, language)] : []),
  ...(cause.owners === undefined ? [] : [language.words.steps.owners[cause.owners]]),
  ...(cause.claims ? [claimsText(cause.claims, language)] : []),
  ...placeText(cause, language),
]

/** `70.0 GiB leftover snapshots of containerd; neither garbage collection nor eviction frees it`. */
function holderText(cause: HolderCause, language: Language): string {
  const { steps, list } = language.words
  const { holder, freedBy, also } = cause
  const own = amountOfHolder(cause, language)
  const known = (text: string) => (freedBy === 'nothing' ? steps.nothingFrees(text) : text)
  if (!also) return known(own)
  if (also.freedBy !== freedBy) return steps.holdsAlso(known(own), holderText(also, language))
  const where = also.holder === holder ? placesOf(also, language) : []
  const other =
    where.length === 0
      ? amountOfHolder(also, language)
      : steps.labelledBy(amountText(also.amount, language), list(where))
  return known(steps.holdsAlso(own, other))
}

/** `70.0 GiB leftover snapshots of containerd`. */
function amountOfHolder(cause: HolderCause, language: Language): string {
  const { steps, ledger } = language.words
  const { holder, amount, largestBytes, volumeBytes, ownerCount = null } = cause
  const where = placesOf(cause, language)
  const isUnknown = holder === 'unread' || holder === 'not-explained'
  const [name, all] = [
    ledger.holders[holder],
    // No files are `of` what nobody knows.
    isUnknown && amount.unit === 'inodes'
      ? ledger.inodes(language.count(amount.low), amount.low)
      : amountText(amount, language),
  ]
  return largestBytes === undefined || where.length === 0
    ? steps.holds(name, all, where)
    : steps.holdsPart(name, all, where, language.bytes(volumeBytes ?? largestBytes), ownerCount)
}

/** Null: the title of the finding has it. */
export function causeText(cause: Cause, language: Language): string | null {
  const { words, bytes, line } = language
  const { steps } = words
  switch (cause.kind) {
    case 'holder':
      return holderText(cause, language)
    case 'device': {
      const { what, device, declaredBytes, peerBytes, actualBytes } = cause
      const [declared, actual] = [peerBytes ?? declaredBytes, actualBytes].map(size =>
        size === null ? null : bytes(size),
      )
      if (what === 'not-grown' && declared && actual) return steps.notGrown(declared, actual)
      if (what === 'own-partition' && declared && actual)
        return steps.ownPartition(declared, actual)
      if (what === 'below-peers' && declared && actual) return steps.belowPeers(actual, declared)
      if (what === 'unused-disk' && device !== null)
        return steps.unusedDisk(line(device, limits.name), actual ?? null)
      if (what === 'unmeasured' && device !== null)
        return steps.unmeasuredDisk(line(device, limits.name), actual ?? null)
      return steps.device(steps.devices[what], declared ?? null, actual ?? null)
    }
    case 'world':
      if (cause.event === 'memory-outside-pods')
        return steps.memoryOutsidePods(cause.subject, bytes(cause.bytes ?? 0))
      if (cause.event === 'image-missing' && cause.subject !== null)
        return steps.imageMissing(line(cause.subject, limits.name))
      return cause.event === 'pull-fails' && cause.subject !== null
        ? steps.pullsFail(line(cause.subject, limits.name))
        : null
    case 'unread':
      if (cause.reason === 'not-asked') return steps.notAsked(cause.source)
      return words.clauses([
        ...(cause.reason === 'unsupported' && cause.source !== 'node'
          ? [steps.notAsked(cause.source)]
          : []),
        // A snapshot of another release may have another reason.
        steps.unread[cause.reason] ?? steps.unread.other,
      ])
    case 'hand-edit':
      return cause.place === null ? null : steps.edited(line(cause.place, limits.place))
    default:
      return null
  }
}

const endings: ReadonlySet<StepAction['id']> = new Set([
  'delete-pod',
  'end-pod',
  'prune-dead-containers',
  'restart-pod',
])

/** `Pod shop/a, shop/b`, or `the pods of Deployment shop/a on these nodes`: not the whole workload. Null: another step, or no owner. */
function endedPods(
  { id, owner, pods }: StepAction,
  ownerOfAll: string | null,
  language: Language,
): string | null {
  if (!endings.has(id)) return null
  if (!owner || !('pod' in owner) || owner.pod === null)
    return ownerOfAll && language.words.steps.podsOf(ownerOfAll)
  const names = (pods ?? [owner.pod]).map(pod => `${owner.namespace ?? ''}/${pod}`)
  return `Pod ${shownPods(names, language)}`
}

/** `shop/a, shop/b, and others`. Null: none. */
const shownPods = (pods: string[], { words, line }: Language): string | null =>
  listedNames(
    pods.map(name => line(name, limits.name)),
    words,
  )

function listedNames(names: string[], { all, list, steps }: Language['words']): string | null {
  if (names.length === 0) return null
  return names.length > mostNames ? list([...names.slice(0, mostNames), steps.others]) : all(names)
}

function neededText(bytes: number, mostBytes: number | undefined, language: Language): string {
  const text = amountText({ unit: 'bytes', low: bytes, high: mostBytes ?? bytes }, language)
  return text === language.bytes(bytes) ? text : language.words.steps.byNode(text)
}

/** Those of all nodes. Null: there are none, or some have none. */
function namesOf(
  { each = [], ...action }: StepAction,
  textOf: (one: StepSite) => string | undefined,
  language: Language,
): string | null {
  const texts = new Set((each.length > 0 ? each : [action]).map(textOf))
  const names = [...texts].flatMap(text => text ?? [])
  return names.length === texts.size ? listedNames(names, language.words) : null
}

type SitePart = (site: StepSite) => StepSite
const siteParts: readonly SitePart[] = [
  ({ owner }) => ({ owner }),
  ({ source }) => ({ source }),
  ({ place }) => ({ place }),
  ({ bytes, usdPerMonth, most }) => ({ bytes, usdPerMonth, most }),
]

/** @param settings text of the fields to set; null: none */
function stepText(
  { each = [], ...action }: StepAction,
  finding: Finding | null,
  settings: string | null,
  language: Language,
): string {
  const textAt = (site: StepSite) => actionText({ ...action, ...site }, finding, settings, language)
  const [first = {}, ...others] = each
  const compared = others.slice(0, mostNames)
  // What differs and stands in the text.
  const varied = siteParts.filter(part => {
    const own = JSON.stringify(part(first))
    const other = compared.find(site => JSON.stringify(part(site)) !== own)
    return other !== undefined && textAt({ ...first, ...part(other) }) !== textAt(first)
  })
  if (varied.length < 2) return actionText({ ...action, each }, finding, settings, language)
  const { clauses, steps } = language.words
  const shown = compared
    .slice(0, mostNames - 1)
    .map(site => siteText(Object.assign({}, ...varied.map(part => part(site))), language))
  const left = others.length - shown.length
  return clauses([textAt(first), ...shown, ...(left > 0 ? [steps.others] : [])])
}

/** `EC2NodeClass a, /dev/xvda: 40.0 GiB (about 1.60 USD a month)`. */
function siteText({ owner, source, place, ...amount }: StepSite, language: Language): string {
  const { words, line } = language
  const where = words.list([
    ...(owner ? [ownerText(owner, language)] : []),
    ...(source === undefined ? [] : [line(source, limits.name)]),
    ...(place === undefined ? [] : [line(place, limits.place)]),
  ])
  const { bytes, usdPerMonth, most } = amount
  if (bytes === undefined) return where
  const needed = neededText(bytes, most?.bytes, language)
  if (usdPerMonth === undefined) return words.said(where, needed)
  const price = costText(usdPerMonth, language, most?.usdPerMonth)
  return words.said(where, words.steps.labelledBy(needed, price))
}

function actionText(
  action: StepAction,
  finding: Finding | null,
  settings: string | null,
  language: Language,
): string {
  const { id, bytes, usdPerMonth, most, variant, message, lost, mounts, hasMoreMounts, folders } =
    action
  const { list, steps } = language.words
  const owner = namesOf(action, one => one.owner && ownerText(one.owner, language), language)
  const source = namesOf(
    action,
    one => one.source && language.line(one.source, limits.name),
    language,
  )
  const places = namesOf(action, one => one.place && shownPlace(one.place, language), language)
  const named = folders ? list([...folders.slice(0, 1), steps.others]) : places
  const files = id === 'look-on-node' || id === 'larger-disk' ? action.unit : undefined
  const more =
    usdPerMonth === undefined
      ? (variant ?? message ?? files ?? (action.above ?? action.limit)?.toString())
      : costText(usdPerMonth, language, most?.usdPerMonth)
  if (id === 'drain' && lost)
    return steps.drain(shownPods(lost.pods, language), shownPods(lost.data, language))
  if (id === 'set-fields' && settings !== null)
    return bytes === undefined && action.isShort !== true
      ? steps.setIn(settings, named)
      : steps.roomFirst(settings, bytes === undefined ? null : language.bytes(bytes))
  if (id === 'advice' || id === 'clean-objects' || id === 'set-fields')
    return finding ? language.line(firstAdvice(finding, language), limits.advice) : ''
  const text = language.words.steps.actions[id](
    endedPods(action, owner, language) ?? owner ?? source,
    named === null ? null : language.line(named, limits.places),
    bytes === undefined ? null : neededText(bytes, most?.bytes, language),
    more === undefined || more === '' ? null : language.line(more, limits.advice),
  )
  const workload = action.owner && 'workload' in action.owner ? action.owner.workload : null
  if (ofTemplate.has(id) && workload !== null) {
    const { kind } = parseWorkload(workload)
    if (kind === 'Job') return steps.ofJob(text)
    if (isOfCustomKind(workload)) return steps.ofOperator(text, language.line(kind, limits.name))
  }
  if (mounts) {
    const named = hasMoreMounts ? [...mounts, '…'] : mounts
    return steps.writtenBy(text, language.line(list(named), limits.places))
  }
  if (isLookedAtFirst(action)) return steps.lookedAtFirst(owner, text)
  return action.isUnsure ? steps.measuredFirst(text) : text
}

/** What the deletion ends is looked at before: that command stands first, and alone. */
const isLookedAtFirst = ({ id, inside }: StepAction) =>
  inside !== undefined && (id === 'delete-pod' || id === 'end-pod')

/** Steps that change the pod template. */
const ofTemplate: ReadonlySet<StepAction['id']> = new Set([
  'move-to-volume',
  'set-ephemeral-storage',
  'set-memory',
  'set-volume-limit',
])

/** It gives room on the node at once. Other steps change what comes later. */
const isImmediate = ({ kind, action: { id, rollsOut, variant } }: Step, index: number) =>
  kind === 'free' ||
  rollsOut === true ||
  id === 'list-deletions' ||
  id === 'replace-failed-disk' ||
  id === 'replace-node' ||
  (id === 'restart-kubelet' && variant === 'idle' && index === 0) ||
  id === 'reboot' ||
  (kind === 'read-more' && index === 0)

/** What helps at once comes first. A node that is drained before its class has the larger disk comes back with the old one. */
export function immediateFirst<One extends Step>(steps: readonly One[]): One[] {
  const now = steps.filter(isImmediate)
  const ordered = [...now, ...steps.filter(step => !now.includes(step))]
  const isRolledOut = ({ action }: Step) => action.rollsOut === true
  return [...ordered.filter(isRolledOut), ...ordered.filter(step => !isRolledOut(step))]
}

/** The first step that helps at once and the first that lasts; if all are of one kind, the first two. */
function shownSteps(steps: readonly Step[]): { isTimed: boolean; shown: Step[] } {
  const ordered = immediateFirst(steps)
  const now = steps.filter(isImmediate).length
  const lasting = ordered[now]
  const isOrder = ordered[0]?.kind === 'read-more' && now > 1
  return now > 0 && lasting && !isOrder
    ? { isTimed: true, shown: [ordered[0]!, lasting] }
    : { isTimed: false, shown: ordered.slice(0, limits.together) }
}

/** Steps of which only the text is shown. */
export const withoutCommands = (steps: readonly Step[]) =>
  steps.map(step => ({ ...step, commands: [] }))

/** For lines that name a cause, which has the prices. */
export const withoutPrices = <Found extends { steps: readonly Step[] }>(found: Found) => ({
  ...found,
  steps: found.steps.map(({ action: { usdPerMonth: _, each, ...action }, ...step }) => ({
    ...step,
    action: { ...action, ...(each && { each: each.map(({ usdPerMonth: __, ...site }) => site) }) },
  })),
})

/** The first steps as one text. */
export function stepsText(
  steps: readonly Step[],
  finding: Finding | null,
  settings: string | null,
  language: Language,
  commands: 'with commands' | 'without commands' = 'with commands',
) {
  const leading = withCommands(steps)
  const { isTimed, shown } = shownSteps(steps)
  const texts = shown.map(step => {
    const text = stepText(step.action, finding, settings, language)
    const isSaid = commands === 'with commands' || !changesNothing([step])
    return step === leading && isSaid ? withEffect(text, step, language) : text
  })
  return joinedSteps(texts, isTimed, language)
}

const joinedSteps = (
  [first = '', second]: string[],
  isTimed: boolean,
  { words }: Language,
): string =>
  second === undefined ? first : words.steps[isTimed ? 'nowThen' : 'inOrder'](first, second)

/** `images in use 7.0 GiB (largest in pods: Deployment shop/web 2.5 GiB)`. */
export const withNote = (
  { text, note }: { text: string; note: string },
  { words }: Pick<Language, 'words'>,
) => (note === '' ? text : words.steps.labelledBy(text, note))

/** What to do, for the verdict: a line each for what helps at once and for what lasts. Each step has what it disturbs. */
export function stepLines(
  steps: readonly Step[],
  finding: Finding | null,
  settings: string | null,
  language: Language,
): { key: string; text: string; note: string }[] {
  const { picture, clauses } = language.words
  const { isTimed, shown } = shownSteps(steps)
  if (shown.length === 0) return []
  const lines = withoutPrices({ steps: shown }).steps.map((step, index) => ({
    key: index === 0 ? picture.now : picture.then,
    text: stepText(step.action, finding, settings, language),
    note: clauses(disturbance(step, language)),
  }))
  if (isTimed) return lines
  const [{ text, note }, second] = lines as [(typeof lines)[0], ...typeof lines]
  if (!second) return [{ key: picture.step, text, note }]
  const texts = lines.map(line => withNote(line, language))
  return [{ key: picture.step, text: joinedSteps(texts, false, language), note: '' }]
}

const saidByText: ReadonlySet<string> = new Set([
  'end-pod',
  'read-again',
  'restart-agent',
  'restart-daemon',
  'restart-pod',
  'restart-process',
])

/** No controller starts the pod again. */
const isBarePod = (owner: HolderOwner | undefined) =>
  owner !== undefined && 'workload' in owner && owner.workload === null

/** Empty: the text of the step says it, or it is not known. */
function disturbance({ kind, disturbs, action }: Step, { words: { steps } }: Language) {
  if (disturbs === 'pods' && isBarePod(action.owner)) return []
  if (saidByText.has(action.id) || (disturbs === 'nothing' && kind === 'set')) return []
  return [kind === 'read-more' ? steps.effect('reads', 0, 0) : steps.disturbs[disturbs]]
}

/** The first of the shown steps with commands. */
const withCommands = (steps: readonly Step[]): Step | undefined =>
  shownSteps(steps).shown.find(({ commands }) => commands.length > 0)

const ofNodes: ReadonlySet<CommandEffect> = new Set(['restarts', 'replaces'])

/** The step, with what its commands do as they stand. */
function withEffect(text: string, step: Step, language: Language): string {
  const { steps: words } = language.words
  const effect = effectText([step], language)
  if (effect === null) return text
  const reading = readingText(step, words)
  // The verdict says what the step itself disturbs.
  const note = reading === null || step.disturbs === 'nothing' ? [] : disturbance(step, language)
  const noted = withNote({ text, note: note.join() }, language)
  return words.labelled(noted, reading ?? effect)
}

/** The step changes something, and its command only looks. Null: both do the same. */
function readingText(step: Step, words: Language['words']['steps']): string | null {
  if (!leadingCommands([step]).every(({ effect }) => effect === 'reads')) return null
  if (showsPods(step)) return words.showsPods
  return step.kind === 'read-more' ? null : words.showsState
}

/** The command shows folders, or storage classes. */
const ofFolders: ReadonlySet<string> = new Set([
  'clean-with-owner',
  'expand-claim',
  'look-in-volume',
  'move-into-volume',
])

/** The command shows the pods whose owner has to act. */
const showsPods = ({ kind, action: { id, inside } }: Step) =>
  kind === 'ask-owner' && !inside && !ofFolders.has(id)

const changesNothing = (steps: readonly Step[]): boolean =>
  leadingCommands(steps).every(({ effect }) => effect === 'reads' || effect === 'plans')

/** What the leading commands do: `replaces 1 node`. Null: there are none. */
export function effectText(steps: readonly Step[], { words }: Language): string | null {
  const commands = leadingCommands(steps)
  const last = commands.find(({ effect }) => ofNodes.has(effect)) ?? commands.at(-1)
  return last ? words.steps.effect(last.effect, last.nodes ?? 0, last.pods ?? 0) : null
}

/** The commands that have to run together: drain, reboot and uncordon one node. Other commands are for other places. */
export function leadingCommands(steps: readonly Step[]): StepCommand[] {
  const first = withCommands(steps)
  if (!first) return []
  const { action, commands } = first
  if (isLookedAtFirst(action)) return commands.slice(0, 1)
  const last = commands.findIndex(({ effect }) => ofNodes.has(effect))
  // A restarted node gets pods again when it is uncordoned.
  const end = action.id === 'reboot' && last >= 0 ? last + 2 : last + 1
  return commands.slice(0, Math.min(end, limits.sequence) || 1)
}

/** `1 of 3 commands`; `command for 1 of 6 nodes`, if each node needs one. Null: the shown commands are all of the first step. */
export function oneOfText(
  steps: readonly Step[],
  nodeCount: number,
  { words }: Language,
): string | null {
  const first = withCommands(steps)
  const count = first?.commands.length ?? 0
  const shown = leadingCommands(steps)
  if (nodeCount > 1 && shown.some(({ nodes }) => nodes === 1)) return words.steps.oneNode(nodeCount)
  return count > shown.length ? words.steps.oneOf(count) : null
}

/** The step whose command stands alone: a shown one, or one that only reads. */
export const firstStep = (steps: readonly Step[]): Step | undefined =>
  withCommands(steps) ??
  steps.find(({ commands }) => commands.length > 0 && commands.every(one => one.effect === 'reads'))

/** Commands with what they do; a command for each cluster and group. */
export const commandsView = (steps: readonly Step[], language: Language) =>
  steps
    .flatMap(step => step.commands.map(command => commandView(command, step, language)))
    .slice(0, limits.commands)

/** A drain says which pods and data it ends for good: its step may stand elsewhere. */
function commandView(
  { command, effect, nodes = 0, pods = 0 }: StepCommand,
  { action }: Step,
  language: Language,
) {
  const text = language.words.steps.effect(effect, nodes, pods)
  const note = action.id === 'drain' ? stepText(action, null, null, language) : ''
  return {
    command: language.block(command, limits.command),
    effect: withNote({ text, note }, language),
  }
}
