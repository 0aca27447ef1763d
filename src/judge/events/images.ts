import { oncePerText } from '#base/once.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { dockerHubHosts } from '#facts/kubernetes/registries.ts'
import { podName } from '#judge/text.ts'
import type { KubernetesPod } from '#model/input/kubernetes.ts'

/** Splits a reference into host and path. The default host is Docker Hub's. Upstream: distribution/reference normalize.go splitDockerDomain. */
function splitReference(image: string) {
  const slash = image.indexOf('/')
  const host = slash < 0 ? '' : image.slice(0, slash)
  const isHost =
    host.includes('.') || host.includes(':') || host === 'localhost' || host.toLowerCase() !== host
  return {
    registry: !isHost || dockerHubHosts.has(host) ? 'docker.io' : host,
    path: isHost ? image.slice(slash + 1) : image,
  }
}

export const registryOf = oncePerText(image => splitReference(image).registry)

/** The runtime's name of an image: `nginx` is `docker.io/library/nginx:latest`. A digest makes the tag irrelevant. Upstream: containerd ParseDockerRef. */
export const canonicalName = oncePerText(image => {
  const { registry, path } = splitReference(image)
  const at = path.indexOf('@')
  const named = at < 0 ? path : path.slice(0, at)
  const repository = registry === 'docker.io' && !named.includes('/') ? `library/${named}` : named
  const colon = repository.lastIndexOf(':')
  const hasTag = colon > repository.lastIndexOf('/')
  if (at >= 0)
    return `${registry}/${hasTag ? repository.slice(0, colon) : repository}${path.slice(at)}`
  return `${registry}/${repository}${hasTag ? '' : ':latest'}`
})

/** The short name of an image, without Docker Hub's host and `library/`. */
export const familiarName = (image: string): string =>
  canonicalName(image).replace(/^docker\.io\/(library\/)?/, '')

export interface UsedImage {
  image: string
  registry: string
  /** `namespace/pod`. */
  pod: string
  hasPullSecret: boolean
}

/** Every image that an unfinished pod names. */
export function imagesOf(pods: readonly KubernetesPod[]): UsedImage[] {
  const used: UsedImage[] = []
  for (const { metadata, spec, status } of pods) {
    if (isTerminalPhase(status?.phase)) continue
    const hasPullSecret = (spec?.imagePullSecrets ?? []).length > 0
    const pod = podName(metadata)
    for (const kind of ['containers', 'initContainers', 'ephemeralContainers'] as const)
      for (const { image } of spec?.[kind] ?? [])
        if (image) used.push({ image, registry: registryOf(image), pod, hasPullSecret })
  }
  return used
}
