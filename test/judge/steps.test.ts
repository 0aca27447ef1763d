import { describe, expect, it } from 'vitest'
import { placeOfCluster } from '#judge/fixes/command-place.ts'
import { commandsOf, inPlace, type StepNode } from '#judge/fixes/steps.ts'
import { rules } from '#judge/rules/index.ts'
import type { Subject } from '#model/subject.ts'

const arn = 'arn:aws:eks:eu-west-1:111122223333:cluster/prod'
const onEks = placeOfCluster('prod', { arn }, '{name}')
const elsewhere = placeOfCluster('kind', null, '{arn}')
const noFix = { config: {}, durable: [], commands: [] }
const group: Subject = { kind: 'Nodegroup', namespace: null, name: 'general' }
const node: StepNode = { name: 'ip-10-0-0-1', instanceId: 'i-0a1b', owner: 'managed-nodegroup' }
const eviction = { rule: 'eviction-due', family: 'eviction', subject: group, fix: noFix } as const

describe('the context of a command', () => {
  it.each([
    ['prod', { arn }, '{name}', 'prod'],
    ['111122223333/eu-west-1/prod', { arn }, '{name}', 'prod'],
    ['prod', { arn }, '{arn}', arn],
    ['prod', { arn }, '{account}-{region}-{name}', '111122223333-eu-west-1-prod'],
    ['kind-dev', null, '{arn}', 'kind-dev'],
  ])('of %s (%j) by %s is %s', (cluster, eks, names, context) => {
    expect(placeOfCluster(cluster, eks, names).context).toBe(context)
  })

  it('stands in each kubectl line, and the region in each aws line', () => {
    expect(inPlace('kubectl delete pod a', onEks)).toMatchSnapshot()
    expect(inPlace('aws ec2 x', onEks)).toMatchSnapshot()
    expect(inPlace('aws ec2 x', elsewhere)).toBe('aws ec2 x')
  })
})

describe.each(rules.map(({ id, family }) => ({ id, family })))('$id', ({ id, family }) => {
  it.each([
    ['an instance', node],
    ['a machine', { ...node, instanceId: null }],
    ['no node', null],
  ])('has a step on %s, without fields to set or commands of its own', (_, on) => {
    for (const place of [onEks, elsewhere]) {
      const commands = commandsOf({ rule: id, family, subject: group, fix: noFix }, on, place)
      expect(commands).not.toEqual([])
      for (const command of commands)
        expect(command).toMatch(/^(?:kubectl --context |aws |highwater )/)
    }
  })
})

it('gives first aid for a node that evicts', () => {
  const programs = commandsOf(eviction, node, onEks).map(command =>
    command.split(' ').slice(0, 4).join(' '),
  )
  expect(programs).toMatchSnapshot()
})

it('plans fields to set, on nodes that Systems Manager reaches', () => {
  const subject = { ...eviction, rule: 'alert-before-image-gc' }
  const fix = { ...noFix, config: { imageGCHighThresholdPercent: 70 } }
  expect(commandsOf({ ...subject, fix }, node, onEks)).toMatchSnapshot()
  expect(commandsOf({ ...subject, fix }, { ...node, instanceId: null }, onEks)).toEqual([])
})
