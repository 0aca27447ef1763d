/**
 * Cuts records to what rules and replays read, in the API's own names. The shapes list the kept fields, so environment variables,
 * annotations and termination messages are dropped. Every kept text is redacted.
 */

import { longestMessage, redactionLimits } from '#base/limits.ts'
import type { RawObject } from '#base/raw-object.ts'
import { RedactionBudget, redact, redactTexts } from '#base/redaction/redact.ts'
import { hostShape, runtimeShape } from '#model/input/inspection.ts'
import {
  type ClusterRecord,
  eksClusterShape,
  insightShape,
  isReadMode,
  knownShape,
  type NodeRecord,
  nodegroupShape,
  type ObjectsRecord,
  type ReadError,
  ReadErrors,
  type ResourceName,
  type SnapshotRecord,
  summaryShape,
  type UnreadPart,
  volumeShape,
} from '#model/input/record.ts'
import { list, type Shape } from '#model/input/shape.ts'
import {
  withoutHostSecrets,
  withoutNodeClassSecrets,
  withoutSecretFields,
  withoutTemplateSecrets,
} from './secrets.ts'
import { keep, keeperOf, redactingKeeperOf } from './shape.ts'
import {
  isEvents,
  isNodeClass,
  isWhollyNamed,
  launchTemplateShape,
  nodeShape,
  objectShape,
  podShape,
} from './shapes.ts'

/**
 * The record as a snapshot contains it and as every later stage sees it; the same for a live fleet and a snapshot. Called once for each
 * record, where it comes in: in `read.ts`, and for a live fleet in the pipeline.
 */
export function prune<R extends SnapshotRecord>(record: R): R {
  return pruned(record) as R
}

function pruned(record: SnapshotRecord): SnapshotRecord {
  if (record.kind === 'Node') return completeNode(pruneParts<NodeRecord>(record))
  if (record.kind === 'Objects') return pruneObjects(record)
  const budget = budgetOf('objects')
  const kept = record.kind === 'Cluster' ? pruneCluster(record, budget) : record
  const clean = redactTexts(kept, '', budget.redactOnce) as SnapshotRecord
  return clean.kind === 'Cluster' && budget.hasLostFacts ? unreadCluster(clean) : clean
}

/** A cluster without its parts: some of their texts were removed, so that they would be wrong. */
const unreadCluster = ({ kind, cluster, errors = [] }: ClusterRecord): ClusterRecord => ({
  kind,
  cluster,
  eks: null,
  nodegroups: null,
  launchTemplates: null,
  insights: null,
  errors: [...errors, tooMuchText('cluster')],
})

const tooMuchText = (what: UnreadPart): ReadError => ({
  what,
  reason: 'cut',
  message: 'it has more text that can hold secrets than is redacted',
})

const budgetOf = (part: keyof typeof redactionLimits) =>
  new RedactionBudget(redactionLimits[part], {
    ...(part !== 'host' && { longest: longestMessage }),
    keepsFacts: part === 'objects' || (part !== 'errors' && nodeParts[part].hasMessages === true),
  })

function pruneObjects({
  kind,
  cluster,
  resource,
  items,
  errors = [],
}: ObjectsRecord): ObjectsRecord {
  const cut = cutterOf(resource)
  const budget = budgetOf('objects')
  const name = budget.redact(resource)
  const kept = items.map(item => cut(item, budget) as RawObject)
  // An event is its message.
  const isCut = budget.hasLostFacts || (budget.hasLostMessages && isEvents(resource))
  const unread = [...errors, ...(isCut ? [tooMuchText(name as ResourceName)] : [])]
  return {
    kind,
    cluster,
    resource: name,
    items: kept,
    ...(unread.length > 0 && { errors: redactTexts(unread, '', redact) as ReadError[] }),
  }
}

function cutterOf(resource: string) {
  const shape = objectShape(resource)
  if (isEvents(resource)) return redactingKeeperOf(shape, 'items')
  const kept = keeperOf(shape)
  const clean = cleanerOf(resource)
  return (item: RawObject, budget: RedactionBudget) =>
    redactTexts(clean(kept(item, budget)), 'items', budget.redactOnce)
}

/** Removes secret fields. Not needed if the shape names every field: there a label may be called `env`, and annotations hold revisions. */
function cleanerOf(resource: string): (item: unknown) => unknown {
  if (isWhollyNamed(resource)) return item => item
  return isNodeClass(resource) ? withoutNodeClassSecrets : withoutSecretFields
}

function pruneCluster(
  { kind, cluster, eks, nodegroups, launchTemplates, insights, errors }: ClusterRecord,
  budget: RedactionBudget,
): ClusterRecord {
  const cutInsights = (value: unknown) => keptInsights(value, budget)
  return {
    kind,
    cluster,
    ...keptEntry('eks', eks, eksClusterShape),
    ...keptEntry('nodegroups', nodegroups, list(nodegroupShape)),
    ...keptEntry(
      'launchTemplates',
      launchTemplates,
      list(launchTemplateShape),
      withoutTemplateSecrets,
    ),
    ...keptEntry('insights', insights, true, cutInsights),
    errors: errors ?? [],
  }
}

/** The kept value under its key. An absent value stays absent, null stays null. */
function keptEntry<Key extends string>(
  key: Key,
  value: unknown,
  shape: Shape,
  clean: (kept: unknown) => unknown = kept => kept,
) {
  return (
    value === undefined ? {} : { [key]: value === null ? null : clean(keep(value, shape)) }
  ) as Partial<Record<Key, never>>
}

const keptInsights = keeperOf(list(insightShape))
const keptNode = redactingKeeperOf(nodeShape, 'node')
const keptConfigz = keeperOf({ kubeletconfig: true })
const keptHost = keeperOf(hostShape)

type NodePart = Exclude<
  keyof NodeRecord,
  'kind' | 'cluster' | 'at' | 'mode' | 'unknownSources' | 'errors'
>

/** Each part of a node's record, in the order in which the parts are written: its form, and what is kept of it. */
export const nodeParts: Readonly<
  Record<
    NodePart,
    {
      form: 'object' | 'list of objects'
      cut: (value: unknown, budget: RedactionBudget) => unknown
      /** Its long texts are messages: the rest stays if there are too many of them. */
      hasMessages?: true
    }
  >
> = {
  node: {
    form: 'object',
    cut: (value, budget) => keptNode(value, budget) ?? {},
    hasMessages: true,
  },
  configz: {
    form: 'object',
    cut: (value, { redactOnce }) =>
      redactTexts(withoutSecretFields(keptConfigz(value)), 'configz', redactOnce),
  },
  summary: { form: 'object', cut: redactingKeeperOf(summaryShape, 'summary') },
  pods: {
    form: 'list of objects',
    cut: redactingKeeperOf(list(podShape), 'pods'),
    hasMessages: true,
  },
  runtime: { form: 'object', cut: redactingKeeperOf(runtimeShape, 'runtime') },
  host: {
    form: 'object',
    cut: (value, { redact }) => redactTexts(withoutHostSecrets(keptHost(value)), '', redact),
  },
  known: { form: 'object', cut: redactingKeeperOf(knownShape, 'known') },
  volumes: { form: 'list of objects', cut: redactingKeeperOf(list(volumeShape), 'volumes') },
}
const partNames = Object.keys(nodeParts) as NodePart[]

type KeptParts = Partial<Pick<NodeRecord, NodePart | 'errors'>>

/**
 * Cuts parts of a node's record; other keys are unchanged. An answer is cut as soon as it is parsed, so that the memory of the much
 * larger raw answer is freed at once. A part that has more text than is redacted becomes unread: a fact without its text would be wrong.
 */
export function pruneParts<P extends KeptParts>(parts: P): P {
  const kept: Record<string, unknown> = { ...parts }
  const lost: ReadError[] = []
  for (const name of partNames) {
    const value = kept[name] ?? undefined
    if (value === undefined) continue
    const budget = budgetOf(name)
    kept[name] = nodeParts[name].cut(value, budget)
    if (!isPartLost(name, budget)) continue
    if (name !== 'node') kept[name] = null
    lost.push(tooMuchText(name === 'known' ? 'runtime' : name))
  }
  if (lost.length > 0) kept.errors = [...(parts.errors ?? []), ...lost]
  return kept as P
}

const isPartLost = (name: NodePart, { hasLostFacts, hasLostMessages }: RedactionBudget) =>
  hasLostFacts || (hasLostMessages && nodeParts[name].hasMessages !== true)

/** Completes a record whose parts are cut: their order, and its own fields. */
export function completeNode({
  kind,
  cluster,
  at,
  mode,
  unknownSources = [],
  errors,
  ...parts
}: NodeRecord): NodeRecord {
  const kept: KeptParts = { ...parts, node: parts.node ?? {} }
  const unread = new ReadErrors()
  unread.add(errors)
  return {
    kind,
    cluster,
    at: typeof at === 'string' ? redact(at) : undefined,
    ...(isReadMode(mode) && { mode }),
    node: {},
    ...Object.fromEntries(
      partNames.filter(name => kept[name] !== undefined).map(name => [name, kept[name]]),
    ),
    ...(unknownSources.length > 0 && { unknownSources }),
    errors: redactTexts(unread.list(), '', budgetOf('errors').redact) as ReadError[],
  }
}
