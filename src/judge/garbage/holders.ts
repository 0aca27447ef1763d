import type {
  HeldFinalizer,
  HeldVolumeObject,
  TerminatingPod,
} from '#model/finding/cluster-garbage.ts'
import { named } from './garbage.ts'

export function whyPodStays({
  finalizers,
  node,
  nodeState,
  isTakenByPodGc,
  isLetGo,
}: TerminatingPod): string {
  const isHeldOnly = nodeState === 'none' || nodeState === 'gone' || isTakenByPodGc || isLetGo
  if (finalizers.length > 0 && isHeldOnly) return whyFinalizersStay(finalizers)
  if (nodeState === 'none') return 'it is on no node, and pod GC has not taken it'
  if (nodeState === 'gone') return `its node ${node} is gone, and pod GC has not taken it`
  if (nodeState === 'not-ready') return `its node ${node} is not Ready, so no kubelet ends it`
  if (finalizers.length > 0) return `its kubelet holds it, or else ${whyFinalizersStay(finalizers)}`
  return nodeState === 'not-read'
    ? `whether its node ${node} is there is not known`
    : `the kubelet of ${node} has not ended it`
}

const protections: ReadonlySet<string> = new Set([
  'kubernetes.io/pvc-protection',
  'kubernetes.io/pv-protection',
])

export function whyVolumeStays({ finalizers, usedBy, namespace }: HeldVolumeObject): string {
  const others = finalizers.filter(({ finalizer }) => !protections.has(finalizer))
  const names = finalizers.map(({ finalizer }) => finalizer).join(', ')
  const isProtected = others.length < finalizers.length
  const users = (usedBy ?? []).map(name => ({ name }))
  if (isProtected && users.length > 0)
    return `${namespace === '' ? 'it is still bound to' : 'still used by pods:'} ${named(users, 3)}`
  if (others.length > 0) return whyFinalizersStay(others)
  if (isProtected && usedBy === null) return `${names} holds it, and which pods use it is not known`
  return isProtected
    ? `${names} holds it, and nothing that is known uses it`
    : 'nothing holds it that it names'
}

function whyFinalizerStays({ finalizer, controller, state }: HeldFinalizer) {
  if (controller === null) return `no known controller removes the finalizer ${finalizer}`
  if (state === 'absent')
    return `the finalizer ${finalizer} is for ${controller}, and nothing in this cluster is called like it`
  if (state === 'stopped')
    return `the finalizer ${finalizer} is for ${controller}, which is scaled to zero`
  return `${controller} has not taken away the finalizer ${finalizer}`
}

export const whyFinalizersStay = (finalizers: readonly HeldFinalizer[]): string =>
  finalizers.map(whyFinalizerStays).join('; ')
