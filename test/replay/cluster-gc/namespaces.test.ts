import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { namespaceDeletion } from '#replay/cluster-gc/namespaces.ts'
import { objectOf } from '#test/at-the-door.ts'

const deletionTimestamp = '2025-01-01T00:00:00Z'
const namespace = (conditions: unknown[], finalizers: unknown[] = ['kubernetes']) => ({
  metadata: { name: 'apps', deletionTimestamp },
  spec: { finalizers },
  status: { conditions },
})
const condition = (
  type: string,
  status = 'True',
  more: object = { reason: 'R', message: 'M' },
) => ({ type, status, ...more })

describe('namespaceDeletion', () => {
  it('tells the conditions that hold it, in the order in which upstream has them', () => {
    const conditions = [
      condition('NamespaceFinalizersRemaining'),
      condition('NamespaceContentRemaining', 'True', {}),
      condition('NamespaceDeletionContentFailure'),
      condition('NamespaceDeletionGroupVersionParsingFailure'),
      condition('NamespaceDeletionDiscoveryFailure'),
      condition('Other'),
    ]
    expect(
      namespaceDeletion(
        objectOf('namespaces', namespace(conditions, ['kubernetes', 7, 'example.com/keep'])),
        featuresOf('v1.37.0'),
      ),
    ).toEqual({
      namespace: 'apps',
      sinceMs: Date.parse(deletionTimestamp),
      holds: [
        { condition: 'NamespaceDeletionDiscoveryFailure', reason: 'R', message: 'M' },
        { condition: 'NamespaceDeletionGroupVersionParsingFailure', reason: 'R', message: 'M' },
        { condition: 'NamespaceDeletionContentFailure', reason: 'R', message: 'M' },
        { condition: 'NamespaceContentRemaining', reason: '', message: '' },
        { condition: 'NamespaceFinalizersRemaining', reason: 'R', message: 'M' },
      ],
      ...{ remaining: [], held: [], unanswered: [] },
      finalizers: ['kubernetes', 'example.com/keep'],
      ownFinalizers: [],
      mayWaitForPods: false,
    })
  })

  it.each([
    { version: 'v1.32.0', given: namespace([]), mayWaitForPods: false },
    {
      version: 'v1.33.0',
      given: namespace([condition('NamespaceContentRemaining', 'False')]),
      mayWaitForPods: true,
    },
    { version: 'v1.33.0', given: namespace([], []), mayWaitForPods: false },
    {
      version: 'v1.33.0',
      given: namespace([condition('NamespaceContentRemaining')]),
      mayWaitForPods: false,
    },
  ])(
    '$version may wait for pods without a word: $mayWaitForPods',
    ({ version, given, mayWaitForPods }) => {
      expect(
        namespaceDeletion(objectOf('namespaces', given), featuresOf(version))?.mayWaitForPods,
      ).toBe(mayWaitForPods)
    },
  )

  it('takes out of their words what remains, what holds it, and who did not answer', () => {
    const said = (type: string, message: string) =>
      condition(type, 'True', { reason: 'R', message })
    const conditions = [
      said(
        'NamespaceContentRemaining',
        'Some resources are remaining: pods. has 2 resource instances, widgets.example.com has 31 resource instances',
      ),
      said(
        'NamespaceFinalizersRemaining',
        'Some content in the namespace has finalizers remaining: example.com/f in 31 resource instances, keep in 1 resource instances',
      ),
      said(
        'NamespaceDeletionDiscoveryFailure',
        'Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1, a.example.com/v1: the server is currently unable to handle the request',
      ),
    ]
    expect(
      namespaceDeletion(objectOf('namespaces', namespace(conditions)), featuresOf('v1.37.0')),
    ).toMatchObject({
      remaining: [
        { resource: 'pods', count: 2 },
        { resource: 'widgets.example.com', count: 31 },
      ],
      held: [
        { finalizer: 'example.com/f', count: 31 },
        { finalizer: 'keep', count: 1 },
      ],
      unanswered: ['a.example.com/v1', 'metrics.k8s.io/v1beta1'],
    })
  })

  it('tells the finalizers of its metadata, which outlive those of its spec', () => {
    const own = {
      metadata: { name: 'apps', deletionTimestamp, finalizers: ['example.com/auth', ''] },
      spec: { finalizers: [] },
    }
    expect(namespaceDeletion(objectOf('namespaces', own), featuresOf('v1.37.0'))).toMatchObject({
      finalizers: [],
      ownFinalizers: ['example.com/auth'],
    })
  })

  it('is none of a namespace that stays', () => {
    expect(
      namespaceDeletion(
        objectOf('namespaces', { metadata: { name: 'apps' } }),
        featuresOf('v1.37.0'),
      ),
    ).toBeNull()
    expect(namespaceDeletion(objectOf('namespaces', null), featuresOf('v1.37.0'))).toBeNull()
  })
})
