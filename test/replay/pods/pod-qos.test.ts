import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { podQosClass } from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf } from '#test/at-the-door.ts'

interface Resources {
  requests?: Record<string, string>
  limits?: Record<string, string>
}
interface Manifest {
  containers?: (Resources | null)[]
  initContainers?: (Resources | null)[]
  resources?: Resources
  qosClass?: string
}

function qosOf(
  { containers = [], initContainers = [], resources, qosClass }: Manifest,
  version = 'v1.34.4',
  gates?: Record<string, boolean>,
) {
  const containersOf = (all: (Resources | null)[]) =>
    all.map((given, index) => ({ name: `c${index}`, resources: given }))
  const spec = {
    containers: containersOf(containers),
    initContainers: containersOf(initContainers),
    resources,
  }
  const pod = podOf({ metadata: { name: 'p' }, spec, status: { qosClass } })
  return pod && podQosClass(pod, kubeletOf(version, gates ?? null))
}

const both = (cpu: string, memory: string): Resources => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
})
const everyMinor = Array.from({ length: 14 }, (_, index) => `v1.${24 + index}.0`)

describe.each(everyMinor)('podQosClass of %s', version => {
  it.each<{ what: string; pod: Manifest; is: string }>([
    { what: 'nothing asked for', pod: { containers: [null] }, is: 'BestEffort' },
    { what: 'no containers at all', pod: {}, is: 'BestEffort' },
    { what: 'zeros', pod: { containers: [both('0', '0')] }, is: 'BestEffort' },
    {
      what: 'only ephemeral-storage',
      pod: { containers: [{ requests: { 'ephemeral-storage': '1Gi' } }] },
      is: 'BestEffort',
    },
    { what: 'limits equal to requests', pod: { containers: [both('1', '1Gi')] }, is: 'Guaranteed' },
    {
      what: 'the same in other words',
      pod: { containers: [{ ...both('1', '1Gi'), requests: { cpu: '1000m', memory: '1024Mi' } }] },
      is: 'Guaranteed',
    },
    {
      what: 'init containers too',
      pod: { containers: [both('1', '1Gi')], initContainers: [both('2', '2Gi')] },
      is: 'Guaranteed',
    },
    {
      what: 'an init container without',
      pod: { containers: [both('1', '1Gi')], initContainers: [null] },
      is: 'Burstable',
    },
    {
      what: 'one container without',
      pod: { containers: [both('1', '1Gi'), null] },
      is: 'Burstable',
    },
    {
      what: 'no cpu',
      pod: { containers: [{ requests: { memory: '1Gi' }, limits: { memory: '1Gi' } }] },
      is: 'Burstable',
    },
    {
      what: 'no memory',
      pod: { containers: [{ requests: { cpu: '1' }, limits: { cpu: '1' } }] },
      is: 'Burstable',
    },
    {
      what: 'limits above requests',
      pod: { containers: [{ ...both('1', '2Gi'), requests: { cpu: '1', memory: '1Gi' } }] },
      is: 'Burstable',
    },
    {
      what: 'requests only',
      pod: { containers: [{ requests: { cpu: '1', memory: '1Gi' } }] },
      is: 'Burstable',
    },
    {
      what: 'limits only',
      pod: { containers: [{ limits: { cpu: '1', memory: '1Gi' } }] },
      is: 'Burstable',
    },
    {
      what: 'a limit of zero beside others',
      pod: { containers: [both('1', '1Gi'), both('1', '0')] },
      is: 'Burstable',
    },
  ])('$what: $is', ({ pod, is }) => {
    expect(qosOf(pod, version)).toBe(is)
  })
})

describe('podQosClass by version', () => {
  it.each([
    ['v1.29.0', 'Guaranteed'],
    ['v1.37.0', 'Guaranteed'],
  ])('%s: with a stored class of Guaranteed it is %s', (version, is) => {
    expect(qosOf({ containers: [null], qosClass: 'Guaranteed' }, version)).toBe(is)
  })

  it('computes it where a stored class is none', () => {
    expect(qosOf({ containers: [both('1', '1Gi')], qosClass: 'Best' })).toBe('Guaranteed')
    expect(qosOf({ containers: [both('1', '1Gi')], qosClass: '' })).toBe('Guaranteed')
  })

  // Sums are equal, containers are not: only a pod that no API server has defaulted can look like this.
  const crossed: Resources[] = [
    { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
    { requests: { cpu: '2', memory: '2Gi' }, limits: { cpu: '1', memory: '1Gi' } },
  ]
  it.each([
    ['v1.36.3', 'Guaranteed'],
    ['v1.37.0', 'Burstable'],
  ])('%s: requests and limits that are equal only in sum make it %s', (version, is) => {
    expect(qosOf({ containers: crossed }, version)).toBe(is)
  })

  it.each<{ version: string; gates: Record<string, boolean>; is: string }>([
    { version: 'v1.31.14', gates: {}, is: 'Burstable' },
    { version: 'v1.32.13', gates: {}, is: 'Burstable' },
    { version: 'v1.32.13', gates: { PodLevelResources: true }, is: 'Guaranteed' },
    { version: 'v1.33.13', gates: {}, is: 'Burstable' },
    { version: 'v1.34.4', gates: {}, is: 'Guaranteed' },
    { version: 'v1.34.4', gates: { PodLevelResources: false }, is: 'Burstable' },
    { version: 'v1.36.3', gates: {}, is: 'Guaranteed' },
    { version: 'v1.37.0', gates: {}, is: 'Guaranteed' },
  ])(
    'trap 38: $version with gates $gates and resources of the whole pod: $is',
    ({ version, gates, is }) => {
      expect(
        qosOf(
          { containers: [{ requests: { cpu: '1' } }], resources: both('2', '2Gi') },
          version,
          gates,
        ),
      ).toBe(is)
    },
  )

  it.each<{ version: string; resources: Resources; is: string }>([
    { version: 'v1.34.4', resources: {}, is: 'BestEffort' },
    { version: 'v1.36.3', resources: { requests: { 'example.com/gpu': '1' } }, is: 'BestEffort' },
    { version: 'v1.37.0', resources: {}, is: 'Guaranteed' },
    { version: 'v1.37.0', resources: { requests: { 'example.com/gpu': '1' } }, is: 'Guaranteed' },
    { version: 'v1.37.0', resources: { limits: { 'hugepages-2Mi': '2Mi' } }, is: 'BestEffort' },
    { version: 'v1.37.0', resources: { requests: { cpu: '1' } }, is: 'Burstable' },
    { version: 'v1.37.0', resources: { limits: { memory: '1Gi' } }, is: 'Burstable' },
  ])(
    '$version: $resources of the pod hide those of its containers or not: $is',
    ({ version, resources, is }) => {
      expect(qosOf({ containers: [both('1', '1Gi')], resources }, version)).toBe(is)
    },
  )
})

it('looks at empty resources of the whole pod again with the gate of 1.37 off', () => {
  const pod = { containers: [both('1', '1Gi')], resources: {} }
  expect(qosOf(pod, 'v1.37.0', { PodLevelResourcesFixKubeletQOSClass: false })).toBe('BestEffort')
})

it('never throws, whatever the manifest', () => {
  const quantity = fc.oneof(fc.constantFrom('1', '500m', '-1', '1Gi', '0', '1e30'), fc.string())
  const list = fc.dictionary(fc.constantFrom('cpu', 'memory', 'hugepages-2Mi', 'x'), quantity)
  const resources = fc.record({ requests: list, limits: list })
  const manifest = fc.record({
    containers: fc.array(resources),
    initContainers: fc.array(resources),
    resources,
  })
  fc.assert(
    fc.property(manifest, fc.constantFrom(...everyMinor), (pod, version) => {
      expect(['Guaranteed', 'Burstable', 'BestEffort']).toContain(qosOf(pod, version))
    }),
  )
})
