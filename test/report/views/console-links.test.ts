import { expect, it } from 'vitest'
import { consoleLinks, regionOf } from '#report/parts/node.ts'

it.each([
  ['eu-central-1', 'eu-central-1.console.aws.amazon.com'],
  ['cn-north-1', 'cn-north-1.console.amazonaws.cn'],
  ['us-gov-west-1', 'us-gov-west-1.console.amazonaws-us-gov.com'],
])('the links of an instance of %s lead to %s', (region, host) => {
  const links = consoleLinks('i-0123456789abcdef0', region)!
  for (const link of Object.values(links)) expect(new URL(link!).host).toBe(host)
  expect(links.instance).toContain('instanceId=i-0123456789abcdef0')
  expect(links.session).toContain('/session-manager/i-0123456789abcdef0?')
})

it.each([
  [null, 'eu-central-1'],
  ['i-0123456789abcdef0', null],
  ['i-0123456789abcdef0', 'evil.example/'],
  ['i-0"><script>', 'eu-central-1'],
])('there are none for %s in %s', (instance, region) => {
  expect(consoleLinks(instance, region)).toBeNull()
})

it('a hybrid node has a session, and no page of EC2', () => {
  expect(consoleLinks('mi-0123456789abcdef0', 'eu-central-1')).toEqual({
    instance: null,
    session:
      'https://eu-central-1.console.aws.amazon.com/systems-manager/session-manager/mi-0123456789abcdef0?region=eu-central-1',
  })
})

it('the region is that of the cluster, else that of the run', () => {
  expect(regionOf('111122223333/eu-west-1/prod', 'us-east-1')).toBe('eu-west-1')
  expect(regionOf('prod', 'us-east-1')).toBe('us-east-1')
  expect(regionOf('prod', null)).toBeNull()
})
