/** Controllers of pods, also of those of which only the name is left. */
import {
  controllerOf,
  controllerReferenceOf,
  type KubernetesPod,
  parseWorkload,
} from '#model/input/kubernetes.ts'

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

/** Upstream: apiserver storage/names/generate.go SimpleNameGenerator; apimachinery util/rand rand.go alphanums. */
const generated = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/
const longestPrefix = 58
/** Of a ReplicaSet. Upstream: pkg/controller/controller_utils.go ComputeHash, SafeEncodeString */
const templateHash = /[bcdfghjklmnpqrstvwxz2456789]{1,10}-$/

export const isGeneratedSuffix = (text: string): boolean => generated.test(text)

/** The controllers of a cluster, by the beginning of the names that their pods get. */
export class PodOwners {
  readonly #byPrefix = new Map<string, PodOwner>()

  take(pods: readonly KubernetesPod[]): void {
    for (const pod of pods) {
      const owner = ownerOf(pod)
      if (owner === null) continue
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
    if (known === undefined || owner.key < known.key) this.#byPrefix.set(prefix, owner)
  }

  /** The controller whose pods have such names. Null: none that has a pod now. */
  find(namespace: string, pod: string): PodOwner | null {
    const ordinal = /-\d{1,9}$/.exec(pod)
    const prefix = isGeneratedSuffix(pod.slice(-5)) ? pod.slice(0, -5) : null
    const names = [
      ...(prefix === null ? [] : [prefix, prefix.replace(templateHash, '*')]),
      ...(ordinal === null ? [] : [`${pod.slice(0, ordinal.index)}-0`]),
    ]
    for (const name of names) {
      const owner = this.#byPrefix.get(`${namespace}/${name}`)
      if (owner !== undefined) return owner
    }
    return null
  }
}
