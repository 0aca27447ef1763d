import { expect, it } from 'vitest'
import { workloadsWithImages } from '#judge/subject/pod-owners.ts'

const pod = (name: string, ...images: string[]) => ({
  metadata: {
    namespace: 'shop',
    name: `${name}-5c8b9d7f4-x2k9z`,
    labels: { 'pod-template-hash': '5c8b9d7f4' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: `${name}-5c8b9d7f4`,
        uid: name,
        controller: true,
      },
    ],
  },
  spec: { containers: images.map(image => ({ name: image, image })) },
})

it('lists workloads with images of several names, without their tags', () => {
  const pods = [
    pod('checkout', 'r.io/shop/checkout:1', 'shop/web:2'),
    pod('checkout', 'r.io/shop/checkout:2', 'shop/web:2'),
    pod('cart', 'shop/cart:1'),
  ]
  expect(workloadsWithImages(pods as never)).toEqual([
    { workload: 'Deployment shop/checkout', images: ['r.io/shop/checkout', 'shop/web'] },
  ])
})
