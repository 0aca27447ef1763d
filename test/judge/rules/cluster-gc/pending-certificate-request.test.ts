import { pendingCertificateRequest } from '#judge/rules/cluster-gc/pending-certificate-request.ts'
import type { CertificateRequest } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

/** A kubelet asks these for nothing but its own one certificate. Source: k8s.io/api/certificates/v1 KubeletServingSignerName, KubeAPIServerClientKubeletSignerName. */
const kubeletServing = 'kubernetes.io/kubelet-serving'

const request = (state: CertificateRequest['state'], hoursAgo: number): CertificateRequest => ({
  ...{
    name: 'csr-4x2lp',
    signer: kubeletServing,
    requestor: 'system:node:ip-10-0-1-2.ec2.internal',
  },
  ...{
    createdMs: hoursBefore(hoursAgo),
    state,
    sinceMs: hoursBefore(hoursAgo),
    overdue: null,
    isNeverCollected: false,
  },
})

itJudgesExamples(pendingCertificateRequest, {
  bad: { certificates: { requests: [request('pending', 5)] } },
  good: { certificates: { requests: [request('pending', 0.1), request('issued', 5)] } },
})
