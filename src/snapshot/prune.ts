/**
 * Cuts records to what rules and replays read, in the API's own names. The shapes list the kept fields, so environment variables,
 * annotations and termination messages are dropped. Every kept text is redacted.
 */

import { longestMessage, redactionLimits } from '#base/limits.ts'
import type { RawObject } from '#base/raw-object.ts'
import { RedactionBudget, redact, redactTexts } from '#base/redaction/redact.ts'
import { insightShape, nodegroupShape } from '#model/input/cluster-input.ts'
import { hostShape, runtimeShape } from '#model/input/inspection.ts'
import { knownShape, summaryShape, volumeShape } from '#model/input/node-input.ts'
import {
  type ClusterRecord,
  isReadMode,
  type NodeRecord,
  type ObjectsRecord,
  type ReadError,
  type SnapshotRecord,
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
  eksShape,
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
  const kept = record.kind === 'Cluster' ? pruneCluster(record) : record
  return redactTexts(kept, '', budgetOf('objects').redactOnce) as SnapshotRecord
}

const budgetOf = (part: keyof typeof redactionLimits) =>
  new RedactionBudget(redactionLimits[part], part === 'host' ? undefined : longestMessage)

function pruneObjects({ kind, cluster, resource, items }: ObjectsRecord): ObjectsRecord {
  const kept = keeperOf(objectShape(resource))
  const clean = cleanerOf(resource)
  const budget = budgetOf('objects')
  const cut = (item: RawObject) =>
    redactTexts(clean(kept(item, budget)), 'items', budget.redactOnce) as RawObject
  return { kind, cluster, resource: budget.redact(resource), items: items.map(cut) }
}

/** Removes secret fields. Not needed if the shape names every field: there a label may be called `env`, and annotations hold revisions. */
function cleanerOf(resource: string): (item: unknown) => unknown {
  if (isWhollyNamed(resource) || isEvents(resource)) return item => item
  return isNodeClass(resource) ? withoutNodeClassSecrets : withoutSecretFields
}

function pruneCluster({
  kind,
  cluster,
  eks,
  nodegroups,
  launchTemplates,
  insights,
  errors,
}: ClusterRecord): ClusterRecord {
  return {
    kind,
    cluster,
    ...keptEntry('eks', eks, eksShape),
    ...keptEntry('nodegroups', nodegroups, list(nodegroupShape)),
    ...keptEntry(
      'launchTemplates',
      launchTemplates,
      list(launchTemplateShape),
      withoutTemplateSecrets,
    ),
    ...keptEntry('insights', insights, list(insightShape)),
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

const keptNode = redactingKeeperOf(nodeShape, 'node')
const keptConfigz = keeperOf({ kubeletconfig: true })
const keptHost = keeperOf(hostShape)

type NodePart = Exclude<keyof NodeRecord, 'kind' | 'cluster' | 'at' | 'mode' | 'errors'>

/** Each part of a node's record, in the order in which the parts are written: its form, and what is kept of it. */
export const nodeParts: Readonly<
  Record<
    NodePart,
    {
      form: 'object' | 'list of objects'
      cut: (value: unknown, budget: RedactionBudget) => unknown
    }
  >
> = {
  node: { form: 'object', cut: (value, budget) => keptNode(value, budget) ?? {} },
  configz: {
    form: 'object',
    cut: (value, { redactOnce }) =>
      redactTexts(withoutSecretFields(keptConfigz(value)), 'configz', redactOnce),
  },
  summary: { form: 'object', cut: redactingKeeperOf(summaryShape, 'summary') },
  pods: { form: 'list of objects', cut: redactingKeeperOf(list(podShape), 'pods') },
  runtime: { form: 'object', cut: redactingKeeperOf(runtimeShape, 'runtime') },
  host: {
    form: 'object',
    cut: (value, { redact }) => redactTexts(withoutHostSecrets(keptHost(value)), '', redact),
  },
  known: { form: 'object', cut: redactingKeeperOf(knownShape, 'known') },
  volumes: { form: 'list of objects', cut: redactingKeeperOf(list(volumeShape), 'volumes') },
}
const partNames = Object.keys(nodeParts) as NodePart[]

type KeptParts = Partial<Pick<NodeRecord, NodePart>>

/**
 * Cuts parts of a node's record; other keys are unchanged. An answer is cut as soon as it is parsed, so that the memory of the much
 * larger raw answer is freed at once.
 */
export function pruneParts<P extends KeptParts>(parts: P): P {
  const kept: Record<string, unknown> = { ...parts }
  for (const name of partNames) {
    const value = kept[name] ?? undefined
    if (value !== undefined) kept[name] = nodeParts[name].cut(value, budgetOf(name))
  }
  return kept as P
}

/** Completes a record whose parts are cut: their order, and its own fields. */
export function completeNode({
  kind,
  cluster,
  at,
  mode,
  errors,
  ...parts
}: NodeRecord): NodeRecord {
  const kept: KeptParts = { ...parts, node: parts.node ?? {} }
  return {
    kind,
    cluster,
    at: typeof at === 'string' ? redact(at) : undefined,
    ...(isReadMode(mode) && { mode }),
    node: {},
    ...Object.fromEntries(
      partNames.filter(name => kept[name] !== undefined).map(name => [name, kept[name]]),
    ),
    errors: redactTexts(errors ?? [], '', budgetOf('errors').redact) as ReadError[],
  }
}
