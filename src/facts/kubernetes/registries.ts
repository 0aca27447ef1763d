/** Image registries that are gone, frozen, or count their pulls. */

export interface EndedRegistry {
  successor: string
  /** What a pull from it meets today. */
  state: string
  /** False where copies of old images still answer under another name. */
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

/** docs.docker.com/docker-hub/usage/pulls, as read in 2026: paid accounts have no limit. A GET of a manifest counts, a HEAD does not. */
export const dockerHubLimits = {
  hours: 6,
  /** For each IPv4 address or IPv6 /64. */
  anonymousPulls: 100,
  /** For each user with a personal account. */
  personalPulls: 200,
} as const

/** Names that all mean Docker Hub. Source: distribution/reference normalize.go; docker.io's own API endpoint. */
export const dockerHubHosts: ReadonlySet<string> = new Set([
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
])

/**
 * Private ECR: a pull needs a token of the node's role, for which only the kubelet has a plugin; containerd alone is refused.
 * Source: awslabs/amazon-eks-ami nodeadm/internal/kubelet image-credential-provider matchImages.
 */
const privateEcr =
  /^\d{12}\.dkr[.-]ecr(-fips)?\.[a-z0-9-]+\.(amazonaws\.com|amazonaws\.com\.cn|on\.aws|on\.amazonwebservices\.com\.cn|c2s\.ic\.gov|sc2s\.sgov\.gov)$/

/** @param registry a host, without its port */
export const needsKubeletCredentials = (registry: string): boolean => privateEcr.test(registry)
