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

/** With the registry, Docker Hub's `library`, and the default tag written out. Upstream: distribution/reference normalize.go ParseDockerRef, TagNameOnly. */
export function fullName(image: string): string {
  const registry = registryOf(image)
  const hasHost = image.startsWith(`${registry}/`) || dockerHubHosts.has(image.slice(0, Math.max(0, image.indexOf('/'))))
  const path = hasHost ? image.slice(image.indexOf('/') + 1) : image
  const full = `${registry}/${registry === 'docker.io' && !path.includes('/') ? 'library/' : ''}${path}`
  return full.includes('@') || path.slice(path.lastIndexOf('/') + 1).includes(':') ? full : `${full}:latest`
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
