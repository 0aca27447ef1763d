import { describe, expect, it } from 'vitest'
import { pendingCertificateRequest } from '#judge/rules/cluster-gc/pending-certificate-request.ts'
import type { CertificateRequest } from '#model/cluster-garbage.ts'
import { type ClusterExample, hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings } from '#test/rules/cluster-garbage.ts'

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

describe('certificate requests', () => {
  const request = (more: Partial<CertificateRequest>): ClusterExample => ({
    certificates: {
      requests: [
        {
          ...{
            name: 'csr',
            signer: 'kubernetes.io/kubelet-serving',
            requestor: 'system:node:a',
            createdMs: 0,
            state: 'pending',
          },
          ...{ sinceMs: hoursBefore(5), overdue: null, isNeverCollected: false },
          ...more,
        },
      ],
    },
  })
  it.each([
    ['pending for an hour', { sinceMs: hoursBefore(1) }, 'medium'],
    ['pending for less', { sinceMs: hoursBefore(1) + 1 }, null],
    ['of another signer', { signer: 'example.com/signer' }, 'low'],
    ['approved, and not issued', { state: 'approved' }, 'medium'],
    ['issued', { state: 'issued' }, null],
    ['denied', { state: 'denied' }, null],
  ] as const)('one %s waits: %s', (_, more, severity) => {
    expect(
      failings('pending-certificate-request', request(more)).map(each => each.severity),
    ).toEqual(severity === null ? [] : [severity])
  })

  const among = (...others: Partial<CertificateRequest>[]) => ({
    certificates: {
      requests: [{ name: 'csr', createdMs: hoursBefore(5) }, ...others].flatMap(
        more => request(more).certificates?.requests ?? [],
      ),
    },
  })
  const issued = {
    name: 'later',
    state: 'issued',
    createdMs: hoursBefore(0.5),
    sinceMs: hoursBefore(0.4),
  } as const
  it.each([
    ['got it since', issued, 0],
    ['got one before', { ...issued, createdMs: hoursBefore(6) }, 1],
    ['was denied since', { ...issued, state: 'denied' }, 1],
    [
      'got one of another signer',
      { ...issued, signer: 'kubernetes.io/kube-apiserver-client-kubelet' },
      1,
    ],
    ['is not the node that got it', { ...issued, requestor: 'system:node:b' }, 1],
  ] as const)('one is waited for unless its node %s', (_, later, count) => {
    expect(failings('pending-certificate-request', among(later))).toHaveLength(count)
  })

  it('of who asks for many under one name all wait', () => {
    const many = { requestor: 'system:serviceaccount:certs:agent', createdMs: hoursBefore(5) }
    const [found] = failings('pending-certificate-request', {
      certificates: {
        requests: among(
          { ...many, name: 'other' },
          { ...issued, ...many, createdMs: hoursBefore(1) },
        ).certificates.requests,
      },
    })
    expect(found?.count).toBe(2)
  })

  it.each([
    ['that the cleaner has passed over', { overdue: 'denied-past-deadline' }, 1],
    [
      'that no cleaner takes, old enough',
      { state: 'approved', isNeverCollected: true, sinceMs: hoursBefore(24) },
      1,
    ],
    [
      'that no cleaner takes, and is new',
      { state: 'approved', isNeverCollected: true, sinceMs: hoursBefore(24) + 1 },
      0,
    ],
    ['that it will take', { state: 'denied' }, 0],
  ] as const)('one %s stays', (_, more, count) => {
    expect(failings('uncollected-certificate-request', request(more))).toHaveLength(count)
  })
})
