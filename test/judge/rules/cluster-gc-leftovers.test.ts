/** The boundaries of the rules on volumes, certificate requests, owners, finalizers and the account. */
import { describe, expect, it } from 'vitest'
import { judgeCluster } from '#judge/cluster-rules.ts'
import type { ClusterRule } from '#judge/rule.ts'
import { rules } from '#judge/rules/index.ts'
import type {
  CertificateRequest,
  HeldFinalizer,
  HeldObject,
  HeldVolumeObject,
  OwnerGarbage,
  ReleasedVolume,
} from '#model/cluster-garbage.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type ClusterExample, exampleCluster, hoursBefore } from '#test/example-cluster.ts'

function judged(id: string, example: ClusterExample, policy = defaultPolicy) {
  const rule = rules.find((each): each is ClusterRule => each.kind === 'cluster' && each.id === id)
  if (!rule) throw new Error(`no rule ${id}`)
  return judgeCluster(rule, exampleCluster(example), policy)
}
const failings = (...of: Parameters<typeof judged>) => judged(...of).failings
const valueIn = (id: string, example: ClusterExample, what: string) =>
  failings(id, example)[0]?.evidence.find(each => each.what === what)?.value

const volume = (more: Partial<ReleasedVolume>): ReleasedVolume => ({
  ...{
    volume: 'pv',
    claim: 'shop/data',
    storageClass: 'gp3',
    reclaimPolicy: 'Retain',
    action: 'retain',
    capacityBytes: 2 ** 30,
  },
  ...{
    driver: 'ebs.csi.aws.com',
    handle: 'vol-1',
    volumeType: null,
    sinceMs: hoursBefore(100),
    createdMs: hoursBefore(2000),
  },
  isBeingDeleted: false,
  ...more,
})
const volumes = (...released: ReleasedVolume[]) => ({ volumes: { released, held: [] } })

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

describe('released-volume', () => {
  it.each([
    ['released exactly so long ago', { sinceMs: hoursBefore(24) }, true],
    ['released a moment later', { sinceMs: hoursBefore(24) + 1 }, false],
    ['of which nobody knows since when, made long ago', { sinceMs: null }, true],
    [
      'of which nobody knows since when, made exactly so long ago',
      { sinceMs: null, createdMs: hoursBefore(24) },
      true,
    ],
    [
      'of which nobody knows since when, made later',
      { sinceMs: null, createdMs: hoursBefore(24) + 1 },
      false,
    ],
    ['of which nobody knows anything', { sinceMs: null, createdMs: null }, true],
    ['that its driver deletes', { action: 'leave-to-driver' }, false],
    ['that somebody has deleted: that is told elsewhere', { isBeingDeleted: true }, false],
  ] as const)('one %s', (_, more, fails) => {
    expect(failings('released-volume', volumes(volume(more)))).toHaveLength(fails ? 1 : 0)
  })

  it.each([
    ['the type that its driver makes', {}, 'about 8.00 USD a month'],
    ['a type', { volumeType: 'gp2' }, 'about 10 USD a month'],
    ['a type that has no known price', { volumeType: 'gp9' }, undefined],
    ['a name of every object', { volumeType: 'constructor' }, undefined],
    ['another driver', { driver: 'efs.csi.aws.com' }, undefined],
    ['no capacity', { capacityBytes: null }, undefined],
  ] as const)('costs by %s', (_, more, cost) => {
    const given = volumes(volume({ capacityBytes: 100 * 2 ** 30, ...more }))
    expect(valueIn('released-volume', given, 'cost of EBS at list price of us-east-1')).toBe(cost)
  })

  it.each([
    ['type', { volumeType: 'gp9' }, '1: size or price is not known'],
    ['size', { capacityBytes: null }, '1: size or price is not known'],
    ['driver', { driver: 'efs.csi.aws.com' }, undefined],
  ] as const)('says how many of EBS its cost leaves out: one of another %s', (_, more, value) => {
    expect(
      valueIn('released-volume', volumes(volume({}), volume(more)), 'of EBS, and not in the cost'),
    ).toBe(value)
  })

  it('is one for each namespace that had the claims, and the cluster’s where no claim is named', () => {
    const found = failings(
      'released-volume',
      volumes(
        volume({}),
        volume({ claim: 'a/x' }),
        volume({ claim: null }),
        volume({ volume: 'b' }),
      ),
    )
    expect(found.map(({ subject, count }) => [subject.kind, subject.name, count])).toEqual([
      ['Cluster', 'prod', 1],
      ['Namespace', 'a', 1],
      ['Namespace', 'shop', 2],
    ])
  })
})

describe('volume-not-deleted', () => {
  it.each([
    ['its driver', { action: 'leave-to-driver' }, 'ebs.csi.aws.com has not done it'],
    [
      'nobody',
      { action: 'fail', driver: 'nfs.csi.k8s.io' },
      'nothing in this cluster can delete such a volume',
    ],
  ] as const)('names %s', (_, more, words) => {
    expect(failings('volume-not-deleted', volumes(volume(more)))[0]?.consequence).toContain(words)
  })
})

describe('volumes of which nobody says since when they are released', () => {
  it.each([
    ['released-volume', 'retain'],
    ['volume-not-deleted', 'leave-to-driver'],
  ] as const)('are found by %s, and no more than likely', (id, action) => {
    const untold = volume({ action, sinceMs: null })
    const [found] = failings(id, volumes(untold))
    expect(found?.confidence).toBe('likely')
    expect(valueIn(id, volumes(untold), 'since when is not known')).toMatchSnapshot()
    expect(valueIn(id, volumes(untold), 'first of these was made')).toMatch(/^83 days ago/)
    const [both] = failings(id, volumes(untold, volume({ action, volume: 'told' })))
    expect([both?.count, both?.confidence]).toEqual([2, undefined])
    expect(
      failings(id, volumes(volume({ action })))[0]?.evidence.map(({ what }) => what),
    ).not.toContain('since when is not known')
  })
})

describe('volume-held-in-deletion', () => {
  const protection = (kind: 'pv' | 'pvc'): HeldFinalizer => ({
    ...{
      finalizer: `kubernetes.io/${kind}-protection`,
      controller: 'the volume protection controller',
      state: 'control-plane',
    },
  })
  const attacher = {
    finalizer: 'external-attacher/ebs-csi-aws-com',
    controller: "the EBS CSI driver's controller",
  }
  const held = (more: Partial<HeldVolumeObject>) => ({
    volumes: {
      ...volumes().volumes,
      held: [
        {
          namespace: 'shop',
          name: 'data',
          sinceMs: hoursBefore(30),
          finalizers: [protection('pvc')],
          usedBy: null,
          ...more,
        },
      ],
    },
  })
  it.each([
    ['pods that use it', { usedBy: ['shop/a', 'shop/b'] }, 'still used by pods: shop/a, shop/b'],
    ['that pods are not known', {}, 'which pods use it is not known'],
    ['that nobody uses it', { usedBy: [] }, 'nothing that is known uses it'],
    [
      'another finalizer',
      { finalizers: [{ finalizer: 'x/y', controller: null, state: 'unknown' }], usedBy: [] },
      'no known controller removes the finalizer x/y',
    ],
    [
      'whose finalizer it is, and that he is not there',
      { finalizers: [protection('pv'), { ...attacher, state: 'absent' }], usedBy: [] },
      "the finalizer external-attacher/ebs-csi-aws-com is for the EBS CSI driver's controller, and nothing in this cluster is called like it",
    ],
    [
      'whose finalizer it is, and that he is there',
      { finalizers: [{ ...attacher, state: 'there' }], usedBy: [] },
      "the EBS CSI driver's controller has not taken away the finalizer external-attacher/ebs-csi-aws-com",
    ],
    [
      'a claim',
      { namespace: '', finalizers: [protection('pv')], usedBy: ['shop/data'] },
      'still bound to shop/data',
    ],
  ] as const)('says %s', (_, more, words) => {
    expect(failings('volume-held-in-deletion', held(more))[0]?.consequence).toContain(words)
  })
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

describe('owners', () => {
  const owners = (more: Partial<OwnerGarbage>) => ({
    owners: { dangling: [], blocked: [], orphaned: [], ...more },
  })
  const group = {
    kind: 'ConfigMap',
    namespace: 'shop',
    count: 12,
    names: ['a', 'b', 'c', 'd', 'e'],
    createdMs: hoursBefore(24),
  }

  it('count all that are alike, and name the first', () => {
    const [found] = failings(
      'dangling-owner',
      owners({
        dangling: [
          { ...group, owner: 'Deployment cart', isReplaced: false, confidence: 'certain' },
        ],
      }),
    )
    expect(found).toMatchObject({
      count: 12,
      evidence: [{ value: 'ConfigMap a, b, c, d, e and 7 more' }, { value: '0' }, {}],
    })
    const young = {
      ...group,
      createdMs: hoursBefore(24) + 1,
      owner: 'Deployment cart',
      isReplaced: false,
      confidence: 'certain',
    } as const
    expect(failings('dangling-owner', owners({ dangling: [young] }))).toEqual([])
  })

  it('that are pods are no more than likely to be gone', () => {
    const certain = {
      ...group,
      owner: 'Job import',
      isReplaced: false,
      confidence: 'certain',
    } as const
    const likely = { ...certain, owner: 'Pod import-1', confidence: 'likely' } as const
    const what = 'owned by pods, which are read before and not all where their node is gone'
    const of = (...dangling: OwnerGarbage['dangling']) =>
      failings('dangling-owner', owners({ dangling }))[0]
    expect(of(likely)?.confidence).toBe('likely')
    expect(of(likely, certain)).not.toHaveProperty('confidence')
    expect(of(certain)).not.toHaveProperty('confidence')
    const values = [[likely], [likely, certain], [certain]].map(each =>
      valueIn('dangling-owner', owners({ dangling: each }), what),
    )
    expect(values).toEqual(['12', '12', undefined])
  })

  it('that wait name the first dependent that is known; where none is, nobody knows for what', () => {
    const unknown = {
      kind: 'CronJob',
      namespace: 'shop',
      name: 'a',
      sinceMs: hoursBefore(30),
      dependents: [],
    }
    const known = { ...unknown, kind: 'Deployment', name: 'cart', dependents: [group] }
    const [one] = failings('blocked-foreground-deletion', owners({ blocked: [unknown] }))
    expect(one).toMatchObject({
      confidence: 'likely',
      evidence: [
        { kind: 'object', what: 'CronJob a waits for', value: 'nothing that was listed' },
        {},
      ],
    })
    expect(one?.consequence).toMatchSnapshot()
    const [both] = failings('blocked-foreground-deletion', owners({ blocked: [unknown, known] }))
    expect(both).not.toHaveProperty('confidence')
    expect(both?.consequence).toMatchSnapshot()
    expect(both?.commands).toMatchSnapshot()
  })
})

describe('stuck-finalizer', () => {
  const held = (finalizers: HeldObject['finalizers'], more: Partial<HeldObject> = {}) => ({
    finalizers: {
      held: [
        {
          resource: 'nodes',
          kind: 'Node',
          namespace: '',
          name: 'ip-1',
          sinceMs: hoursBefore(30),
          expiresMs: null,
          finalizers,
          ...more,
        },
      ],
    },
  })
  const karpenter = { finalizer: 'karpenter.sh/termination', controller: 'Karpenter' }
  it.each([
    ['absent', 'is for Karpenter, and nothing in this cluster is called like it'],
    ['stopped', 'which is scaled to zero'],
    ['there', 'Karpenter has not taken away'],
    ['unknown', 'Karpenter has not taken away'],
  ] as const)('says of a controller that is %s what is known', (state, words) => {
    const [found] = failings('stuck-finalizer', held([{ ...karpenter, state }]))
    expect(found?.consequence).toContain(words)
    expect([found?.subject.kind, found?.commands]).toMatchSnapshot()
  })

  it.each([
    ['not over', hoursBefore(-5), 1],
    ['over, but the TTL controller may still come', hoursBefore(1), 1],
    ['long over: that is for its own rule', hoursBefore(2), 0],
    ['none', null, 1],
  ])('speaks of a Job whose time to live is %s', (_, expiresMs, count) => {
    const job = { resource: 'jobs.batch', kind: 'Job', namespace: 'ci', name: 'j', expiresMs }
    expect(
      failings('stuck-finalizer', held([{ ...karpenter, state: 'absent' }], job)),
    ).toHaveLength(count)
  })

  it('leaves what another rule tells to it, where somebody asks that', () => {
    const unknown = { finalizer: 'example.com/keep', controller: null, state: 'unknown' } as const
    const job = held([unknown], {
      resource: 'jobs.batch',
      kind: 'Job',
      namespace: 'ci',
      name: 'j',
      expiresMs: hoursBefore(20),
    })
    const waiting = held([
      {
        finalizer: 'foregroundDeletion',
        controller: 'the garbage collector',
        state: 'control-plane',
      },
    ])
    const alone = {
      ...defaultPolicy,
      clusterGarbage: { ...defaultPolicy.clusterGarbage, kinds: ['finalizers' as const] },
    }
    for (const more of [job, waiting]) {
      expect(failings('stuck-finalizer', more)).toEqual([])
      expect(failings('stuck-finalizer', more, alone)).toHaveLength(1)
    }
  })

  it('leaves a deletion in the foreground to its own rule', () => {
    const waiting = {
      finalizer: 'foregroundDeletion',
      controller: 'the garbage collector',
      state: 'control-plane',
    } as const
    expect(failings('stuck-finalizer', held([waiting]))).toEqual([])
    expect(
      failings('stuck-finalizer', held([waiting, { ...karpenter, state: 'absent' }])),
    ).toHaveLength(1)
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
  const told = (...unattached: (typeof disk | Record<string, unknown>)[]) =>
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
    expect(told(...disks)?.consequence).toContain(words)
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
        told({ capacityBytes: 10 * 2 ** 30, ...more })?.evidence.map(({ what, value }) => [
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
