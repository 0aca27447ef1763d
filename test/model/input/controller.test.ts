import { expect, it } from 'vitest'
import { controllerOf } from '#model/input/record.ts'

const ownedBy = (kind: string, name: string) => ({
  metadata: {
    namespace: 'evil',
    name: 'x',
    ownerReferences: [{ apiVersion: 'x/v1', kind, name, uid: 'u', controller: true }],
  },
})

it('is the owner that replaces a pod', () => {
  expect(controllerOf(ownedBy('StatefulSet', 'db'))).toBe('StatefulSet db')
  expect(controllerOf(ownedBy('Node', 'ip-10-0-0-1.ec2.internal'))).toBeNull()
})

it.each([
  ['Deployment\u00a0payments/checkout', 'x'],
  ['Deployment payments/checkout', 'x'],
  ['Deployment', 'checkout (prod)'],
  ['Deployment', 'a\u2800b'],
  ['Deployment', 'payments/checkout'],
  ['Deployment', 'a'.repeat(254)],
  ['', 'x'],
  ['D'.repeat(64), 'x'],
])('is none whose kind or name are words: %j %j', (kind, name) => {
  expect(controllerOf(ownedBy(kind, name))).toBeNull()
})

it('is no owner that only keeps the pod from being collected', () => {
  const { metadata } = ownedBy('StatefulSet', 'db')
  const [owner] = metadata.ownerReferences
  for (const controller of [false, undefined])
    expect(
      controllerOf({ metadata: { ...metadata, ownerReferences: [{ ...owner, controller }] } }),
    ).toBeNull()
})
