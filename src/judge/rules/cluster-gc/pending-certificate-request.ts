import {
  ageEvidence,
  describe,
  garbageIn,
  inGroups,
  isOld,
  leftHours,
  nameList,
} from '#judge/garbage/garbage.ts'
import { clusterRule, line, plural } from '#judge/rule.ts'
import type { CertificateRequest } from '#model/cluster-garbage.ts'

/** A kubelet requests only its own certificate from these signers. Source: k8s.io/api/certificates/v1 KubeletServingSignerName, KubeAPIServerClientKubeletSignerName. */
const kubeletServing = 'kubernetes.io/kubelet-serving'
const kubeletSigners: ReadonlySet<string> = new Set([
  kubeletServing,
  'kubernetes.io/kube-apiserver-client-kubelet',
])
/** Only node users count: bootstrap tokens request certificates of many nodes under one name. Source: pkg/auth/nodeidentifier/default.go. */
const nodeUserPrefix = 'system:node:'

/** Names of requests whose kubelet got its certificate by a later request. */
function supersededRequests(requests: readonly CertificateRequest[]): ReadonlySet<string> {
  const ofKubelets = requests.filter(
    ({ signer, requestor }) => kubeletSigners.has(signer) && requestor.startsWith(nodeUserPrefix),
  )
  const issuedMs = new Map<string, number>()
  for (const request of ofKubelets) {
    const known = issuedMs.get(keyOf(request)) ?? -Infinity
    if (request.state === 'issued' && request.createdMs !== null)
      issuedMs.set(keyOf(request), Math.max(known, request.createdMs))
  }
  const isSuperseded = (request: CertificateRequest) =>
    request.state !== 'issued' &&
    request.createdMs !== null &&
    request.createdMs < (issuedMs.get(keyOf(request)) ?? -Infinity)
  return new Set(ofKubelets.filter(isSuperseded).map(({ name }) => name))
}

const keyOf = ({ signer, requestor }: CertificateRequest) => `${signer} ${requestor}`

export const pendingCertificateRequest = clusterRule({
  id: 'pending-certificate-request',
  severity: 'medium',
  needs: ['certificates'],
  fate: 'late',
  title: 'Certificate signing requests stay pending',
  why: 'A controller or a user approves a request, then its signer issues the certificate. Without that, the requestor repeats the request: a kubelet without a serving certificate cannot serve logs, exec and metrics, and each attempt leaves one more request until the cleaner deletes it after a day.',
  fix: 'Look for the approver of that signer. EKS approves kubelet-serving only of nodes that it knows, for names and addresses that they have: compare the request with its node.',
  sources: [
    'pkg/controller/certificates/cleaner/cleaner.go isPendingPastDeadline',
    'pkg/kubelet/certificate/kubelet.go NewKubeletServerCertificateManager',
  ],

  *judge({ cluster, at, certificates: { requests } }) {
    const superseded = supersededRequests(requests)
    const left = requests.filter(
      ({ name, state, sinceMs }) =>
        (state === 'pending' || state === 'approved') &&
        !superseded.has(name) &&
        isOld(sinceMs, at, leftHours.pendingRequest),
    )
    yield* garbageIn(cluster, 'certificate request', left, found => {
      const pending = found.filter(({ state }) => state === 'pending').length
      const serving = found.filter(({ signer }) => signer === kubeletServing)
      const kubelets = new Set(serving.map(({ requestor }) => requestor)).size
      const requestors = [...new Set(found.map(({ requestor }) => requestor))].toSorted()
      return {
        severity: serving.length > 0 ? 'medium' : 'low',
        consequence: `${plural(found.length, 'certificate request')}: ${pending} not approved, ${found.length - pending} approved and not issued.${serving.length > 0 ? ` Of ${plural(kubelets, 'kubelet')} no serving certificate is issued, so logs, exec and metrics may not reach ${serving.length === 1 ? 'it' : 'them'}.` : ''}`,
        evidence: [
          ...inGroups(found, ({ signer }) => signer)
            .slice(0, 5)
            .map(([signer, { length }]) =>
              line('object', `signer ${signer}`, plural(length, 'request')),
            ),
          line('object', 'asked by', nameList(requestors.map(name => ({ name })))),
          ...ageEvidence(found, 'sinceMs', at, 'longest'),
          line('object', 'requests', nameList(found)),
        ],
        commands: [describe('csr', found[0])],
      }
    })
  },
})
