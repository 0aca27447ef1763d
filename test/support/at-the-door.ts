/** What tests write in raw JSON, as the pipeline hands it on: pruned, and parsed once. */

import { type Host, hostShape, type Runtime, runtimeShape } from '#model/input/inspection.ts'
import {
  type ClusterInput,
  type ClusterRecord,
  type GarbageObjects,
  type KubernetesPod,
  type NodeInput,
  type NodeRecord,
  type ObjectsInput,
  type ObjectsRecord,
  type Summary,
  summaryShape,
} from '#model/input/record.ts'
import type { WhatIf } from '#model/plan.ts'
import type { NodePrediction } from '#model/prediction.ts'
import type { ClusterReplay } from '#replay/cluster-gc/cluster-replay.ts'
import { type Pod, type PodStatsIndex, parsePod, podStatsIn } from '#replay/pods.ts'
import { replay } from '#replay/replay.ts'
import { clusterInput, nodeInput, objectsInput } from '#snapshot/input.ts'
import { prune } from '#snapshot/prune.ts'
import { keep } from '#snapshot/shape.ts'
import { nodeShape, objectShape, podShape } from '#snapshot/shapes.ts'

export const inputOf = (record: object): NodeInput => nodeInput(prune(record as NodeRecord))

export const replayOf = (record: object, takenAt: string, whatIf?: WhatIf): NodePrediction =>
  replay(inputOf(record), takenAt, whatIf)

export const nodeOf = (raw: unknown) => (keep(raw, nodeShape) ?? {}) as NodeInput['node']
export const summaryOf = (raw: unknown) => (keep(raw, summaryShape) ?? {}) as Summary
export const hostOf = (raw: unknown) => (keep(raw, hostShape) ?? null) as Host | null
export const runtimeOf = (raw: unknown) => (keep(raw, runtimeShape) ?? null) as Runtime | null
export const manifestOf = (raw: unknown) => (keep(raw, podShape) ?? {}) as KubernetesPod

/** Null: it has no name. */
export const podOf = (raw: unknown): Pod | null => parsePod(manifestOf(raw))
export const podStatsOf = (raw: unknown): PodStatsIndex => podStatsIn(summaryOf(raw))

export const objectOf = <Resource extends keyof GarbageObjects>(resource: Resource, raw: unknown) =>
  (keep(raw, objectShape(resource)) ?? {}) as GarbageObjects[Resource]

export const clusterOf = (record: object): ClusterInput =>
  clusterInput(prune({ kind: 'Cluster', cluster: 'prod', ...record } as ClusterRecord))

export const objectsOf = (record: ObjectsRecord): ObjectsInput => objectsInput(prune(record))

export function takeRecord(
  replay: ClusterReplay,
  record: ClusterRecord | NodeRecord | ObjectsRecord,
): void {
  if (record.kind === 'Cluster') replay.takeCluster(clusterInput(record))
  else if (record.kind === 'Node') replay.takeNode(inputOf(record))
  else replay.takeObjects(objectsOf(record))
}
