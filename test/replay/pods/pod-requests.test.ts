import { describe, expect, it } from 'vitest'
import { canonicalText } from '#base/go/quantity.ts'
import {
  ephemeralStorageLimit,
  getResourceRequestQuantity,
  isPodLevelResourcesSet,
} from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf } from '#test/at-the-door.ts'

const storage = 'ephemeral-storage'
const pod = (spec: object) => podOf({ metadata: { name: 'a' }, spec })!
const container = (quantity: string | null, rest: object = {}) => ({
  name: 'c',
  resources:
    quantity === null
      ? {}
      : { requests: { [storage]: quantity, memory: quantity }, limits: { [storage]: quantity } },
  ...rest,
})
const sidecar = (quantity: string | null) => container(quantity, { restartPolicy: 'Always' })

const request = (
  spec: object,
  version: string,
  { resource = storage, gates }: { resource?: string; gates?: Record<string, boolean> } = {},
) =>
  canonicalText(getResourceRequestQuantity(pod(spec), resource, kubeletOf(version, gates ?? null)))
const limit = (spec: object) => {
  const found = ephemeralStorageLimit(pod(spec))
  return found && canonicalText(found)
}

describe('requests and limits of a pod', () => {
  const cases = [
    { what: 'nothing', spec: {}, requests: ['0', '0'], limit: null },
    {
      what: 'the sum',
      spec: { containers: [container('1Gi'), container('2Gi')] },
      requests: ['3Gi', '3Gi'],
      limit: '3Gi',
    },
    {
      what: 'a sum with a gap',
      spec: { containers: [container('1Gi'), container(null)] },
      requests: ['1Gi', '1Gi'],
      limit: '1Gi',
    },
    {
      what: 'a greater init container',
      spec: {
        containers: [container('1Gi')],
        initContainers: [container('3Gi'), container('2Gi')],
      },
      requests: ['3Gi', '3Gi'],
      limit: '3Gi',
    },
    {
      what: 'a lesser init container',
      spec: { containers: [container('3Gi')], initContainers: [container('1Gi'), container(null)] },
      requests: ['3Gi', '3Gi'],
      limit: '3Gi',
    },
    {
      what: 'an init container alone',
      spec: { initContainers: [container('1Gi')] },
      requests: ['1Gi', '1Gi'],
      limit: '1Gi',
    },
    {
      what: 'a restartable init container',
      spec: { containers: [container('2Gi')], initContainers: [sidecar('1Gi')] },
      requests: ['2Gi', '3Gi'],
      limit: '3Gi',
    },
    {
      what: 'an init container after a restartable one',
      spec: { containers: [container('2Gi')], initContainers: [sidecar('1Gi'), container('4Gi')] },
      requests: ['4Gi', '5Gi'],
      limit: '5Gi',
    },
    {
      what: 'an init container before a restartable one',
      spec: {
        containers: [container('2Gi')],
        initContainers: [container('4Gi'), sidecar('1Gi'), sidecar('2Gi')],
      },
      requests: ['4Gi', '5Gi'],
      limit: '5Gi',
    },
    {
      what: 'an init container of nothing after a restartable one',
      spec: { initContainers: [sidecar('1Gi'), container(null), sidecar(null)] },
      requests: ['1Gi', '1Gi'],
      limit: '1Gi',
    },
    {
      what: 'overhead',
      spec: { containers: [container('1Gi')], overhead: { [storage]: '1Mi' } },
      requests: ['1025Mi', '1025Mi'],
      limit: '1025Mi',
    },
    {
      what: 'overhead of nothing',
      spec: { overhead: { [storage]: '1Mi' } },
      requests: ['0', '0'],
      limit: null,
    },
    {
      what: 'overhead of zero',
      spec: { containers: [container('0')], overhead: { [storage]: '1Mi' } },
      requests: ['0', '0'],
      limit: '0',
    },
  ]

  it.each(cases)(
    '$what: requests $requests (1.33, 1.34), limit $limit',
    ({ spec, requests, limit: expected }) => {
      expect([request(spec, 'v1.33.13'), request(spec, 'v1.34.0')]).toEqual(requests)
      expect(limit(spec)).toBe(expected)
    },
  )

  it('takes an init container that needs one byte more', () => {
    expect(limit({ containers: [container('2')], initContainers: [container('3')] })).toBe('3')
  })

  it('keeps the first of two that are equal, and prints what was written', () => {
    expect(limit({ containers: [container('1Gi')], initContainers: [container('1024Mi')] })).toBe(
      '1Gi',
    )
    expect(limit({ containers: [container('1e9')] })).toBe('1e9')
  })
})

describe('pod-level resources', () => {
  const spec = (resources: object) => ({ containers: [container('1Gi')], resources })

  it.each([
    {
      resources: { requests: { memory: '5Gi' } },
      version: 'v1.33.13',
      memory: '1Gi',
      ofStorage: '1Gi',
    },
    {
      resources: { requests: { memory: '5Gi' } },
      version: 'v1.34.0',
      memory: '5Gi',
      ofStorage: '0',
    },
    { resources: { limits: { memory: '5Gi' } }, version: 'v1.34.0', memory: '0', ofStorage: '0' },
    {
      resources: { requests: { 'hugepages-2Mi': '2Mi' } },
      version: 'v1.34.0',
      memory: '0',
      ofStorage: '0',
    },
    { resources: { requests: { cpu: '1' } }, version: 'v1.34.0', memory: '0', ofStorage: '0' },
    {
      resources: { requests: { [storage]: '5Gi' } },
      version: 'v1.34.0',
      memory: '1Gi',
      ofStorage: '1Gi',
    },
    { resources: {}, version: 'v1.34.0', memory: '1Gi', ofStorage: '1Gi' },
  ])(
    'trap 38: $resources in $version: memory $memory, storage $ofStorage',
    ({ resources, version, memory, ofStorage }) => {
      expect([
        request(spec(resources), version, { resource: 'memory' }),
        request(spec(resources), version),
      ]).toEqual([memory, ofStorage])
    },
  )

  it('with the gate off replace the containers’ requests of the same resource only', () => {
    const gates = { PodLevelResources: false }
    const given = spec({ requests: { memory: '5Gi' } })
    expect([
      request(given, 'v1.34.0', { resource: 'memory', gates }),
      request(given, 'v1.34.0', { gates }),
    ]).toEqual(['5Gi', '1Gi'])
  })

  it('limit no storage', () => {
    expect(limit({ resources: { limits: { [storage]: '1Gi' } } })).toBeNull()
  })

  it.each([
    { resources: undefined, is: false },
    { resources: { requests: {}, limits: {} }, is: false },
    { resources: { requests: { [storage]: '1' } }, is: false },
    { resources: { requests: { hugepages: '1' } }, is: false },
    { resources: { limits: { 'hugepages-1Gi': '1Gi' } }, is: true },
    { resources: { limits: { cpu: '1' } }, is: true },
    { resources: { requests: { memory: '1' } }, is: true },
  ])('are set by $resources: $is', ({ resources, is }) => {
    expect(isPodLevelResourcesSet(pod({ resources }))).toBe(is)
  })
})
