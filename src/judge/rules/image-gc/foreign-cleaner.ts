import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { canonicalName } from '#judge/events/images.ts'
import { line, nodeRule } from '#judge/rule.ts'
import { bounded, counted } from '#judge/text.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'

/** Repositories of programs that delete images, without their registry. */
const cleanerImage =
  /\/(?:eraser(?:-dev)?\/(?:remover|collector|eraser-manager)|docker-gc(?:-cron)?|docker-cleanup|containerd-gc)(?:[:@]|$)/
const runtimeSocket = /\/(?:containerd|docker|dockershim|crio)\.sock$/
const cleanerName = /(?:^|[-_./])(?:clean(?:er|up)?|prune[rs]?|gc|purge[rs]?)(?:[-_.:@]|$)/

export const foreignCleaner = nodeRule({
  id: 'foreign-cleaner',
  family: 'image-gc',
  severity: 'medium',
  needs: ['pods'],
  title: 'A pod deletes images behind the kubelet',
  why: 'Eraser, docker-gc and pods that prune through the socket of the runtime ignore the thresholds and image ages of the kubelet. They delete images that the next pod pulls again, and the records of the kubelet are wrong until its next detection.',
  fix: 'Remove the pod and let image GC of the kubelet do it: set its thresholds and imageMaximumGCAge. A pod is known by its image, or by its name together with a mount of the socket: its command is not read.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go detectImages',
    'github.com/eraser-dev/eraser',
    'github.com/spotify/docker-gc',
  ],

  *judge({ pods }) {
    const found = pods.flatMap(cleanersIn)
    if (found.length === 0) return
    yield {
      confidence: 'likely',
      consequence: `${counted(found.length, 'pod')} can delete images at any time, whatever thresholds the kubelet has: ${found
        .slice(0, 3)
        .map(({ name }) => name)
        .join(', ')}.`,
      evidence: found.slice(0, 10).map(({ name, why }) => line('object', `pod ${name}`, why)),
    }
  },
})

function cleanersIn({ metadata, spec, status }: KubernetesPod): { name: string; why: string }[] {
  if (isTerminalPhase(status?.phase)) return []
  const name = bounded(`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`, 120)
  const images = (spec?.containers ?? []).flatMap(({ image }) => (image ? [image] : []))
  const known = images.find(image => cleanerImage.test(canonicalName(image)))
  if (known !== undefined) return [{ name, why: bounded(known, 160) }]
  const socket = spec?.volumes?.find(({ hostPath }) => runtimeSocket.test(hostPath?.path ?? ''))
  const named = [metadata?.name ?? '', ...images].some(text => cleanerName.test(text))
  return named && socket !== undefined
    ? [{ name, why: `mounts ${bounded(socket.hostPath?.path ?? '', 100)}` }]
    : []
}
