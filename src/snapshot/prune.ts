/**
 * What of a record is kept: only what rules and replays read, in the API's own names. The shapes list what stays, so that environment variables,
 * annotations and termination messages are left out; every text that stays is redacted.
 */
import type { KubernetesNode } from '#model/kubernetes.ts'
import { isReadMode } from '#model/read-mode.ts'
import type {
  ClusterRecord,
  NodeRecord,
  ObjectsRecord,
  RawObject,
  SnapshotRecord,
} from '#model/record.ts'
import { redact, redactTexts } from '#model/redact.ts'
import {
  withoutHostSecrets,
  withoutNodeClassSecrets,
  withoutSecretFields,
  withoutTemplateSecrets,
} from './secrets.ts'
import { keep, keepRedacted, list, type Shape } from './shape.ts'
import {
  eksShape,
  hostShape,
  isEvents,
  isNodeClass,
  isWhollyNamed,
  knownShape,
  launchTemplateShape,
  nodegroupShape,
  nodeShape,
  objectShape,
  podShape,
  runtimeShape,
  summaryShape,
} from './shapes.ts'

/** The record as it is written to a snapshot and as every later stage sees it; the same for a live fleet and a snapshot read back. Pruning twice changes nothing. */
export function prune<R extends SnapshotRecord>(record: R): R {
  return (record.kind === 'Node' ? pruneNode(record) : redactTexts(cutToShape(record))) as R
}

function cutToShape(record: Exclude<SnapshotRecord, NodeRecord>): SnapshotRecord {
  if (record.kind === 'Cluster') return pruneCluster(record)
  return record.kind === 'Objects' ? pruneObjects(record) : record
}

function pruneObjects({ kind, cluster, resource, items }: ObjectsRecord): ObjectsRecord {
  const shape = objectShape(resource)
  const clean = cleanerOf(resource)
  return {
    kind,
    cluster,
    resource,
    items: items.map(item => clean(keep(item, shape)) as RawObject),
  }
}

/** Shapes that name every field need none; a label may be called `env`, and annotations hold revisions. */
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
  errors,
}: ClusterRecord): ClusterRecord {
  return {
    kind,
    cluster,
    ...given('eks', eks, eksShape),
    ...given('nodegroups', nodegroups, list(nodegroupShape)),
    ...given('launchTemplates', launchTemplates, list(launchTemplateShape), withoutTemplateSecrets),
    errors: errors ?? [],
  }
}

/** Absent stays absent, null stays null. */
function given<Key extends string>(
  key: Key,
  value: unknown,
  shape: Shape,
  clean: (kept: unknown) => unknown = kept => kept,
) {
  return (
    value === undefined ? {} : { [key]: value === null ? null : clean(keep(value, shape)) }
  ) as Partial<Record<Key, never>>
}

function pruneNode(record: NodeRecord): NodeRecord {
  const { kind, cluster, at, mode, node, configz, summary, pods, runtime, host, known, errors } =
    record
  return {
    kind,
    cluster,
    at: typeof at === 'string' ? redact(at) : undefined,
    ...(isReadMode(mode) && { mode }),
    node: (keepRedacted(node, nodeShape, 'node') ?? {}) as KubernetesNode,
    ...redacted(given('configz', configz, configzShape, withoutSecretFields)),
    ...clean('summary', summary, summaryShape),
    ...clean('pods', pods, podsShape),
    ...clean('runtime', runtime, runtimeShape),
    ...redacted(given('host', host, hostShape, withoutHostSecrets)),
    ...clean('known', known, knownShape),
    errors: redacted(errors ?? []),
  }
}

const redacted = <T>(value: T): T => redactTexts(value) as T

const configzShape = { kubeletconfig: true } as const
const podsShape = list(podShape)

function clean(key: string, value: unknown, shape: Shape): object {
  return value === undefined
    ? {}
    : { [key]: value === null ? null : keepRedacted(value, shape, key) }
}
