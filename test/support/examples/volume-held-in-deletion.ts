import type { HeldVolumeObject } from '#model/cluster-garbage.ts'
import { hoursBefore } from '#test/example-cluster.ts'

const claim = (hoursAgo: number): HeldVolumeObject => ({
  namespace: 'shop',
  name: 'data-cart-0',
  sinceMs: hoursBefore(hoursAgo),
  finalizers: [
    {
      finalizer: 'kubernetes.io/pvc-protection',
      controller: 'the volume protection controller',
      state: 'control-plane',
    },
  ],
  usedBy: ['shop/cart-0'],
})

const example = (held: HeldVolumeObject) => ({ volumes: { released: [], held: [held] } })

export const heldVolumeExamples = { bad: example(claim(40)), good: example(claim(0.5)) }
