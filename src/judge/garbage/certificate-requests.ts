/** Requests that nobody waits for any more. */
import type { CertificateRequest } from '#model/cluster-garbage.ts'

/** A kubelet asks these for nothing but its own one certificate. Source: k8s.io/api/certificates/v1 KubeletServingSignerName, KubeAPIServerClientKubeletSignerName. */
export const kubeletServing = 'kubernetes.io/kubelet-serving'
const kubeletSigners: ReadonlySet<string> = new Set([
  kubeletServing,
  'kubernetes.io/kube-apiserver-client-kubelet',
])
/** Those who bootstrap nodes ask for many, under one name. Source: pkg/auth/nodeidentifier/default.go. */
const nodeUserPrefix = 'system:node:'

/** Names of requests of which a kubelet has made another later, and got its certificate. */
export function supersededRequests(requests: readonly CertificateRequest[]): ReadonlySet<string> {
  const asked = requests.filter(
    ({ signer, requestor }) => kubeletSigners.has(signer) && requestor.startsWith(nodeUserPrefix),
  )
  const issuedMs = new Map<string, number>()
  for (const request of asked) {
    const known = issuedMs.get(keyOf(request)) ?? -Infinity
    if (request.state === 'issued' && request.createdMs !== null)
      issuedMs.set(keyOf(request), Math.max(known, request.createdMs))
  }
  const isSuperseded = (request: CertificateRequest) =>
    request.state !== 'issued' &&
    request.createdMs !== null &&
    request.createdMs < (issuedMs.get(keyOf(request)) ?? -Infinity)
  return new Set(asked.filter(isSuperseded).map(({ name }) => name))
}

const keyOf = ({ signer, requestor }: CertificateRequest): string => `${signer} ${requestor}`
