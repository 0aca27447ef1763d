/** Controllers of pods, also of those of which only the name is left. */

import { nameLength, shorten } from '#judge/text.ts'

import { repositoryOf } from '#model/input/image-reference.ts'
import {
  controllerOf,
  controllerReferenceOf,
  type KubernetesPod,
  parseWorkload,
  placedWorkload,
} from '#model/input/record.ts'
import type { WorkloadImages } from '#model/report.ts'

export interface PodOwner {
  /** `namespace/DaemonSet/name` */
  key: string
  /** See `controllerOf`. */
  workload: string
}

/** Null: no controller replaces the pod. A static pod's owner is its node, and the kubelet never evicts static pods. */
export function ownerOf(pod: KubernetesPod): PodOwner | null {
  const { kind = '', name } = controllerReferenceOf(pod) ?? {}
  const workload = controllerOf(pod)
  if (typeof name !== 'string' || workload === null) return null
  return { key: `${pod.metadata?.namespace ?? ''}/${kind}/${name}`, workload }
}

/** Of workloads and of images; a report shows one. */
const most = { workloads: 50, images: 8 }

/** Workloads of a node whose pods have images of several names, which a release pulls together. */
export function workloadsWithImages(pods: readonly KubernetesPod[]): WorkloadImages[] {
  const found = new Map<string, Set<string>>()
  for (const pod of pods) {
    const workload = controllerOf(pod)
    if (workload === null) continue
    const key = placedWorkload(pod.metadata?.namespace ?? '', workload)
    const images = found.get(key) ?? new Set()
    found.set(key, images)
    for (const { image = '' } of pod.spec?.containers ?? []) images.add(repositoryOf(image))
  }
  return [...found]
    .filter(([, images]) => images.size > 1)
    .slice(0, most.workloads)
    .map(([workload, images]) => ({
      workload: shorten(workload, nameLength),
      images: [...images].slice(0, most.images).map(image => shorten(image, nameLength)),
    }))
}

/** Upstream: apiserver storage/names/generate.go SimpleNameGenerator; apimachinery util/rand rand.go alphanums. */
const generated = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/
const longestPrefix = 58
/** Of a ReplicaSet. Upstream: pkg/controller/controller_utils.go ComputeHash, SafeEncodeString */
const templateHash = /[bcdfghjklmnpqrstvwxz2456789]{1,10}-$/

export const isGeneratedSuffix = (text: string): boolean => generated.test(text)

/** The controllers of a cluster, by the beginning of the names that their pods get. */
export class PodOwners {
  readonly #byPrefix = new Map<string, PodOwner>()
  /** Most pods have the owner of others. */
  readonly #taken = new Set<string>()

  take(pods: readonly KubernetesPod[]): void {
    for (const pod of pods) {
      const owner = ownerOf(pod)
      if (!owner) continue
      const known = `${owner.key} ${owner.workload}`
      if (this.#taken.has(known)) continue
      this.#taken.add(known)
      const [namespace, kind, name = ''] = owner.key.split('/')
      if (kind === 'StatefulSet') this.#add(`${namespace}/${name}-0`, owner)
      else this.#add(`${namespace}/${`${name}-`.slice(0, longestPrefix)}`, owner)
      // Pods of its earlier ReplicaSets have another hash.
      const workload = parseWorkload(owner.workload)
      if (workload.kind === 'Deployment') this.#add(`${namespace}/${workload.name}-*`, owner)
    }
  }

  /** Whatever the order of the pods. */
  #add(prefix: string, owner: PodOwner) {
    const known = this.#byPrefix.get(prefix)
    if (!known || owner.key < known.key) this.#byPrefix.set(prefix, owner)
  }

  /** The controller whose pods have such names. Null: none that has a pod now. */
  find(namespace: string, pod: string): PodOwner | null {
    const prefix = isGeneratedSuffix(pod.slice(-5)) ? pod.slice(0, -5) : ''
    return (
      [prefix, prefix.replace(templateHash, '*'), pod.replace(/-\d{1,9}$/, '-0')]
        .map(name => this.#byPrefix.get(`${namespace}/${name}`))
        .find(owner => owner !== undefined) ?? null
    )
  }
}
