/** The boundaries of the rules on volumes, certificate requests, owners, finalizers and the account. */

import { describe, expect, it } from 'vitest'
import type { CertificateRequest } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { failings, judged, valueIn } from '#test/rules/cluster-gc-leftovers.ts'

describe('a version of the control plane that nobody told', () => {
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

describe('the account', () => {
  const none = { iops: null, throughputMiBps: null, volume: null, zone: null }
  const disk = {
    volumeId: "vol-1'; rm",
    capacityBytes: null,
    volumeType: null,
    createdMs: hoursBefore(24),
    ...none,
  }
  const evidenceText = (...unattached: (typeof disk | Record<string, unknown>)[]) =>
    failings('unattached-disk', {
      disks: { unattached: unattached.map(more => ({ ...disk, ...more })), areVolumesKnown: true },
    })[0]
  it.each([
    [[{}], 'attached to nothing, and no PersistentVolume names it.'],
    [
      [{ volume: 'pv' }],
      'attached to nothing, and no claim has the PersistentVolume that names it.',
    ],
    [
      [{ volume: 'a' }, { volume: 'b' }],
      'attached to nothing, and no claim has the 2 PersistentVolumes that name them.',
    ],
    [
      [{ volume: 'a' }, {}],
      'attached to nothing, and no PersistentVolume names them, but 1, which no claim has.',
    ],
  ])('says of disks %j who has them', (disks, words) => {
    expect(evidenceText(...disks)?.consequence).toContain(words)
  })

  it.each([
    [{ volumeType: 'io2', iops: 64_000 }, 'about 3553 USD a month', false],
    [{ volumeType: 'io2' }, 'about 1.25 USD a month', true],
    [{ volumeType: 'st1' }, 'about 0.45 USD a month', false],
    [{ volumeType: 'new9' }, undefined, false],
  ])(
    'prices %j with what was provisioned, and says of how many that is not known',
    (more, cost, isBySize) => {
      const evidence = new Map(
        evidenceText({ capacityBytes: 10 * 2 ** 30, ...more })?.evidence.map(({ what, value }) => [
          what,
          value,
        ]),
      )
      expect(evidence.get('cost of EBS at list price of us-east-1')).toBe(cost)
      expect(evidence.get('of EBS, and in the cost by size alone')).toBe(
        isBySize ? '1: IOPS and throughput are not known' : undefined,
      )
    },
  )

  it('loses no disk as long as a volume may name it', () => {
    expect(
      judged('unattached-disk', { disks: { unattached: [disk], areVolumesKnown: false } }).outcome
        .state,
    ).toBe('unknown')
    expect(
      judged('unattached-disk', { disks: { unattached: [], areVolumesKnown: false } }).outcome
        .state,
    ).toBe('pass')
  })

  it('is asked by commands that a shell reads as words, whatever a snapshot says', () => {
    const [found] = failings('unattached-disk', {
      disks: { unattached: [disk], areVolumesKnown: true },
    })
    expect(found?.commands).toMatchSnapshot()
  })
})
