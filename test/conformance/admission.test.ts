import { describe, expect, it } from 'vitest'
import type { NodeCondition } from '#model/prediction.ts'
import { isCriticalPod, protectionOf } from '#replay/pods.ts'
import { manifestOf } from '#test/at-the-door.ts'
import { newest, pod, requesting } from '#test/eviction-builder.ts'
import { admit } from './admission.ts'

const key = 'node.kubernetes.io/memory-pressure'
const manifest = (name: string, spec: object = {}) =>
  manifestOf({ metadata: { name }, spec: { containers: [{ name: 'c' }], ...spec } })
const bestEffort = manifest('best-effort')
const burstable = manifest('burstable', requesting({ memory: '1Mi' }))
const tolerating = (toleration: object) => manifest('tolerating', { tolerations: [toleration] })
const isAdmitted = (admitted: typeof bestEffort, conditions: NodeCondition[]) =>
  admit(admitted, conditions, newest).isAdmitted

describe('admit', () => {
  it.each([
    { conditions: [], ofBestEffort: true, ofBurstable: true },
    { conditions: ['MemoryPressure'], ofBestEffort: false, ofBurstable: true },
    { conditions: ['DiskPressure'], ofBestEffort: false, ofBurstable: false },
    { conditions: ['PIDPressure'], ofBestEffort: false, ofBurstable: false },
    { conditions: ['DiskPressure', 'MemoryPressure'], ofBestEffort: false, ofBurstable: false },
  ] as { conditions: NodeCondition[]; ofBestEffort: boolean; ofBurstable: boolean }[])(
    'trap 33: under $conditions best effort $ofBestEffort, burstable $ofBurstable',
    ({ conditions, ofBestEffort, ofBurstable }) => {
      expect([isAdmitted(bestEffort, conditions), isAdmitted(burstable, conditions)]).toEqual([
        ofBestEffort,
        ofBurstable,
      ])
      expect(isAdmitted(manifest('critical', { priority: 2_000_000_000 }), conditions)).toBe(true)
    },
  )

  it.each([
    { toleration: { key, operator: 'Exists', effect: 'NoSchedule' }, memory: true },
    { toleration: { key, operator: 'Exists' }, memory: true },
    { toleration: { operator: 'Exists' }, memory: true },
    { toleration: { key }, memory: true },
    { toleration: { key, operator: 'Equal' }, memory: true },
    { toleration: { key, operator: 'Equal', value: 'true' }, memory: false },
    { toleration: { key, value: 'true' }, memory: false },
    { toleration: { key, operator: 'Exists', value: 'true' }, memory: true },
    { toleration: { key, operator: 'Gt' }, memory: false },
    { toleration: { key, operator: 'Exists', effect: 'NoExecute' }, memory: false },
    { toleration: { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists' }, memory: false },
  ])(
    'trap 33: $toleration helps under memory pressure: $memory, and never under any other',
    ({ toleration, memory }) => {
      expect(isAdmitted(tolerating(toleration), ['MemoryPressure'])).toBe(memory)
      expect(isAdmitted(tolerating(toleration), ['DiskPressure'])).toBe(false)
      expect(isAdmitted(tolerating(toleration), ['MemoryPressure', 'PIDPressure'])).toBe(false)
    },
  )

  it('tells why', () => {
    expect(admit(burstable, ['DiskPressure', 'MemoryPressure'], newest)).toEqual({
      isAdmitted: false,
      reason: 'Evicted',
      message: 'Pod was rejected: The node had condition: [DiskPressure MemoryPressure]. ',
    })
  })
})

describe('protectionOf', () => {
  const annotated = (annotations: object, spec: object = {}) =>
    pod('a', spec, { metadata: { annotations } })

  it.each([
    { what: 'an ordinary pod', pod: pod('a'), protection: null },
    {
      what: 'a pod of the API server',
      pod: annotated({ 'kubernetes.io/config.source': 'api' }),
      protection: null,
    },
    {
      what: 'a static pod',
      pod: annotated({ 'kubernetes.io/config.source': 'file' }),
      protection: 'static',
    },
    {
      what: 'a mirror pod',
      pod: annotated({ 'kubernetes.io/config.mirror': 'x' }),
      protection: 'mirror',
    },
    {
      what: 'a mirror pod with an empty annotation',
      pod: annotated({ 'kubernetes.io/config.mirror': '' }),
      protection: 'mirror',
    },
    {
      what: 'the mirror of a file',
      pod: annotated({ 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.mirror': 'x' }),
      protection: 'static',
    },
    {
      what: 'the lowest critical priority',
      pod: pod('a', { priority: 2_000_000_000 }),
      protection: 'critical',
    },
    { what: 'one below', pod: pod('a', { priority: 1_999_999_999 }), protection: null },
    {
      what: 'a class name without its number',
      pod: pod('a', { priorityClassName: 'system-node-critical' }),
      protection: null,
    },
    {
      what: 'a pod of a DaemonSet',
      pod: pod(
        'a',
        {},
        { metadata: { ownerReferences: [{ kind: 'DaemonSet', name: 'd', controller: true }] } },
      ),
      protection: null,
    },
  ])('$what: $protection', ({ pod: given, protection }) => {
    expect([protectionOf(given), isCriticalPod(given)]).toEqual([protection, protection !== null])
  })
})
