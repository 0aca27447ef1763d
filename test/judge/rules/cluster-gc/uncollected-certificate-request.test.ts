import { describe, expect, it } from 'vitest'
import { uncollectedCertificateRequest } from '#judge/rules/cluster-gc/uncollected-certificate-request.ts'
import type { CertificateRequest } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, valueIn } from '#test/rules/cluster-garbage.ts'

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

describe('an unknown version of the control plane', () => {
  const request = (
    state: CertificateRequest['state'],
    overdue: string | null,
  ): CertificateRequest => ({
    ...{
      name: 'csr',
      signer: 's',
      requestor: 'r',
      createdMs: hoursBefore(100),
      sinceMs: hoursBefore(100),
    },
    ...{ state, overdue, isNeverCollected: overdue === null },
  })
  const assumed = { version: 'v1.34.1', isAssumed: true }
  it.each([
    [
      'uncollected-certificate-request',
      { certificates: { requests: [request('approved', null)] } },
      'likely',
    ],
    [
      'uncollected-certificate-request',
      { certificates: { requests: [request('approved', 'approved-unissued-past-deadline')] } },
      'likely',
    ],
    [
      'uncollected-certificate-request',
      { certificates: { requests: [request('denied', 'denied-past-deadline')] } },
      undefined,
    ],
  ] as const)('leaves nothing certain that hangs on it: %s %j', (rule, example, confidence) => {
    const what = 'version of the control plane'
    expect(failings(rule, example)[0]).not.toHaveProperty('confidence')
    expect(failings(rule, { ...example, controlPlane: assumed })[0]?.confidence).toBe(confidence)
    expect(valueIn(rule, { ...example, controlPlane: assumed }, what)).toBe(
      confidence && 'not known, assumed that of the newest kubelet: v1.34.1',
    )
    expect(valueIn(rule, { ...example, controlPlane: { ...assumed, version: null } }, what)).toBe(
      confidence && 'not known, the newest is assumed',
    )
    expect(valueIn(rule, example, what)).toBeUndefined()
  })
})
