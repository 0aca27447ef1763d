/** Causes of the findings, worst first: what is wrong, where, and one step that ends it. */

import { nodeKey } from '#base/text.ts'
import {
  type Cause,
  type CauseGroup,
  type CauseSetting,
  type Finding,
  type Step,
  type StepAction,
  type WorldEvent,
  wholeFile,
} from '#model/finding.ts'
import {
  conditionOf,
  type Filesystems,
  fullestOf,
  type NodeCondition,
  type Signal,
  sisterSignal,
} from '#model/prediction.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { PageAnchors } from './anchors.ts'
import { isOpenBefore, shownTitle, subjectText, tallyTexts } from './findings.ts'
import { isClusterRead } from './fleet.ts'
import { holderNote } from './ledger.ts'
import { nameLimit } from './node.ts'
import { type CauseOf, type OutlookView, outlookView } from './outlook.ts'
import type { TitleOf } from './rule-words.ts'
import {
  causeText,
  commandsView,
  firstStep,
  immediateFirst,
  leadingCommands,
  oneOfText,
  ownerText,
  stepLines,
  stepsText,
  withNote,
  withoutCommands,
} from './steps.ts'

/* The questions about the node that is nearest to eviction: why, what holds its disk, what goes first, what to do now and then. */

/** The note is less important. Empty: nothing. */

export function answersOf(
  row: OutlookView['rows'][number],
  causes: readonly FoundCause[],
  language: Language,
) {
  const { picture: words, unknown, clauses } = language.words
  const ofFleet = causes[row.cause ?? -1]
  const found = ofFleet && causeOnNode(ofFleet, row)
  const reason = found === undefined ? null : reasonOf(found, language)
  const steps = found ? stepLinesOf(found, language) : stepLines(row.steps, null, null, language)
  const holder = words[holderKeys[row.condition ?? 'DiskPressure']]
  const [held = unknown, ...more] = row.fill
  return [
    ...(row.first === null ? [] : [{ key: words.leaves, ...row.first, isStep: false }]),
    { key: holder, text: held, note: clauses(more), isStep: false },
    ...(reason === null || reason === held
      ? []
      : [{ key: words.why, text: reason, note: '', isStep: false }]),
    ...steps.map(step => ({ ...step, isStep: true })),
  ]
}

const holderKeys = {
  DiskPressure: 'holder',
  MemoryPressure: 'holderOfMemory',
  PIDPressure: 'holderOfProcesses',
} as const

const limits = { settings: 2, others: 2, findings: 20, seen: 400, nodes: 8 }

/** A cause with its findings. */
export interface FoundCause extends Omit<CauseGroup, 'findings'> {
  /** Worst first. */
  findings: Finding[]
  /** Of other causes: each gives the size of a disk for its nodes. */
  sizes?: Finding[]
}

/** The causes of the document's findings. */
function foundCauses({ document }: AuditReport): FoundCause[] {
  const byId = new Map(document.findings.map(finding => [finding.id, finding]))
  const devices = document.findings.filter(
    ({ cause, steps }) =>
      cause.kind === 'device' &&
      (cause.declaredBytes ?? cause.peerBytes ?? null) !== null &&
      steps.some(({ action }) => action.id === 'larger-disk'),
  )
  return (document.causes ?? [])
    .map(cause => ({
      ...cause,
      findings: cause.findings.flatMap(id => byId.get(id) ?? []),
      sizes: devices.filter(({ id }) => !cause.findings.includes(id)),
    }))
    .filter(({ findings }) => findings.length > 0)
}

/** First day on which one of the findings was open. Null: the day of the run, or without a history. */
const firstDay = (findings: Finding[], takenAt: string): string | null =>
  findings
    .flatMap(finding => (isOpenBefore(finding, takenAt) ? finding.since : []))
    .toSorted()[0] ?? null

interface ShownCause {
  titleOf: TitleOf
  language: Language
}

const shownCauses = 10

const causeAnchor = (index: number) => `cause-${index + 1}`

export function causesView(
  causes: FoundCause[],
  on: ShownCause,
  anchorOf: PageAnchors['ofFinding'],
  report: AuditReport,
) {
  const isRead = report.document.clusters.some(isClusterRead)
  const heldLines = heldLinesOf(causes, report, on.language)
  const views = causes.map((cause, index) => ({
    ...causeDetails(cause, index, on, anchorOf),
    held: heldLines(cause),
    heldTitle: isOfDisk(cause) ? on.language.words.picture.holder : on.language.words.causes.beside,
    note:
      cause.cause.kind === 'holder'
        ? holderNote(cause.cause.holder, report.assumptions.holders, on.language)
        : null,
  }))
  const rest = causes.slice(shownCauses)
  return {
    count: on.language.count(causes.length),
    shown: views.slice(0, shownCauses),
    rest: views.slice(shownCauses),
    restTitle: rest.length === 0 ? null : moreCauses(rest, on.language),
    none: isRead ? on.language.words.causes.none : on.language.words.verdict.nothingRead,
  }
}

/** What holds the disk of each node of a critical or high cause, unless that is no disk of the node; of a node that was not read, how that is read. */
function heldLinesOf(causes: FoundCause[], { nodes }: AuditReport, language: Language) {
  const { words, line } = language
  const byName = new Map(nodes.map(node => [nodeKey(node.cluster, node.identity.name), node]))
  const gapOf = (cluster: string, name: string) => {
    const index = causes.findIndex(({ cause, findings }) =>
      cause.kind === 'unread' ? findings.some(one => isFindingOn(one, cluster, name)) : false,
    )
    return index < 0 ? null : language.count(index + 1)
  }
  return ({ severity, cause, findings }: FoundCause): string[] => {
    if (severity !== 'critical' && severity !== 'high') return []
    const places = new Map(
      findings
        .filter(one => one.severity === 'critical' || one.severity === 'high')
        .flatMap(({ cluster, nodes: { sample } }) => {
          const own = sample.map(name => [nodeKey(cluster, name), { cluster, name }] as const)
          // Nodes with room have the severity only beside those that are short of it.
          const short = own.filter(([key]) => !hasRoom(byName.get(key)))
          return short.length > 0 ? short : own
        }),
    )
    if (cause.kind === 'holder' && places.size === 1) return []
    if (cause.kind === 'world' && (cause.event === 'claim-full' || cause.event === 'image-missing'))
      return []
    const all = [...places]
      .filter(([key]) => canExplain(byName.get(key)))
      .map(([key, { cluster, name }]) => ({
        name: nameWithDiskUse(line(name, nameLimit), byName.get(key), language),
        held: heldOn(byName.get(key), language),
        gap: gapOf(cluster, name),
      }))
    const unread = Map.groupBy(
      // The statement of an unread cause says it.
      all.filter(({ held }) => held === null && cause.kind !== 'unread'),
      ({ gap }) => gap,
    )
    return [
      ...all.flatMap(({ name, held }) => (held === null ? [] : words.said(name, held))),
      ...[...unread].map(([gap, own]) =>
        words.said(
          own.length === 1 ? own[0]!.name : words.nodeCount(own.length),
          words.causes.notRead(gap),
        ),
      ),
    ].slice(0, limits.nodes)
  }
}

/** What no room on a disk of the node ends. */
const ofNoDisk: ReadonlySet<WorldEvent> = new Set<WorldEvent>([
  ...(['cgroup-v1', 'kernel-memory-cgroups', 'memory-outside-pods'] as const),
  ...(['processes-outside-pods', 'registry-rate-limit', 'registry-unreachable'] as const),
  ...(['version-skew', 'volume-fails'] as const),
])

const isOfDisk = ({ cause }: FoundCause) => cause.kind !== 'world' || !ofNoDisk.has(cause.event)

/** Share of a disk from which on what holds it is short of room. */
const fullShare = 0.7

function hasRoom(node: AuditedNode | undefined): boolean {
  const fullest = fullestOf(node?.details().ledger?.filesystems ?? [])
  return fullest !== undefined && fullest.usedBytes < fullShare * fullest.capacityBytes
}

/** The name, with the use of the fullest disk if that disk has room. */
function nameWithDiskUse(
  name: string,
  node: AuditedNode | undefined,
  { words, percent }: Language,
) {
  const fullest = fullestOf(node?.details().ledger?.filesystems ?? [])
  if (!fullest || !hasRoom(node)) return name
  const used = Math.round((100 * fullest.usedBytes) / fullest.capacityBytes)
  return words.causes.diskUsed(name, percent(used))
}

/** Whether what holds the node's disks was read, or can be. */
function canExplain(node: AuditedNode | undefined): boolean {
  const { ledger, held } = node?.details() ?? {}
  const fullest = fullestOf(ledger?.filesystems ?? [])
  const cause = fullest && held?.[fullest.filesystem]?.cause
  return cause?.kind !== 'unread' || cause.reason !== 'unsupported'
}

/** Of the fullest disk. Null: it was not read. */
function heldOn(node: AuditedNode | undefined, language: Language): string | null {
  const { ledger, held } = node?.details() ?? {}
  const fullest = fullestOf(ledger?.filesystems ?? [])
  const cause = fullest && held?.[fullest.filesystem]?.cause
  if (cause === undefined || cause.kind === 'unread') return null
  return causeText(cause, language)
}

export const causeLink = (index: number, { words, count }: Language) => ({
  anchor: causeAnchor(index),
  text: words.findings.cause(count(index + 1)),
})

/** The link from a finding to its cause, by the finding's id. */
export function causeLinks(causes: FoundCause[], language: Language) {
  const links = new Map(
    causes.flatMap(({ findings }, index) =>
      findings.map(({ id }) => [id, causeLink(index, language)] as const),
    ),
  )
  return (id: string) => links.get(id) ?? null
}

export function moreCauses(rest: FoundCause[], language: Language): string {
  const { causes, severityNames } = language.words
  const [severity, ...others] = new Set(rest.map(one => one.severity))
  const isOfOne = severity !== undefined && others.length === 0
  const tallied = isOfOne ? [severityNames[severity]] : tallyTexts(rest, language)
  return causes.more(rest.length, tallied)
}

export type CauseView = ReturnType<typeof causeView>

export function causeView(cause: FoundCause, index: number, { titleOf, language }: ShownCause) {
  const { words } = language
  return {
    anchor: causeAnchor(index),
    number: `${index + 1}.`,
    severity: cause.severity,
    severityWord: words.severities[cause.severity],
    ...shownTitle(titleOf(titleOfCause(cause)), language),
    statementLabel: words.causes[isAdvice(cause) ? 'advice' : 'cause'],
    statement: statementOnFirst(cause, language) ?? severeUser(cause, language),
    where: whereText(cause, language),
    shortWhere: shortWhere(cause, language),
    step: stepsText(cause.steps, cause.findings[0]!, settingsText(cause, language), language),
    ends:
      cause.findings.length > 1 && cause.steps.some(({ ends }) => ends !== 'nothing')
        ? words.causes.ends(cause.findings.length)
        : null,
    commands: commandsView(cause.steps, language),
    leading: leadingCommands(cause.steps).length,
    oneOf: oneOfText(cause.steps, cause.nodes.count, language),
  }
}

/** Of a critical or high cause that says nothing else, the pod with most of the memory. */
function severeUser(cause: FoundCause, language: Language): string | null {
  const { owner, bytes } = memoryUser(cause.steps)
  return /^(?:critical|high)$/.test(cause.severity) && owner !== undefined && bytes !== undefined
    ? `${language.words.causes.usesMemory(ownerText(owner, language), language.bytes(bytes))}.`
    : null
}

/** A setting that could be better, where nothing was seen that it does. */
const isAdvice = ({ cause, severity, findings: [worst] }: FoundCause) =>
  cause.kind === 'setting' && worst?.seen === undefined && !/^(?:critical|high)$/.test(severity)

/** The steps, for a place where no command is shown. */
export const stepsAlone = (cause: FoundCause, language: Language) =>
  stepsText(
    cause.steps,
    cause.findings[0]!,
    settingsText(cause, language),
    language,
    'without commands',
  )

/** The cause with steps and values of one of its nodes: sizes and settings of other nodes are left out. */
export function causeOnNode(
  found: FoundCause,
  { cluster, name }: { cluster: string; name: string },
): FoundCause {
  const findings = found.findings.filter(one => isFindingOn(one, cluster, name))
  const isResized = findings.some(({ steps }) =>
    steps.some(({ action }) => action.id === 'larger-disk'),
  )
  const others = isResized
    ? (found.sizes ?? []).filter(one => isFindingOn(one, cluster, name)).slice(0, 1)
    : []
  // A device gives the size: other findings know only what is full.
  const sized = [...findings.filter(one => isSameDevice(one.cause, found.cause)), ...others]
  const all = [...findings, ...others].flatMap(one =>
    sized.length === 0 || sized.includes(one)
      ? one.steps
      : one.steps.filter(({ action }) => action.id !== 'larger-disk'),
  )
  const ids = new Set(found.steps.map(({ action }) => action.id))
  const steps = [...ids].flatMap(id =>
    stepsOnNode(
      all.filter(({ action }) => action.id === id),
      found.cause,
      name,
    ),
  )
  const isAlone = found.findings.every(one => findings.includes(one) && one.nodes.count === 1)
  if (all.length === 0 || (isAlone && others.length === 0)) return found
  const subjects = new Set(findings.map(one => placeKey(one)))
  const settings = found.settings.flatMap(setting => {
    const values = setting.values.filter(one => one.subjects.some(of => subjects.has(placeKey(of))))
    return values.length === 0 ? [] : [{ ...setting, values }]
  })
  return { ...found, findings, steps, settings }
}

const isFindingOn = (finding: Finding, cluster: string, name: string) =>
  finding.cluster === cluster && finding.nodes.sample.includes(name)

const isSameDevice = (cause: Cause, other: Cause) =>
  cause.kind === 'device' && other.kind === 'device' && cause.what === other.what

/** The steps for this node. Of one owner or place, the step of other nodes holds for it too, without the pods of those. */
function stepsOnNode(alike: Step[], cause: Cause, name: string): Step[] {
  const own = alike.filter(({ action: { nodes } }) => nodes === undefined || nodes.includes(name))
  const [first] = alike
  const isOfOne = cause.kind === 'holder' && cause.owners === undefined
  if (own.length > 0 || first === undefined || !isOfOne)
    return [...new Map(own.map(step => [stepKey(step), step])).values()]
  const { id, owner, unit } = first.action
  const action = { id, ...(owner && { each: [{ owner }] }), ...(unit && { unit }) }
  return [{ ...first, action, commands: [] }]
}

/** Findings of one cause have the same step. */
const stepKey = ({ action: { owner, place, variant, unit } }: Step) =>
  JSON.stringify([owner, place, variant, unit])

const placeKey = ({ cluster, subject }: Pick<Finding, 'cluster' | 'subject'>): string =>
  JSON.stringify([cluster, subject.kind, subject.namespace, subject.name])

/** What to do: `set evictionHard.nodefs.available 30% → 10%`. */
export function stepLinesOf(found: FoundCause, language: Language) {
  const set = settingsText(found, language, 'current values too')
  return stepLines(found.steps, found.findings[0]!, set, language)
}

/** `evictionHard.nodefs.available is 30%: with the default, 10%, this node would not evict`, without the value if the step has it. Null: the cause is no setting, or the step says all. */
export function reasonOf(found: FoundCause, language: Language): string | null {
  const { cause, steps, settings, findings } = found
  if (cause.kind !== 'setting') return null
  const seen = findings[0]?.seen
  const isValueShown =
    steps.some(({ action }) => action.id === 'set-fields') && settings[0]?.now.length === 1
  // The step has the value: only what the value does on the node is left to say.
  if (isValueShown)
    return seen === undefined ? null : language.line(seen, limits.seen).replace(/\.$/, '')
  return statementOf(found, language)?.replace(/\.$/, '') ?? null
}

/** The worst cause with its place, if no shown node has it: a pod over its own limit, for example. A setting of low severity can wait for the list. */
export function firstCause(
  [first]: FoundCause[],
  rows: readonly { cause: number | null }[],
  on: ShownCause,
) {
  if (first === undefined || rows.some(({ cause }) => cause === 0)) return null
  const { language } = on
  const { said, clauses } = language.words
  const { title, statement, where } = causeView(first, 0, on)
  const set = settingsText(first, language)
  const isSevere = first.severity === 'critical' || first.severity === 'high'
  return {
    text: said(
      where,
      clauses([title, ...(statement === null ? [] : [statement.replace(/\.$/, '')])]),
    ),
    anchor: causeAnchor(0),
    steps: stepLines(isSevere ? first.steps : [], first.findings[0]!, set, language).map(
      ({ key, ...step }) => ({ key, text: withNote(step, language) }),
    ),
  }
}

/** The step with the number of commands, if one of several is shown: `… (1 of 3 commands)`. */
export const stepWithCount = ({ step, oneOf }: CauseView) =>
  oneOf === null ? step : `${step} (${oneOf})`

/** The worst finding's title, or its rule's title if that rule's findings have different titles. */
function titleOfCause({ findings }: FoundCause): Pick<Finding, 'rule' | 'title'> {
  const [worst] = findings
  const { rule, title, docs } = worst!
  const isOne = findings.every(finding => finding.rule !== rule || finding.title === title)
  return isOne ? { rule, title } : { rule, title: docs.title }
}

function causeDetails(
  cause: FoundCause,
  index: number,
  on: ShownCause,
  anchorOf: PageAnchors['ofFinding'],
) {
  const { language, titleOf } = on
  const { causes: words, of } = language.words
  const { findings } = cause
  const commandCount = cause.steps.reduce((sum, { commands }) => sum + commands.length, 0)
  const left = findings.length - limits.findings
  const view = causeView(cause, index, on)
  const commandsLeft = commandCount - view.commands.length
  const first = firstStep(cause.steps)
  return {
    ...view,
    // The command beside it says what it does.
    step: stepsAlone({ ...cause, steps: withoutCommands(cause.steps) }, language),
    about: words.details(findings.length, commandCount),
    command: commandsView(first === undefined ? [] : [first], language)[0] ?? null,
    oneOf: commandCount > 1 ? language.words.steps.oneOf(commandCount) : null,
    consequence: language.line(findings[0]!.consequence, 1200),
    findings: findings
      .slice(0, limits.findings)
      .map(finding => ({
        title: language.line(titleOf(finding).title, 240),
        where: of(
          subjectText(finding.subject, language),
          language.line(finding.cluster, nameLimit),
        ),
        anchor: anchorOf(finding.id),
      })),
    findingsLeftOut: left > 0 ? words.moreFindings(left) : null,
    commandsLeftOut: commandsLeft > 0 ? words.moreCommands(commandsLeft) : null,
  }
}

/** Amounts are of one node: of several, its name comes first. */
function statementOnFirst(cause: FoundCause, language: Language): string | null {
  const statement = statementOf(cause, language)
  const [name] = cause.findings[0]!.nodes.sample
  const hasAmounts = cause.cause.kind === 'holder' || cause.cause.kind === 'device'
  return statement !== null && hasAmounts && cause.nodes.count > 1 && name !== undefined
    ? language.words.causes.onNode(language.line(name, nameLimit), statement)
    : statement
}

/** `evictionHard.nodefs.available is 30%`. */
function statementOf(cause: FoundCause, language: Language): string | null {
  const stated = causeStatement(cause, language)
  const [worst] = cause.findings
  const others = cause.cause.kind === 'unread' ? cause.findings : []
  const seen = worst?.seen ?? others.find(one => one.seen !== undefined)?.seen
  if (seen === undefined) return stated
  const text = language.line(seen, limits.seen)
  if (stated === null || cause.cause.kind === 'world' || isOfFiles(cause)) return text
  // What is seen of a disk is a symptom: that its holder is unknown comes first.
  return cause.cause.kind === 'unread' && cause.cause.source === 'node'
    ? `${language.words.steps.labelledBy(text.replace(/\.$/, ''), stated)}.`
    : language.words.said(stated, text)
}

/** The running values, which a statement would name, are not those of the files. */
const isOfFiles = ({ cause }: FoundCause) =>
  cause.kind === 'setting' && cause.fields[0] === wholeFile

function causeStatement({ cause, settings }: FoundCause, language: Language): string | null {
  if (cause.kind !== 'setting') return causeText(cause, language)
  const { words, line } = language
  const { isDefault } = cause
  const [first] = settings
  if (first === undefined || (first.now.length === 0 && !first.path.startsWith('evictionHard.')))
    return null
  const now = first.now.length === 0 ? null : line(first.now.slice(0, 3).join(', '), 80)
  const statement = words.causes.setting(line(first.path, 120), now)
  return isDefault ? words.causes.byDefault(statement) : statement
}

/**
 * Where the cause is. Nodes that only share the setting or the folder are counted apart.
 *
 * @param first name of one of several nodes
 */
export function whereText(
  { cause, findings, nodes }: FoundCause,
  language: Language,
  first: string | null = null,
): string {
  const { words } = language
  const { count, ofRule = count } = nodes
  const own = findings.filter(({ rule }) => ofRule === count || rule === findings[0]!.rule)
  const place = causePlaceText({ findings: own }, ofRule, language)
  const named = first === null || ofRule < 2 ? place : words.causes.first(place, first)
  if (ofRule === count) return named
  const [worst] = findings
  const isMilder =
    cause.kind === 'holder' &&
    findings.every(one => one.rule === worst!.rule || one.severity !== worst!.severity)
  const shared = isMilder ? 'milder' : sharedKind(cause)
  return words.clauses([named, words.causes.sameOn(shared, count - ofRule)])
}

function sharedKind(cause: Cause) {
  if (cause.kind === 'setting' || cause.kind === 'device') return cause.kind
  return cause.kind === 'holder' && cause.place !== null ? 'folder' : 'cause'
}

/** One node by its name, several nodes by their number. Count 0: the findings are of objects, not of nodes. */
function causePlaceText(
  { findings }: Pick<FoundCause, 'findings'>,
  count: number,
  language: Language,
): string {
  const { words, line } = language
  const { cluster, subject, nodes } = findings[0]!
  const place = words.of(subjectText(subject, language), line(cluster, nameLimit))
  const [name] = nodes.sample
  if (count === 1 && name !== undefined)
    return subject.kind === 'Node' ? place : words.list([line(name, nameLimit), place])
  const clusters = [...new Set(findings.map(one => one.cluster))]
  const subjects = new Set(findings.map(placeKey)).size
  if (count === 0)
    return subjects === 1
      ? place
      : words.said(words.list(clusters.map(one => line(one, 80))), words.causes.objects(subjects))
  if (subjects === 1) return words.said(place, words.nodeCount(count))
  return words.causes.within(count, clusters.length)
}

function shortWhere(cause: FoundCause, language: Language): string {
  const { words, line } = language
  const { cluster, nodes, subject } = cause.findings[0]!
  const name = nodes.sample[0] ?? subject.name
  return (cause.nodes.ofRule ?? cause.nodes.count) === 1
    ? words.of(line(name, nameLimit), line(cluster, nameLimit))
    : whereText(cause, language)
}

/** Null: there are no fields to set. */
function settingsText(
  { cause, settings }: FoundCause,
  language: Language,
  values: 'new values' | 'current values too' = 'new values',
): string | null {
  if (settings.length === 0) return null
  const { words } = language
  const fields = cause.kind === 'setting' ? cause.fields : []
  const own = settings.filter(({ path }) =>
    fields.some(field => path === field || path.startsWith(`${field}.`)),
  )
  const shown = (own.length > 0 ? own : settings)
    .slice(0, limits.settings)
    .map(setting => settingText(setting, values, language))
  const more = settings.length - shown.length
  return words.causes.set([...shown, ...(more > 0 ? [words.causes.moreSettings(more)] : [])])
}

/** `imageGCHighThresholdPercent 80 (66 on Nodegroup general)`. */
function settingText(
  { path, now, values }: CauseSetting,
  which: 'new values' | 'current values too',
  language: Language,
): string {
  const { words, line } = language
  const { causes } = words
  const [first, ...others] = values
  const field = line(path, 120)
  const shown = (value: string) => line(value, 80)
  const isChange = which === 'current values too' && now.length === 1
  const value = `${isChange ? `${shown(now[0]!)} → ` : ''}${shown(first!.value)}`
  if (others.length === 0) return causes.value(field, value)
  return causes.valueBut(
    field,
    value,
    others.slice(0, limits.others).map(({ value, subjects }) =>
      subjects.length === 1
        ? causes.other(shown(value), subjectText(subjects[0]!.subject, language))
        : causes.others(
            shown(value),
            subjects.length,
            subjects.every(({ subject }) => subject.kind === 'Node'),
          ),
    ),
  )
}

/** The causes, and the nodes that break next, each with the index of its cause. */
export function causesAndOutlook(
  report: AuditReport,
  language: Language,
): { causes: FoundCause[]; outlook: OutlookView } {
  const causes = foundCauses(report)
  const indexOf = causeOfNodes(causes)
  const outlook = outlookView(report, language, indexOf)
  const nearestOf = (index: number) => outlook.rows.find(({ cause }) => cause === index)
  return {
    causes: causes.map((cause, index) => ({
      ...cause,
      findings: ofNearestFirst(cause.findings, nearestOf(index)),
      steps: immediateFirst(nearestFirst(cause, nearestOf(index))),
    })),
    outlook: {
      ...outlook,
      rows: outlook.rows.map(row => ({
        ...row,
        fill: filledByTexts(row, causes[row.cause ?? -1], language),
        basis: basisWithDay(row, causes[row.cause ?? -1], report, language),
      })),
    },
  }
}

/** The basis, and since which day a finding of the node's cause is in the report, if not only since this run: the node may have joined it later. */
function basisWithDay(
  row: OutlookView['rows'][number],
  found: FoundCause | undefined,
  { document: { run } }: AuditReport,
  { words }: Language,
): string {
  const day = found === undefined ? null : firstDay(causeOnNode(found, row).findings, run.takenAt)
  const since = day === null ? '' : words.next.inReportSince(day)
  return words.clauses([row.basis, since].filter(Boolean))
}

function filledByTexts(
  row: OutlookView['rows'][number],
  found: FoundCause | undefined,
  language: Language,
): string[] {
  const own = found && causeOnNode(found, row)
  const isOfMemory = row.condition === 'MemoryPressure'
  const user = isOfMemory
    ? ((own && userText(own, language)) ?? (row.memory && userOf(row.memory, language)) ?? null)
    : null
  const seen = row.condition === 'PIDPressure' ? own?.findings[0]?.seen : undefined
  const ofProcesses =
    seen === undefined ? null : language.line(seen.replace(/\.$/, ''), limits.seen)
  const held = heldText(found, row.node, language) ?? user ?? ofProcesses
  return held === null ? row.fill : [held]
}

const userOf = (held: Pick<FoundCause, 'steps' | 'cause'>, language: Language) =>
  userText(held, language) ?? causeText(held.cause, language)

/** The pod with most of the memory, of a cause that is its setting. Null: the cause is another one. */
function userText({ steps }: Pick<FoundCause, 'steps'>, language: Language): string | null {
  const { owner, bytes } = memoryUser(steps)
  return owner === undefined || bytes === undefined
    ? null
    : language.words.steps.holds(ownerText(owner, language), language.bytes(bytes), [])
}

const memoryUser = (steps: FoundCause['steps']): Partial<StepAction> =>
  steps.find(({ action }) => action.id === 'set-memory')?.action ?? {}

const smallerThanVolume: ReadonlySet<string> = new Set(['not-grown', 'own-partition'])

/** What holds the disk, with owner and place, from the cause that the node itself has. Null: it is of another kind. */
function heldText(
  found: FoundCause | undefined,
  node: AuditedNode,
  language: Language,
): string | null {
  const { cause, findings = [] } = found ?? {}
  const own = findings.filter(
    ({ cluster, nodes: { count, sample } }) =>
      count === 1 && cluster === node.cluster && sample[0] === node.identity.name,
  )
  // Where a filesystem was not grown to its volume, the holders are not the cause.
  if (cause?.kind === 'device' && smallerThanVolume.has(cause.what))
    return language.words.ledger.notGrown(
      language.bytes(cause.actualBytes),
      language.bytes(cause.declaredBytes),
    )
  const isOfMemory = cause?.kind === 'world' && cause.event === 'memory-outside-pods'
  const [first] = own.filter(one => one.cause.kind === cause?.kind)
  const isTooSmall = cause?.kind === 'device' && cause.what === 'too-small'
  return found && first && (cause?.kind === 'holder' || isOfMemory || isTooSmall)
    ? (statementOf({ ...found, cause: first.cause, findings: own }, language)?.replace(/\.$/, '') ??
        null)
    : null
}

/** Of findings that are alike, that of the nearest node comes first: its numbers stand beside its name. */
function ofNearestFirst(
  findings: Finding[],
  nearest: OutlookView['rows'][number] | undefined,
): Finding[] {
  const [worst] = findings
  const own = findings.find(
    one =>
      nearest !== undefined &&
      isFindingOn(one, nearest.cluster, nearest.name) &&
      one.rule === worst!.rule &&
      one.severity === worst!.severity &&
      (one.seen === undefined) === (worst!.seen === undefined),
  )
  return own === undefined ? findings : [own, ...findings.filter(one => one !== own)]
}

/** The commands for the node that is nearest to eviction come first. */
function nearestFirst(
  { findings, steps }: FoundCause,
  nearest: OutlookView['rows'][number] | undefined,
): FoundCause['steps'] {
  const own = new Set(
    findings
      .filter(
        ({ cluster, nodes }) => cluster === nearest?.cluster && nodes.sample.includes(nearest.name),
      )
      .flatMap(finding => finding.steps.flatMap(({ commands }) => commands))
      .map(({ command }) => command),
  )
  const isOwn = ({ command }: { command: string }) => Number(own.has(command))
  return steps.map(step => ({
    ...step,
    commands: step.commands.toSorted((a, b) => isOwn(b) - isOwn(a)),
  }))
}

/** Finds the index of the cause of a node's worst image GC or eviction finding that is about what the node runs out of first; null: none. */
function causeOfNodes(causes: FoundCause[]): CauseOf {
  const places = causes.map(({ findings }) =>
    findings.filter(
      ({ family, steps }) =>
        family === 'image-gc' ||
        family === 'eviction' ||
        steps.some(({ action }) => action.id === 'set-memory'),
    ),
  )
  return ({ cluster, identity: { name, group }, prediction: { filesystems } }, signal, held) => {
    const isOnNode = (finding: Finding) =>
      isFindingOn(finding, cluster, name) ||
      (finding.cluster === cluster &&
        finding.nodes.count > finding.nodes.sample.length &&
        finding.subject.kind === group.kind &&
        finding.subject.name === group.name)
    const index = places.findIndex(findings =>
      findings.some(
        finding =>
          isOnNode(finding) &&
          (signal === undefined || isAbout(finding.cause, signal, filesystems.layout)) &&
          endsFilling(finding.cause, held),
      ),
    )
    return index < 0 ? null : index
  }
}

/** Whether a cause is about what the signal observes: one of two disks, its inodes, memory or process ids. */
function isAbout(cause: Cause, signal: Signal, layout: Filesystems['layout']): boolean {
  const condition = conditionOf(signal)
  const isDisk = condition === 'DiskPressure'
  switch (cause.kind) {
    case 'setting': {
      const [field = ''] = cause.fields
      const [, watched] = /^eviction(?:Hard|Soft)\.(.+)$/.exec(field) ?? []
      if (watched === undefined)
        return isDisk ? !/memory|pid/i.test(field) : !field.startsWith('imageG')
      if (!isDisk) return conditionOf(watched as Signal) === condition
      return watched === signal || (layout === 'shared' && watched === sisterSignal(signal))
    }
    case 'holder':
      return cause.filesystem === 'memory'
        ? condition === 'MemoryPressure'
        : isDisk &&
            (cause.amount.unit === 'inodes') === signal.endsWith('.inodesFree') &&
            (layout === 'shared' || signal.startsWith(cause.filesystem))
    case 'device':
      return isDisk
    case 'world': {
      const own = conditionOfEvent[cause.event]
      return own === undefined || own === condition
    }
    default:
      return true
  }
}

const conditionOfEvent: Partial<Record<WorldEvent, NodeCondition>> = {
  'gc-fails': 'DiskPressure',
  growth: 'DiskPressure',
  'kernel-memory-cgroups': 'MemoryPressure',
  'memory-outside-pods': 'MemoryPressure',
  'processes-outside-pods': 'PIDPressure',
}

/** Whether the end of a cause gives room on a disk that something holds. Of a threshold, too: it decides what room is. */
function endsFilling(cause: Cause, held: Cause | undefined): boolean {
  if (held === undefined) return true
  const ofImages = held.kind === 'holder' && held.freedBy === 'image-gc'
  if (cause.kind === 'setting')
    return cause.fields[0]?.startsWith('imageG')
      ? ofImages
      : /^(?:eviction|systemR|resources\.)/.test(cause.fields[0] ?? '')
  if (cause.kind !== 'holder' || held.kind !== 'holder') return true
  // A volume over its own limit can be a small part of the disk.
  return 2 * (cause.amount.high ?? cause.amount.low) >= held.amount.low
}
