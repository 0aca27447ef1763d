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
