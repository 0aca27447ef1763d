/** What rules ask of image names: which registry each is pulled from, and by which pods. */
import { dockerHubHosts } from '#facts/kubernetes/registries.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'

/** The host of a reference; without one it is Docker Hub. Upstream: distribution/reference normalize.go splitDockerDomain. */
export function registryOf(image: string): string {
  const slash = image.indexOf('/')
  const host = slash < 0 ? '' : image.slice(0, slash)
  const isHost = host.includes('.') || host.includes(':') || host === 'localhost' || host.toLowerCase() !== host
  return !isHost || dockerHubHosts.has(host) ? 'docker.io' : host
}

export interface UsedImage {
  image: string
  registry: string
  /** `namespace/pod`. */
  pod: string
  hasPullSecret: boolean
}

/** Every image that a pod which has not finished names. */
export function imagesOf(pods: readonly KubernetesPod[]): UsedImage[] {
  return pods.flatMap(({ metadata, spec, status }) => {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return []
    const hasPullSecret = (spec?.imagePullSecrets ?? []).length > 0
    const pod = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`
    return [spec?.containers, spec?.initContainers, spec?.ephemeralContainers].flatMap(containers =>
      (containers ?? []).flatMap(({ image }) => (image ? [{ image, registry: registryOf(image), pod, hasPullSecret }] : [])),
    )
  })
}
