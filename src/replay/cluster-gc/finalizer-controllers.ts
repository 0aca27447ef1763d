/** Whether the controller that removes a finalizer runs in this cluster, judged by its Deployments and StatefulSets. */
import { finalizerController, mayTakeFinalizers } from '#facts/kubernetes/finalizers.ts'
import type { HeldFinalizer } from '#model/cluster-garbage.ts'
import type { Deployment, StatefulSet } from '#model/kubernetes.ts'
import { nameOf } from '#replay/cluster-gc/slim.ts'

export const controllerWorkloads: ReadonlySet<string> = new Set([
  'deployments.apps',
  'statefulsets.apps',
])

interface Workload {
  name: string
  label: string | null
  /** Whether one of these workloads has replicas. */
  isWanted: boolean
}

export class FinalizerControllers {
  readonly #workloads = new Map<string, Workload>()

  take(workload: Deployment | StatefulSet): void {
    const name = nameOf(workload)
    const label = workload.metadata?.labels?.['app.kubernetes.io/name'] ?? null
    if (!mayTakeFinalizers(name, label)) return
    const key = `${name} ${label}`
    const isWanted = workload.spec?.replicas !== 0 || this.#workloads.get(key)?.isWanted === true
    this.#workloads.set(key, { name, label, isWanted })
  }

  /** @param areAllKnown whether all workloads were read */
  holder(
    finalizer: string,
    { areAllKnown, isAutoMode }: { areAllKnown: boolean; isAutoMode: boolean },
  ): HeldFinalizer {
    const known = finalizerController(finalizer)
    if (known === null) return { finalizer, controller: null, state: 'unknown' }
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
