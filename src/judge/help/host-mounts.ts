/** Folders of the node that its pods can write: what the API alone shows of bytes that the kubelet counts to no pod. */
import { controllerOf, isVolumeWritable, type KubernetesPod } from '#model/input/kubernetes.ts'

/** Folders of devices, sockets, programs and settings: what is written there takes no disk, or little. */
const small =
  /^\/(?:dev|proc|sys|run|var\/run|etc|lib|lib64|usr|boot|opt\/cni|var\/lib\/(?:cni|kubelet))(?:\/|$)/
const shown = 3

/** `/tmp (Deployment shop/api)`, one for each folder and workload; at most three. */
export function writableMounts(pods: readonly KubernetesPod[] | null): string[] {
  const mounts = (pods ?? []).flatMap(pod => {
    const { namespace = '', name = '' } = pod.metadata ?? {}
    if (namespace === 'kube-system') return []
    const [kind, own] = (controllerOf(pod) ?? `Pod ${name}`).split(' ')
    return (pod.spec?.volumes ?? []).flatMap(({ name: volume, hostPath }) => {
      const path = hostPath?.path
      if (path === undefined || small.test(path) || !isVolumeWritable(pod, volume)) return []
      return [`${path} (${kind} ${namespace}/${own})`]
    })
  })
  return [...new Set(mounts)].slice(0, shown)
}
