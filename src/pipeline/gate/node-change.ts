/** What changed files would do to one node. */

import { isDeepStrictEqual } from 'node:util'
import {
  isRawObject,
  mapOf,
  mergePatch,
  type RawObject,
  textOfValue,
  valueAt,
} from '#base/raw-object.ts'
import { firstNames } from '#base/text.ts'
import { nodeClassMistakes } from '#facts/eks/karpenter.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { fieldOf } from '#facts/kubelet/fields.ts'
import { unknownFlagError } from '#facts/kubelet/minor-changes.ts'
import { declaredNode } from '#judge/drift/declared.ts'
import {
  type DeclaredNode,
  isExpression,
  isWrittenOut,
  writtenSettings,
} from '#judge/drift/drift.ts'
import type { DeclaredDevice } from '#judge/help/disk-size.ts'
import { shorten } from '#judge/text.ts'
import type { Finding } from '#model/finding.ts'
import type { GateInstead, GateLimit, GateProblemKind, GateSetting } from '#model/gate.ts'
import type { NodeIdentity, NodeInput } from '#model/input/record.ts'
import type { Refusal } from '#model/kubelet/refusal.ts'
import { isConfigurationField } from '#model/kubelet/settings.ts'
import type { NodePrediction } from '#model/prediction.ts'
import { withChanges } from '#replay/configuration/configuration-change.ts'
import {
  emptyRollout,
  presentRollout,
  type RolledOut,
  type Rollout,
  rollOut,
  type Starts,
} from './rollout.ts'
import {
  lostSettings,
  otherFlags,
  type PlacedSetting,
  placedSettings,
  removedPaths,
  settingPaths,
  unclearSettings,
  unknownFlags,
  withoutSettings,
} from './settings.ts'
import type { ChangedPart, Place } from './user-data-parts.ts'
import { type DiskChange, diskChange, misplacedVolumes } from './volumes.ts'

export interface NodeProblem extends Place {
  kind: GateProblemKind
  text: string
  /** Of a refusal: the fields that it is about. Absent: only that of `path`. */
  fields?: readonly string[]
  /** Absent: that of the setting. */
  line?: number
  /** Of a pair of fields: the line of the other one. */
  otherLine?: number
  most?: GateLimit[]
  /** A setting without effect on each node of this image. */
  isLostOnEachNode?: boolean
}

export interface NodeChange {
  /** Whether the kubelet would start with the change. False: its configuration may not be known. */
  isStarted: boolean
  /** As they run, or as the node's files give them if that was not read; after a refusal as the files write them. Null: one is not known. */
  fields: Record<'old' | 'now', RawObject> | null
  problems: NodeProblem[]
  /** The settings of the changed files, never empty. */
  settings: readonly PlacedSetting[]
  /** Fields that the files set, now or before. */
  paths: ReadonlySet<string>
  parts: readonly ChangedPart[]
  /** Null: the disk keeps its size. */
  disk: DiskChange | null
}

export interface Parts {
  head: readonly ChangedPart[]
  base: readonly ChangedPart[]
  hasBase: boolean
  /** Paths that an object of the snapshot sets, and that the changed object as a whole replaces. */
  declared: readonly string[]
  /** Paths of `spec.kubelet` that a patch removes from the class of the snapshot. Null: the snapshot does not have it. */
  removed: readonly string[] | null
  /** Volumes that the object of the snapshot declares, and that the changed object as a whole replaces. */
  volumes: readonly DeclaredDevice[]
  /** The settings that earlier nodes' refusals came from. Nodes of a group share them. */
  causes: Map<string, Place>
  isAppended: Rollout['isAppended']
  starts: Starts
}

/** An input that is null: the kubelet would not start, or its configuration is not known. The same object: the change leaves the node as it is. */
export function changeOf(
  input: NodeInput,
  parts: Parts,
): NodeChange & Record<'before' | 'after', NodeInput | null> {
  const { head, base, hasBase, causes, isAppended, starts } = parts
  const identity = nodeIdentity(input.node)
  const node = declaredNode({ identity, node: input.node })
  const image = withImage(identity, head)
  const earlier: Rollout = { parts: base, gone: pathsBefore(parts), isAppended, starts }
  const before = hasBase
    ? rollOut(input, withImage(image, base), earlier)
    : presentRollout(input, image)
  const rollout = rolloutOf(parts)
  const after = rollOut(input, image, rollout)
  const settings = placedSettings(head)
  const disk = diskChange(input, image, parts)
  const refusedFields = refusalsIn(head, input)
  const flags = unknownFlagsIn(head, node)
  const isRefused = ({ part, path }: Place) =>
    refusedFields.some(one => one.part === part && checkName(one.path) === checkName(path))
  const lostSettingsIn = (own: readonly ChangedPart[], { settings }: RolledOut) =>
    lostSettings(own, { ...withImage(node, own), isAppended }, settings)
  const changed = head.length > 0 ? head : base
  const started = flags.length + refusedFields.length > 0 ? null : after.input
  const now = started ? started.configuration?.fields : writtenFields(changed)
  const old = hasBase ? before.input?.configuration?.fields : fieldsNow(input)
  const isSame = disk === null && started !== null && isSameStart(before, after)
  return {
    before: before.input,
    after: isSame ? before.input : started && (disk?.apply(started) ?? started),
    isStarted: started !== null,
    disk,
    fields: old && now ? { old: { ...old }, now: { ...now } } : null,
    settings: settings.length > 0 ? settings : placedSettings(base),
    paths: new Set([...rollout.gone, ...settings.map(({ path }) => path)]),
    parts: changed,
    problems: [
      ...[
        ...newRefusals(head, base, input),
        // The kubelet never sees what the tool that reads the file refuses.
        ...refusals(after, before, openCauses(input, image, causes)).filter(
          place => !isRefused(place),
        ),
      ].map(problem => withOtherLine(blameChangedField(problem, base))),
      ...addedItems(flags, unknownFlagsIn(base, node), ({ path }) => path),
      // A kubelet that does not start applies no setting.
      ...addedItems(
        lostSettingsIn(head, after),
        lostSettingsIn(base, before),
        ({ part: { file }, path, why }) => [file, path, why],
      )
        .filter(place => !isRefused(place))
        .map(({ why, ...lost }) => withoutEffect({ ...lost, text: why })),
      ...addedItems(
        misplacedVolumes(head, image),
        misplacedVolumes(base, image),
        ({ text }) => text,
      ).map(withoutEffect),
      ...settingsLost(after, before, input.host !== null),
      ...addedItems(unclearSettings(head), unclearSettings(base), unclearKey).map(
        (setting): NodeProblem => ({ kind: 'unread', text: unclearText(setting), ...setting }),
      ),
      ...unjudged(parts, after, addedItems(settings, placedSettings(base), unclearKey)),
    ],
  }
}

/** The fields of a node as it runs may differ from what its files give. */
const isSameStart = (a: RolledOut, b: RolledOut) =>
  a.files === b.files &&
  isDeepStrictEqual(a.input?.configuration?.fields, b.input?.configuration?.fields)

const pathsBefore = ({ base, declared }: Parts) => [
  ...placedSettings(base).map(({ path }) => path),
  ...declared,
]
const rolloutOf = (parts: Parts): Rollout => ({
  parts: [...partsStanding(parts), ...parts.head],
  gone: [...pathsBefore(parts), ...removedPaths(parts.head), ...(parts.removed ?? [])],
  isAppended: parts.isAppended,
  starts: parts.starts,
})

/** What the files set before, where an expression has taken its place: that alone is no reason to expect another value. */
function partsStanding({ head, base }: Parts) {
  const unclear = new Set(unclearSettings(head).map(({ path }) => path))
  if (unclear.size === 0) return []
  return base.map(part =>
    withoutSettings(
      part,
      settingPaths(part).filter(path => !unclear.has(path)),
    ),
  )
}

/** The node after the change alone, as `changeOf` has it. Null: its kubelet would not start, or that is not known. */
export function startedWith(input: NodeInput, parts: Parts) {
  const image = withImage(nodeIdentity(input.node), parts.head)
  const { input: started } = rollOut(input, image, rolloutOf(parts))
  return started && (diskChange(input, image, parts)?.apply(started) ?? started)
}

/** Of the fields that a refusal names, one that the change sets. */
function blameChangedField(problem: NodeProblem, base: readonly ChangedPart[]) {
  const { part, path, fields = [] } = problem
  const isSameInBase = (field: string) =>
    base.some(({ config }) =>
      isDeepStrictEqual(valueAt(config, field), valueAt(part.config, field)),
    )
  if (path === null || !isSameInBase(path)) return problem
  const changed = Object.keys(part.config).find(
    field => fields.includes(field) && !isSameInBase(field),
  )
  return changed === undefined ? problem : { ...problem, path: changed }
}

/** Of two fields that a refusal compares, the line of the other one. */
function withOtherLine(problem: NodeProblem) {
  const { part, path, fields = [], kind } = problem
  if (kind !== 'refused' || path === null) return problem
  const others = Object.keys(part.config).filter(
    field => field !== fieldOf(path) && fields.includes(field),
  )
  const lines = new Set(others.map(field => part.lineOf(field)))
  lines.delete(part.lineOf(path))
  const [otherLine] = lines
  return otherLine === undefined ? problem : { ...problem, otherLine }
}

/** Those that the files did not have before the change. */
export function addedItems<One>(
  now: readonly One[],
  before: readonly One[],
  keyOf: (one: One) => unknown,
) {
  const known = new Set(before.map(one => JSON.stringify(keyOf(one))))
  return now.filter(one => !known.has(JSON.stringify(keyOf(one))))
}

const withoutEffect = ({ text, ...place }: Omit<NodeProblem, 'kind'>): NodeProblem => ({
  kind: 'no-effect',
  text: `${text}.`,
  ...place,
})

const unknownFlagsIn = (parts: readonly ChangedPart[], node: DeclaredNode) =>
  parts.flatMap(part =>
    unknownFlags([part], withImage(node, parts)).map(
      (flag): NodeProblem => ({
        kind: 'refused',
        text: unknownFlagError(flag),
        part,
        path: `--${flag}`,
      }),
    ),
  )

const unclearKey = ({ part: { file, config }, path }: PlacedSetting) => [
  file,
  path,
  valueAt(config, path) ?? null,
]

/** One problem, if the kubelet's start is unknown, or what a patch removes. @param changed settings that the change makes */
function unjudged(
  { head, removed }: Parts,
  { input, refusals: refused }: RolledOut,
  [changed]: readonly PlacedSetting[],
): NodeProblem[] {
  const remover = removed ? undefined : head.find(({ removesKubelet }) => removesKubelet)
  const part = remover ?? (!input && refused.length === 0 ? changed?.part : undefined)
  const text = remover
    ? 'Not judged: it removes spec.kubelet of a class that the snapshot does not have. Give the rendered object.'
    : 'Not judged: the configuration of these nodes was not read.'
  return part ? [{ kind: 'unread', text, part, path: null }] : []
}

/** What a script computes is known on a node only. */
function unclearText({ part: { by }, path }: PlacedSetting) {
  const isOfScript = by === 'script' || by === 'bootstrap'
  const more = isOfScript ? '' : ' Render the file first, with helm template or terraform plan.'
  return `${path} is not judged: its value is an expression.${more}`
}

/** With the image that the parts give the node. */
const withImage = <Image extends Pick<NodeIdentity, 'amiFamily'>>(
  image: Image,
  parts: readonly ChangedPart[],
) => {
  const given = parts.find(({ amiFamily }) => amiFamily !== undefined)?.amiFamily
  return given === undefined ? image : { ...image, amiFamily: given }
}

type CauseOf = (refusal: Refusal, rollout: Rollout) => Place | null

/** Each is tried with a start of the kubelet. */
const mostTried = 60

/** What was refused before the change for the same setting stays refused: that is not worse. */
function refusals(after: RolledOut, before: RolledOut, causeOf: CauseOf): NodeProblem[] {
  const known = new Set(
    before.refusals.map(one => causeOf(one, before.rollout)?.path ?? one.message),
  )
  return after.refusals.flatMap((one): NodeProblem[] => {
    const { fields, message: text } = one
    const place = causeOf(one, after.rollout)
    if (!place) return []
    const stays = known.has(place.path ?? text)
    return stays
      ? [{ kind: 'note', text: `Was refused before the change, and still is: ${text}`, ...place }]
      : [{ kind: 'refused', text, fields, ...place }]
  })
}

/** The setting without which the kubelet would not say so; path null: no single one. Null: no part is left. */
const openCauses =
  (input: NodeInput, image: NodeIdentity, causes: Parts['causes']): CauseOf =>
  ({ message, fields }, rollout) => {
    const { parts } = rollout
    const [first] = parts
    if (!first) return null
    const known = causes.get(message)
    if (known && parts.includes(known.part)) return known
    const refusalsWithout = ({ part, path }: PlacedSetting) => {
      const others = parts.map(each => (each === part ? withoutSettings(part, [path]) : each))
      return rollOut(input, image, { ...rollout, parts: others }).refusals
    }
    // Another refusal of the same fields does not end it, unless no setting ends it.
    let second: PlacedSetting | undefined
    const ending = [...placedSettings(parts), ...otherFlags(parts)]
      .slice(0, mostTried)
      .find(setting => {
        const left = refusalsWithout(setting)
        if (!left.some(other => other.message === message)) second ??= setting
        return !left.some(other => isDeepStrictEqual(other.fields, fields))
      })
    const place = ending ?? second ?? { part: first, path: null }
    causes.set(message, place)
    return place
  }

/** Refusals that the base does not have, by the tools that read the parts. @param node null: the parts reach none */
export const newRefusals = (
  parts: readonly ChangedPart[],
  base: readonly ChangedPart[],
  node: NodeInput | null,
): NodeProblem[] =>
  addedItems(refusalsIn(parts, node), refusalsIn(base, node), ({ part: { file }, path, text }) => [
    file,
    path,
    text,
  ])

/** Of the tools that read the parts: eksctl, Bottlerocket, the API server. */
const refusalsIn = (parts: readonly ChangedPart[], node: NodeInput | null) =>
  parts.flatMap(part => [
    ...part.refusals.map(
      ({ field, ...refusal }): NodeProblem => ({ part, path: field, ...refusal }),
    ),
    ...(part.by === 'karpenter' ? nodeClassRefusals(part, node) : []),
  ])

function nodeClassRefusals(part: ChangedPart, node: NodeInput | null): NodeProblem[] {
  const { config, kind, isWhole } = part
  // A part of an object keeps the other half of a pair.
  const { evictionSoft = {}, evictionSoftGracePeriod = {} } = node?.configuration?.fields ?? {}
  const kept = isWhole ? {} : { evictionSoft, evictionSoftGracePeriod }
  const place = kind === 'NodePool' ? 'spec.template.spec.kubelet' : 'spec.kubelet'
  return nodeClassMistakes(mergePatch(kept, config)).flatMap(
    ({ path, why, other }): NodeProblem[] => {
      const value = valueAt(config, path)
      const text = `The API server refuses ${place}: ${why}.`
      return value === undefined || isExpression(textOfValue(value))
        ? []
        : [{ kind: 'refused', part, path, text, ...(other && { fields: [fieldOf(path), other] }) }]
    },
  )
}

/** Fields that are checked against each other have one name. */
const checkName = (path: string | null) =>
  path?.replace(/(?:High|Low)ThresholdPercent|GracePeriod/, '') ?? null

const mostNamed = 8

/** One problem for all. @param areFilesKnown false: the kubelet's flags and drop-ins were not read */
function settingsLost(after: RolledOut, before: RolledOut, areFilesKnown: boolean): NodeProblem[] {
  const dropped = after.input ? after.dropped : []
  const lost = addedItems(dropped, before.dropped, ({ path }) => path)
  const [first] = lost
  if (!first) return []
  const names = [...new Set(lost.map(({ path }) => fieldOf(path)))]
  const unless = areFilesKnown ? '' : ', unless a flag or a drop-in sets them'
  const text = `It takes the place of the kubelet's whole file, which loses ${firstNames(names, mostNamed)}${unless}.`
  return [{ kind: 'settings-lost', part: first.part, path: null, text }]
}

/** Values of a field before and after. Null: one of them is unknown, or a map, or they are equal. A refused field has the value that the files write. */
export function valuesOf(change: NodeChange, path: string | null) {
  if (change.disk && path === change.disk.path) return change.disk.values
  const { fields } = change
  if (!fields || path === null) return null
  const [then, later] = [valueAt(fields.old, path), valueAt(fields.now, path)]
  if (isRawObject(then) || isRawObject(later)) return null
  const [before, after] = [textOf(then), textOf(later)]
  if (before === after || (!change.isStarted && after === null)) return null
  return { before: [before], after: [after] }
}

/** What changes of a field, of a map by its keys. */
export function changesOf(change: NodeChange, path: string): GateSetting[] {
  const { old = {}, now = {} } = change.fields ?? {}
  const keys = new Set([old, now].flatMap(fields => Object.keys(mapOf(valueAt(fields, path)))))
  const paths = keys.size === 0 ? [path] : [...keys].map(key => `${path}.${key}`)
  return paths.flatMap(field => {
    const values = valuesOf(change, field)
    return values ? [{ field, values }] : []
  })
}

const startedAsRead = (input: NodeInput) =>
  rollOut(input, nodeIdentity(input.node), emptyRollout()).input

const fieldsNow = (input: NodeInput) =>
  (input.configuration ?? startedAsRead(input)?.configuration)?.fields

/** Whether enough was read of the node to replay its kubelet's start. */
export const isReadable = (input: NodeInput) => startedAsRead(input) !== null

const writtenFields = (parts: readonly ChangedPart[]): RawObject =>
  Object.fromEntries(
    parts
      .flatMap(({ config }) => Object.entries(config))
      .filter(([field, value]) => isConfigurationField(field) && isWrittenOut(value)),
  )

const longestValue = 80

function textOf(value: unknown) {
  if (value === undefined || value === null) return null
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), longestValue)
}

/** What the kubelet would do at once, with the disks as they are, that it does not do now; and thresholds that are gone. */
export function startsAtOnce(
  { before, after }: Record<'before' | 'after', NodePrediction>,
  change: NodeChange,
): NodeProblem[] {
  const problems: NodeProblem[] = []
  const add = (kind: GateProblemKind, field: string, text: string) =>
    problems.push({ kind, text, ...nearestPlace(change, [field]) })
  const lost = lostThresholds(before, after)
  if (lost.length > 0) {
    const shown = lost.map(({ signal, value }) => `${signal} ${value}`).join(', ')
    const text = `The kubelet no longer evicts by ${shown}: the hard threshold is gone.`
    add('threshold-lost', `evictionHard.${lost[0]?.signal}`, text)
  }
  if (isEvicting(after) && !isEvicting(before)) {
    const [signal] = after.eviction?.actsOn ?? []
    const place = nearestPlace(change, [
      `evictionHard.${signal}`,
      ...(signal === 'allocatableMemory.available' ? memoryOfPods : []),
    ])
    if (place === change.disk) {
      const text = 'With as much on the disk as now, the kubelet evicts pods.'
      return [...problems, { kind: 'eviction', text, ...place }]
    }
    const isOfDisk = signal === undefined || /^(?:node|image|container)fs\./.test(signal)
    const text = `With ${isOfDisk ? 'the disks as they are' : 'what is in use now'}, the kubelet evicts pods at once.`
    problems.push({ kind: 'eviction', text, most: limitsOf(after), ...place })
  }
  if (after.imageGC?.triggered === true && before.imageGC?.triggered !== true)
    add(
      'image-gc',
      'imageGCHighThresholdPercent',
      'With the disks as they are, image GC starts at once.',
    )
  return problems
}

/** Settings that limit the memory of all pods. */
const memoryOfPods = [
  'evictionHard.memory.available',
  'kubeReserved.memory',
  'systemReserved.memory',
]

/** A threshold is met below its value, not at it. */
const limitsOf = ({ eviction }: NodePrediction): GateLimit[] =>
  (eviction?.thresholds ?? []).flatMap(({ signal, hard, origin }) => {
    const observed = eviction?.signals[signal]
    // The kubelet derives the threshold of containerfs from another one.
    const isWritten = hard && origin?.source !== 'kubelet'
    if (!observed || !isWritten || !eviction?.actsOn.includes(signal)) return []
    const { availableBytes: available, capacityBytes } = observed
    const percent = Math.floor((available * 100) / capacityBytes)
    return [{ signal, available, percent: percent > 0 ? percent : null }]
  })

const isEvicting = ({ eviction }: NodePrediction) =>
  eviction !== null && eviction.actsOn.length > 0 && eviction.victims?.length !== 0

function lostThresholds(before: NodePrediction, after: NodePrediction) {
  if (before.eviction?.error !== null || after.eviction?.error !== null) return []
  const kept = new Set(
    after.eviction.thresholds.filter(({ hard }) => hard).map(({ signal }) => signal),
  )
  return before.eviction.thresholds.filter(
    ({ signal, hard, origin }) => hard && !kept.has(signal) && origin?.source !== 'kubelet',
  )
}

const mostFields = 4

/** What the fix of a finding sets otherwise than the change does. Empty: it does not set the field, or more than a reader copies. */
export function settingsInstead(
  { fix }: Finding,
  change: NodeChange,
  path: string | null,
): GateInstead[] {
  const now = change.fields?.now ?? {}
  const wanted = Object.entries(writtenSettings(fix.config)).flatMap(([field, value]) => {
    const text = textOf(value)
    return text === null || text === textOf(valueAt(now, field)) ? [] : [[field, text] as const]
  })
  const isWhole = wanted.length <= mostFields && wanted.some(([field]) => field === path)
  return isWhole ? [{ settings: Object.fromEntries(wanted), nodes: 1 }] : []
}

/** Each is tried with a replay. */
const mostBlamed = 20

const namesIn = ({ evidence, fix, cause }: Finding) =>
  [
    ...evidence.map(({ what }) => what),
    ...Object.keys(fix.config),
    ...(cause.kind === 'setting' ? cause.fields : []),
  ].flatMap(text => text.split(' '))

/** The changed setting that a finding comes from. Null: it may be one of several, which trials decide. */
export function placeOfFinding(finding: Finding, change: NodeChange): Place | null {
  const named = namesIn(finding)
  const changed = changedPaths(change, named)
  const { disk, isStarted } = change
  if (disk && changed.length === 0) return disk
  const isTried = isStarted && (disk !== null || changed.length > 1)
  return isTried ? null : nearestSetting(change, named)
}

interface Trials {
  /** As it was read. */
  input: NodeInput
  after: NodeInput | null
  /** Whether the node has the finding, or no longer has it, as after the change. */
  isAsAfter(node: NodeInput): boolean
}

/** The changed setting without which the finding would not come, or would not end. Else the one that the finding names; else the first one. */
export function placeByTrials(
  finding: Finding,
  change: NodeChange,
  { input, after, isAsAfter }: Trials,
): Place {
  const named = namesIn(finding)
  const { disk } = change
  if (!after) return nearestSetting(change, named)
  if (disk && !isAsAfter(disk.undo(after, input))) return disk
  const changed = changedPaths(change, named)
  if (changed.length < 2 || !isAsAfter(after)) return nearestSetting(change, named)
  const blamed = changed
    .slice(0, mostBlamed)
    .find(path => !isAsAfter(withOldValue(change, after, path)))
  return nearestSetting(change, blamed === undefined ? named : [blamed])
}

/** Those that the finding names come first. */
function changedPaths(change: NodeChange, named: readonly string[]) {
  const paths = change.settings.map(({ path }) => path)
  const isNamed = (path: string) => named.includes(path) || named.includes(fieldOf(path))
  return [...new Set([...paths.filter(isNamed), ...paths])].filter(
    path => valuesOf(change, path) !== null,
  )
}

/** The node after the change, but for one setting. */
function withOldValue(change: NodeChange, after: NodeInput, path: string) {
  const field = fieldOf(path)
  const keys = path === field ? [field] : [field, path.slice(field.length + 1)]
  return withChanges(after, [{ path: keys, value: valueAt(change.fields?.old ?? {}, path) }])
}

/** The setting, or the size of the disk if the setting stays. */
const nearestPlace = (change: NodeChange, [path = '', ...more]: readonly string[]): Place =>
  change.disk && !valuesOf(change, path) ? change.disk : nearestSetting(change, [path, ...more])

/** @param texts paths, or texts with paths as words */
function nearestSetting(change: NodeChange, texts: readonly string[]): Place {
  const { settings, parts } = change
  const names = texts.flatMap(text => text.split(' '))
  const fields = new Set(names.map(fieldOf))
  const named =
    settings.find(({ path }) => names.includes(path)) ??
    settings.find(({ path }) => fields.has(fieldOf(path)))
  // The last of equal settings acts.
  const near = settings.findLast(({ path }) => path === named?.path)
  // A map, a whole file or the end of an earlier one changes what no file sets.
  const changed = [...new Set([...names, ...fields])]
    .flatMap(name => changesOf(change, name))
    .map(({ field }) => field)
  if (near) {
    const own = names.includes(near.path) ? near.path : fieldOf(near.path)
    return { part: near.part, path: changed.find(path => fieldOf(path) === own) ?? own }
  }
  const [part] = parts
  if (!part) throw new Error('a changed node has no changed file')
  const whole = parts.find(({ by }) => by === 'file') ?? part
  if (changed[0] !== undefined) return { part: whole, path: changed[0] }
  if (change.disk) return change.disk
  return settings[0] ?? { part, path: null }
}
