import { describe, expect, it } from 'vitest'
import {
  agreeOnFixes,
  FixFacts,
  shellOf,
  shellOfImage,
  type Wishes,
} from '#judge/fixes/fix-facts.ts'
import { exampleSubject } from '#test/example.ts'

it.each([
  ['an instance', {}, 'session'],
  ['a hybrid node', { instanceId: null, owner: 'hybrid' }, 'ssh'],
  ['Bottlerocket that is no instance', { instanceId: null, amiFamily: 'Bottlerocket' }, null],
  ['Fargate', { instanceId: null, owner: 'fargate' }, null],
  ['Windows', { instanceId: null, operatingSystem: 'windows' }, null],
  ['an instance of Windows', { operatingSystem: 'windows' }, 'powershell'],
  ['an instance of Bottlerocket', { amiFamily: 'Bottlerocket' }, 'container'],
  ['Auto Mode', { owner: 'auto-mode' }, null],
] as const)('the shell of %s is %j', (_, identity, shell) => {
  const { identity: machine } = exampleSubject({ identity: { instanceId: 'i-0a1b' } })
  expect(shellOf({ ...machine, ...identity })).toBe(shell)
})

it.each([
  ['k3d', undefined, 'K3s v1.31.5+k3s1', 'docker', 'k3d-dev-server-0'],
  [
    'kind',
    'kind://docker/kind/kind-worker',
    'Debian GNU/Linux 12 (bookworm)',
    'docker',
    'kind-worker',
  ],
  // A container of somebody else, by the name that the node gave itself.
  ['K3s, named as another container', undefined, 'K3s v1.31.5+k3s1', null, 'vault'],
  ['kind, named as another container', 'kind://docker/x/y', 'Debian GNU/Linux 12', null, 'vault'],
  ['kind on Podman', 'kind://podman/kind/kind-worker', 'Debian GNU/Linux 12 (bookworm)', null],
  ['Talos', undefined, 'Talos (v1.13.2)', 'talos'],
  ['AKS', 'azure:///subscriptions/1/virtualMachines/0', 'Ubuntu 22.04.5 LTS', 'pod'],
  ['GKE', 'gce://project/zone/name', 'Container-Optimized OS from Google', 'pod'],
  ['Windows of AKS', 'azure:///subscriptions/1', 'Windows Server 2022 Datacenter', undefined],
  ['K3s on a host', 'k3s://worker-1', 'Ubuntu 24.04 LTS', undefined],
])('the shell by the image of %s is %4$j', (_, providerID, osImage, shell, name = 'worker-1') => {
  const spec = providerID === undefined ? {} : { providerID }
  expect(shellOfImage({ metadata: { name }, spec, status: { nodeInfo: { osImage } } })).toBe(shell)
})

it.each([
  ['docker.io/library/busybox:1.36', true],
  ['public.ecr.aws/docker/library/alpine:3.20', true],
  [`docker.io/library/debian@sha256:${'0a'.repeat(32)}`, true],
  ['x.example/alpine:1', false],
  ['docker.io/tenant/alpine:1', false],
  ['docker.io/library/tenant/alpine:1', false],
  ['docker.io/library/alpine-tools:1', false],
  ['x.example/docker.io/library/alpine:1', false],
  ['docker.io/library/alpine:1,x.example/a:1', false],
  ['docker.io/library/alpine:1\nx.example/a:1', false],
])('runs %j of a node with its rights: %s', (name, isRun) => {
  const subject = exampleSubject({
    node: {
      spec: { providerID: 'gce://project/zone/name' },
      status: { images: [{ names: ['x.example/app:1'] }, { names: [name] }] },
    },
  })
  const facts = new FixFacts()
  facts.take(subject)
  const node = facts.stepNode(subject.cluster, subject.identity.name, () => undefined)
  expect(node).toMatchObject({ shell: 'pod' })
  expect(node?.shellImage).toBe(isRun ? name : undefined)
})

it.each([
  ['v1.34.1+k3s1', undefined, 'k3s'],
  ['v1.34.1+rke2r1', undefined, 'rke2'],
  ['v1.34.1', 'k3s://worker-1', 'k3s'],
  ['v1.34.1', 'rke2://worker-1', 'rke2'],
  ['v1.34.1', 'aws:///k3s', undefined],
])('the distribution of %s with provider %s is %s', (kubeletVersion, providerID, expected) => {
  const spec = { ...(providerID !== undefined && { providerID }) }
  const subject = exampleSubject({ identity: { kubeletVersion }, node: { spec } })
  const facts = new FixFacts()
  facts.take(subject)
  const node = facts.stepNode(subject.cluster, subject.identity.name, () => undefined)
  expect(node?.distribution).toBe(expected)
})

describe('the instance of a node', () => {
  const [name, instanceId] = ['ip-10-0-1-12.ec2.internal', 'i-0a1b2c3d4e5f60718']
  const taken = (...names: string[]) => {
    const facts = new FixFacts()
    for (const one of names) facts.take(exampleSubject({ identity: { name: one, instanceId } }))
    return facts
  }
  const { cluster } = exampleSubject({})

  it.each([
    ['nothing', undefined],
    ['the name of the node', name],
    ['the name in another domain', 'ip-10-0-1-12.eu-west-1.compute.internal'],
  ])('is commanded where EC2 says %s', (_, dnsName) => {
    expect(taken(name).stepNode(cluster, name, () => dnsName)).toMatchObject({ instanceId })
  })

  it('is commanded where the node is named by it', () => {
    const named = `${instanceId}.ec2.internal`
    const facts = taken(named)
    expect(facts.stepNode(cluster, named, () => 'ip-10-0-1-12.ec2.internal')).toMatchObject({
      instanceId,
    })
  })

  const none = { instanceId: null, hasSessions: false, shell: null }

  it('is not commanded where EC2 says that it is another machine', () => {
    const dnsName = 'ip-10-0-1-21.ec2.internal'
    expect(taken(name).stepNode(cluster, name, () => dnsName)).toMatchObject(none)
  })

  it.each([
    ['Bottlerocket', { amiFamily: 'Bottlerocket' }],
    ['Windows', { operatingSystem: 'windows' }],
  ] as const)('is not commanded by any shell of %s', (_, image) => {
    const facts = new FixFacts()
    facts.take(exampleSubject({ identity: { name, instanceId, ...image } }))
    expect(facts.stepNode(cluster, name, () => name)?.shell).not.toBeNull()
    expect(facts.stepNode(cluster, name, () => 'ip-10-0-1-21.ec2.internal')).toMatchObject(none)
  })

  it('is not commanded where two nodes claim it', () => {
    const facts = taken(name, 'ip-10-0-1-21.ec2.internal')
    expect(facts.stepNode(cluster, name, () => undefined)).toMatchObject(none)
  })

  it('is commanded where a node of another cluster claims it, too', () => {
    const facts = taken(name)
    facts.take({ ...exampleSubject({ identity: { name, instanceId } }), cluster: 'other' })
    expect(facts.stepNode(cluster, name, () => undefined)).toMatchObject({ instanceId })
  })
})

describe('thresholds of several findings', () => {
  const hard = { 'nodefs.available': '1Gi', 'imagefs.available': '1Gi' }
  const finding = (nodes: string[], entries: Record<string, string>, bytes?: number) =>
    ({
      ...{ finding: { family: 'eviction' }, nodes, sizes: [] },
      actions: [{ id: 'set-fields', ...(bytes !== undefined && { bytes }) }],
      wishes: [
        {
          config: { evictionHard: { ...hard, ...entries } },
          fact: { running: { evictionHard: hard } },
        },
      ],
    }) as unknown as Wishes
  const late = finding(['a'], { 'imagefs.available': '5%' }, 13_000_000)
  const hardOf = (own: Wishes) => agreeOnFixes([own, late])[0]?.wishes[0]?.config.evictionHard
  const inodes = { 'nodefs.inodesFree': '5%' }

  it('are set together', () => {
    expect(hardOf(finding(['b'], inodes))).toEqual({
      ...hard,
      ...inodes,
      'imagefs.available': '5%',
    })
    expect(agreeOnFixes([finding(['a'], inodes), late])[1]?.wishes[0]?.config.evictionHard).toEqual(
      { ...{ ...hard, ...inodes, 'imagefs.available': '5%' } },
    )
  })

  it('are apart where one of them evicts at once on the same node', () => {
    expect(hardOf(finding(['a', 'b'], inodes))).toEqual({ ...hard, ...inodes })
    const own = { ...inodes, 'imagefs.available': '5%' }
    expect(hardOf(finding(['a'], own))).toEqual({ ...hard, ...own })
  })

  it('are set together where all of them wait', () => {
    const other = finding(['a'], { 'nodefs.available': '9%' }, 5_000_000)
    expect(hardOf(other)).toEqual({ 'nodefs.available': '9%', 'imagefs.available': '5%' })
  })

  it('wait for nothing that another finding sets now', () => {
    const now = finding(['a'], { 'imagefs.available': '5%' })
    const [agreed] = agreeOnFixes([finding(['a'], inodes), now, late])
    expect(agreed?.wishes[0]?.config.evictionHard).toEqual({
      ...{ ...hard, ...inodes, 'imagefs.available': '5%' },
    })
  })
})
