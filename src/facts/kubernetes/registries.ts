/** Image registries that are shut down, frozen, or limit pulls. */

export interface EndedRegistry {
  successor: string
  /** What happens to a pull from it today. */
  state: string
  /** False if copies of old images are still available under another name. */
  isGone: boolean
}

export const endedRegistries: Readonly<Record<string, EndedRegistry>> = {
  // github.blog/changelog/2025-01-23-legacy-docker-registry-closing-down; containerd/containerd#3291
  'docker.pkg.github.com': {
    successor: 'ghcr.io',
    state: 'was closed on 2025-02-24, and containerd could never pull from it',
    isGone: true,
  },
  // kubernetes.io/blog/2023/02/06/k8s-gcr-io-freeze-announcement
  'k8s.gcr.io': {
    successor: 'registry.k8s.io',
    state:
      'is frozen since 2023-04-03: no new images, and old ones only for as long as its redirect is kept',
    isGone: false,
  },
}

/** A GET of a manifest counts, a HEAD does not; paid accounts have no limit. Source: docs.docker.com/docker-hub/usage/pulls, as read in 2026. */
export const dockerHubLimits = {
  hours: 6,
  /** Per IPv4 address or IPv6 /64. */
  anonymousPulls: 100,
  /** Per user with a personal account. */
  personalPulls: 200,
} as const

/** Names that all mean Docker Hub. Source: distribution/reference normalize.go; docker.io's own API endpoint. */
export const dockerHubHosts: ReadonlySet<string> = new Set([
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
])

/**
 * Private ECR registries. A pull needs a token of the node's role. Only the kubelet has a plugin for it, so containerd alone is refused.
 * Source: awslabs/amazon-eks-ami nodeadm/internal/kubelet image-credential-provider matchImages.
 */
const privateEcr =
  /^\d{12}\.dkr[.-]ecr(-fips)?\.[a-z0-9-]+\.(amazonaws\.com|amazonaws\.com\.cn|on\.aws|on\.amazonwebservices\.com\.cn|c2s\.ic\.gov|sc2s\.sgov\.gov)$/

/** @param registry a host, without its port */
export const needsKubeletCredentials = (registry: string): boolean => privateEcr.test(registry)
