import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { dockerHubHosts } from '#facts/kubernetes/registries.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import { oncePer, oncePerText } from '#model/once.ts'

/** A reference by its host, which is Docker Hub's where it has none, and the rest. Upstream: distribution/reference normalize.go splitDockerDomain. */
function splitReference(image: string): { registry: string; path: string } {
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

/** As the runtime names it: `nginx` is `docker.io/library/nginx:latest`, and beside a digest a tag does not count. Upstream: containerd ParseDockerRef. */
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

/** As people write it: without Docker Hub's host and its `library/`. */
export const familiarName = (image: string): string =>
  canonicalName(image).replace(/^docker\.io\/(library\/)?/, '')

export interface UsedImage {
  image: string
  registry: string
  /** `namespace/pod`. */
  pod: string
  hasPullSecret: boolean
}

/** Every image that a pod which has not finished names. */
export const imagesOf = oncePer((pods: readonly KubernetesPod[]): readonly UsedImage[] =>
  pods.flatMap(({ metadata, spec, status }) => {
    if (isTerminalPhase(status?.phase)) return []
    const hasPullSecret = (spec?.imagePullSecrets ?? []).length > 0
    const pod = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`
    return [spec?.containers, spec?.initContainers, spec?.ephemeralContainers].flatMap(containers =>
      (containers ?? []).flatMap(({ image }) =>
        image ? [{ image, registry: registryOf(image), pod, hasPullSecret }] : [],
      ),
    )
  }),
)
