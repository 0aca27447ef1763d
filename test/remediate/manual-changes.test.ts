import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { everything } from '#model/input/selection.ts'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { type FleetNode, fleetNode, snapshotOf } from '#test/plan-fleet.ts'

const leaking = {
  release: '4.14.355-275.572.amzn2.x86_64',
  cmdline: 'ro quiet',
  cgroupVersion: 1,
  memoryCgroups: 30_000,
}

function node(name: string, kernel: RawObject = {}, changed: FleetNode = {}): NodeRecord {
  const record = fleetNode({ name, family: 'AL2', ...changed })
  record.host = { ...record.host, kernel: { ...leaking, ...kernel } }
  return record
}

async function manualOf(...nodes: NodeRecord[]) {
  const request = {
    rules: ['memory-cgroup-leak'],
    findings: [],
    changes: [],
    allowActAtOnce: false,
    version: '0',
    selection: everything,
  }
  const { plan } = await makePlan(snapshotOf(nodes), { ...request, policy: defaultPolicy })
  expect(parsePlan(planText(plan), 'plan.json')).toEqual(plan)
  return { plan, manual: plan.manual ?? [] }
}

describe('kernels that leak memory cgroups', () => {
  it('are to be booted with nokmem, group by group, drained one after the other, by a person', async () => {
    const { plan, manual } = await manualOf(
      node('b'),
      node('a'),
      node('c', {}, { nodegroup: 'other' }),
    )
    expect(plan.steps).toEqual([])
    expect(manual.map(({ group, nodes }) => [group.name, nodes])).toEqual([
      ['other', ['c']],
      ['workers', ['a', 'b']],
    ])
    const [, { steps, findings, durable }] = manual as [unknown, (typeof manual)[number]]
    expect(findings).toHaveLength(1)
    const at = (word: string) => steps.findIndex(step => step.includes(word))
    const order = [
      'cordon',
      'kubectl drain',
      'grubby',
      'reboot-instances',
      'condition=Ready',
      '/proc/cmdline',
      'uncordon',
    ].map(at)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order[0]).toBeGreaterThan(0)
    expect(durable).toContain('Build the AMI')
  })

  it('take the option as their family does', async () => {
    const ofUbuntu = await manualOf(node('u', {}, { family: 'Ubuntu' }))
    expect(ofUbuntu.manual[0]?.steps.join('\n')).toContain('update-grub')
    const ofBottlerocket = await manualOf(node('r', {}, { family: 'Bottlerocket' }))
    expect(ofBottlerocket.manual[0]?.steps.join('\n')).toContain('reboot-to-reconcile')
  })

  it.each<[string, RawObject, FleetNode]>([
    ['a newer kernel', { release: '5.10.230', memoryCgroups: 60_000 }, {}],
    ['cgroup v2', { cgroupVersion: 2 }, {}],
    ['the option already', { cmdline: 'ro cgroup.memory=nokmem,nosocket' }, {}],
    [
      'an owner that replaces it',
      {},
      { nodegroup: null, labels: { 'karpenter.sh/nodepool': 'x' } },
    ],
  ])('are left alone with %s', async (_, kernel, changed) => {
    expect((await manualOf(node('a', kernel, changed))).manual).toEqual([])
  })
})
