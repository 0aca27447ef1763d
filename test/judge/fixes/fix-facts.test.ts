import { expect, it } from 'vitest'
import { shellOf } from '#judge/fixes/fix-facts.ts'
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
