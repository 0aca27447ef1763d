import { uncollectedCertificateRequest } from '#judge/rules/cluster-gc/uncollected-certificate-request.ts'
import type { CertificateRequest } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const request = (overdue: string | null): CertificateRequest => ({
  ...{
    name: 'csr-9k3vd',
    signer: 'kubernetes.io/kube-apiserver-client-kubelet',
    requestor: 'system:bootstrap:0a1b2c',
  },
  ...{
    createdMs: hoursBefore(20),
    state: 'issued',
    sinceMs: hoursBefore(20),
    overdue,
    isNeverCollected: false,
  },
})

itJudgesExamples(uncollectedCertificateRequest, {
  bad: { certificates: { requests: [request('issued-past-deadline')] } },
  good: { certificates: { requests: [request(null)] } },
})
