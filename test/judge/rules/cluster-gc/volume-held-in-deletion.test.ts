import { describe, expect, it } from 'vitest'
import { volumeHeldInDeletion } from '#judge/rules/cluster-gc/volume-held-in-deletion.ts'
import type { HeldFinalizer, HeldVolumeObject } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'
import { heldVolumeExamples } from '#test/examples/volume-held-in-deletion.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failings, volumes } from '#test/rules/cluster-garbage.ts'

itJudgesExamples(volumeHeldInDeletion, heldVolumeExamples)

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
    ['no pod uses it', { usedBy: [] }, 'nothing that is known uses it'],
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
