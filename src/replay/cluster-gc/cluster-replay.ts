/** Replays the control plane's collectors over a cluster's records as they arrive. Only the fields that a section needs are kept. */

import { type Keep, keepInMemory } from '#base/keep.ts'
import { oncePerText } from '#base/once.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { readForNodes, versionResource } from '#facts/kubernetes/discovery.ts'
import { finalizerController, mayTakeFinalizers } from '#facts/kubernetes/finalizers.ts'
import { isGarbageResource } from '#facts/kubernetes/garbage-resources.ts'
import type {
  ClusterNeed,
  ClusterPrediction,
  ClusterSections,
  ControlPlane,
  HeldFinalizer,
} from '#model/cluster-garbage.ts'
import {
  type ClusterInput,
  type ClusterObject,
  type Deployment,
  type EksCluster,
  isObjectOf,
  type KubernetesNode,
  type NodeInput,
  type ObjectsInput,
  ReadErrors,
  type StatefulSet,
} from '#model/input/record.ts'
import { certificates } from '#replay/cluster-gc/sections/certificates.ts'
import { finalizers } from '#replay/cluster-gc/sections/finalizers.ts'
import { jobs } from '#replay/cluster-gc/sections/jobs.ts'
import {
  nameOf,
  type OpenSection,
  Packed,
  type Section,
  type SectionContext,
  slimNode,
} from './section.ts'
import { instances, leases, nodes } from './sections/nodes.ts'
import { owners } from './sections/owners.ts'
import { pods } from './sections/pods.ts'
import { disks, volumes } from './sections/volumes.ts'

/** Every section by name, in the order in which they close. The section that needs most memory closes first. */
export const sections: { readonly [Need in ClusterNeed]: Section<Need> } = {
  owners,
  pods,
  jobs,
  leases,
  nodes,
  volumes,
  certificates,
  finalizers,
  disks,
  instances,
}

/** Whether the controller that removes a finalizer runs in this cluster, judged by its Deployments and StatefulSets. */
const controllerWorkloads: ReadonlySet<string> = new Set(['deployments.apps', 'statefulsets.apps'])

interface Workload {
  name: string
  label: string | null
  /** Whether one of these workloads has replicas. */
  isWanted: boolean
}

class FinalizerControllers {
  readonly #workloads = new Map<string, Workload>()

  take(workload: Deployment | StatefulSet) {
    const name = nameOf(workload)
    const label = workload.metadata?.labels?.['app.kubernetes.io/name'] ?? null
    if (!mayTakeFinalizers(name, label)) return
    const key = `${name} ${label}`
    const isWanted = workload.spec?.replicas !== 0 || this.#workloads.get(key)?.isWanted === true
    this.#workloads.set(key, { name, label, isWanted })
  }

  /** @param areAllKnown whether all workloads were read */
  finalizerHolder(
    finalizer: string,
    { areAllKnown, isAutoMode }: { areAllKnown: boolean; isAutoMode: boolean },
  ): HeldFinalizer {
    const known = finalizerController(finalizer)
    if (!known) return { finalizer, controller: null, state: 'unknown' }
    const { controller, workload, isRunByAutoMode = false } = known
    if (workload === null) return { finalizer, controller, state: 'control-plane' }
    if (workload === 'any') return { finalizer, controller, state: 'unknown' }
    const all = [...this.#workloads.values()]
    const found = all.filter(
      ({ name, label }) => label === workload.label || workload.name.test(name),
    )
    if (found.some(({ isWanted }) => isWanted)) return { finalizer, controller, state: 'there' }
    const isOpen = !areAllKnown || (isRunByAutoMode && isAutoMode)
    if (isOpen || all.some(each => !found.includes(each) && workload.like.test(each.name)))
      return { finalizer, controller, state: 'unknown' }
    return { finalizer, controller, state: found.length > 0 ? 'stopped' : 'absent' }
  }
}

export interface ClusterReplay {
  takeCluster(input: ClusterInput): void
  takeObjects(input: ObjectsInput): void
  takeNode(input: NodeInput): void
  /** Predictions for the clusters whose garbage was requested. Call once, at the end. @param takenAt RFC 3339: the snapshot's time, the collectors' "now" */
  close(takenAt: string): ClusterPrediction[]
}

/** @param keep where what waits for the last list is kept */
export function openClusterReplay(keep: Keep = keepInMemory): ClusterReplay {
  const clusters = new Map<string, Cluster>()
  const clusterOf = (name: string) => {
    const cluster = clusters.get(name) ?? new Cluster(name, keep)
    clusters.set(name, cluster)
    return cluster
  }
  return {
    takeCluster: input => clusterOf(input.cluster).takeCluster(input),
    takeObjects: input => clusterOf(input.cluster).takeObjects(input),
    takeNode: input => clusterOf(input.cluster).takeNode(input),
    close: takenAt => [...clusters.values()].flatMap(cluster => cluster.close(takenAt) ?? []),
  }
}

const needs = Object.keys(sections) as ClusterNeed[]
/** Sections by the resource that they read. */
const takers: ReadonlyMap<string, readonly ClusterNeed[]> = needsByResource()
/** Sections that are incomplete if the pods of a node were not read. */
const ofPods = ['pods', 'owners'] as const
/** Sections that take every resource, not only named ones. */
const takersOfOthers = needs.filter(need => sections[need].takesOthers)

function needsByResource(): Map<string, ClusterNeed[]> {
  const found = new Map<string, ClusterNeed[]>()
  for (const need of needs)
    for (const resource of [...sections[need].resources, ...(sections[need].also ?? [])])
      found.set(resource, [...(found.get(resource) ?? []), need])
  return found
}

class Cluster {
  readonly #name: string
  readonly #open: Partial<Record<ClusterNeed, OpenSection<unknown>>>
  readonly #read = new Set<string>()
  #eks: EksCluster | null = null
  readonly #errors = new ReadErrors()
  readonly #nodes: Packed<KubernetesNode>
  #nodesWithoutPods = 0
  /** True: the list of nodes was read and is empty. */
  #hasNoNodes = false
  #newestKubelet: string | null = null
  /** The version that `GET /version` returns. */
  #serverVersion: string | null = null
  readonly #controllers = new FinalizerControllers()

  constructor(name: string, keep: Keep) {
    this.#name = name
    this.#open = Object.fromEntries(needs.map(need => [need, sections[need].open(keep)]))
    this.#nodes = new Packed(keep)
  }

  /** A cluster's record can arrive twice. */
  takeCluster({ eks, errors }: ClusterInput) {
    this.#eks = eks ?? this.#eks
    this.#errors.add(errors)
  }

  takeObjects({ resource, items, errors }: ObjectsInput) {
    this.#errors.add(errors)
    this.#read.add(resource)
    if (resource === 'nodes' && items.length === 0) this.#hasNoNodes = true
    for (const item of items)
      if (isObjectOf(versionResource, resource, item))
        this.#serverVersion = item.gitVersion ?? this.#serverVersion
      else this.#take(resource, item)
  }

  takeNode({ node, pods }: NodeInput) {
    this.#nodes.push(slimNode(node))
    this.#newestKubelet = newerVersion(
      this.#newestKubelet,
      node.status?.nodeInfo?.kubeletVersion ?? null,
    )
    if (!pods) this.#nodesWithoutPods++
    else for (const pod of pods) this.#take('pods', pod)
  }

  #take(resource: string, object: ClusterObject) {
    if (
      isObjectOf('deployments.apps', resource, object) ||
      isObjectOf('statefulsets.apps', resource, object)
    )
      this.#controllers.take(object)
    for (const need of takers.get(resource) ?? takersOfOthers)
      this.#open[need]?.take(resource, object)
  }

  /** Null if no garbage was requested, as in a snapshot of nodes alone. */
  close(takenAt: string): ClusterPrediction | null {
    const failed = this.#failureTexts()
    const resources = this.#resources(failed)
    // The server's version is read for every kind, also for `nodes`, which needs no list.
    const wasSearched = [...Object.keys(resources), ...this.#read, ...failed.keys()].some(
      resource => isGarbageResource(resource) || resource === versionResource,
    )
    if (!wasSearched) return null
    const head = {
      cluster: this.#name,
      at: takenAt,
      eks: this.#eks,
      controlPlane: this.#controlPlane(),
      resources,
    }
    const missing: ClusterPrediction['missing'] = {}
    const doubts: ClusterPrediction['doubts'] = {}
    const context = this.#context(takenAt, resources)
    const known: Partial<Record<ClusterNeed, unknown>> = {}
    for (const need of needs) {
      const { resources: of, also = [], takesOthers = false, needsNodes = false } = sections[need]
      if (needsNodes && !context.nodes) {
        known[need] = null
        missing[need] = [failed.get('nodes') ?? 'nodes: not all of them are known']
        continue
      }
      const unread = of.filter(resource => !this.#read.has(resource))
      const reasons = of.flatMap(resource => failed.get(resource) ?? [])
      known[need] = unread.length > 0 ? null : this.#open[need]?.close(context)
      // Free this section's memory before the next section closes.
      delete this.#open[need]
      if (unread.length > 0 && reasons.length > 0) missing[need] = reasons
      const others = takesOthers
        ? Object.keys(resources).filter(resource => !isGarbageResource(resource))
        : []
      const open = [...of, ...also, ...others].flatMap(resource => failed.get(resource) ?? [])
      if (unread.length === 0 && open.length > 0) doubts[need] = open
    }
    const podsLeftOut = failed.get('nodes') ?? this.#podsLeftOut()
    for (const need of ofPods)
      if (known[need] && !doubts[need] && podsLeftOut !== null) doubts[need] = [podsLeftOut]
    return {
      ...head,
      ...(known as { [Need in ClusterNeed]: ClusterSections[Need] | null }),
      missing,
      doubts,
    }
  }

  #podsLeftOut() {
    return this.#nodesWithoutPods > 0
      ? `the pods of ${this.#nodesWithoutPods} of its nodes could not be read`
      : null
  }

  /** What failed of each list, with all its reasons. */
  #failureTexts(): ReadonlyMap<string, string> {
    const failed = new Map<string, string>()
    for (const { what, message } of this.#errors.list())
      failed.set(what, `${failed.has(what) ? `${failed.get(what)}; ` : `${what}: `}${message}`)
    return failed
  }

  #resources(failed: ReadonlyMap<string, string>): ClusterPrediction['resources'] {
    const isRequested = (resource: string) =>
      isGarbageResource(resource) ||
      (this.#read.has(resource) && !readForNodes.has(resource) && resource !== versionResource)
    const requested = [...new Set([...this.#read, ...failed.keys()])].filter(isRequested).toSorted()
    return Object.fromEntries(requested.map(resource => [resource, failed.get(resource) ?? null]))
  }

  #controlPlane(): ControlPlane {
    const version = [this.#eks?.version ?? null, this.#serverVersion].find(
      each => featuresOf(each).minor !== null,
    )
    return { version: version ?? this.#newestKubelet, isAssumed: version === undefined }
  }

  #context(takenAt: string, resources: ClusterPrediction['resources']): SectionContext {
    const nodes = [...this.#nodes]
    const isListed =
      (nodes.length > 0 || this.#hasNoNodes) &&
      !this.#errors.list().some(({ what }) => what === 'nodes')
    const isWhole = (resource: string) => this.#read.has(resource) && resources[resource] === null
    const areAllKnown = [...controllerWorkloads].every(isWhole)
    const isAutoMode = this.#eks?.computeConfig?.enabled === true
    return {
      nowMs: Date.parse(takenAt),
      features: featuresOf(this.#controlPlane().version),
      eks: this.#eks,
      nodes: isListed ? nodes : null,
      isWhole,
      arePodsKnown: isListed && this.#nodesWithoutPods === 0,
      // Thousands of objects have the same few finalizers.
      holderOf: oncePerText(finalizer =>
        this.#controllers.finalizerHolder(finalizer, { areAllKnown, isAutoMode }),
      ),
    }
  }
}

/** The newer version by minor. No kubelet is newer than its control plane. Source: Kubernetes version skew policy. */
function newerVersion(a: string | null, b: string | null) {
  const rank = (version: string | null) =>
    version === null ? -1 : featuresOf(version).rulesOfMinor
  return Math.max(rank(a), rank(b)) === rank(a) ? a : b
}
