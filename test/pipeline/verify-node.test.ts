/** One node after its step, as the sender of the change requests it: with the earlier state of its pods. */

import { expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { everything, type NodeRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { verifyNode } from '#pipeline/remediation/run/verify.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { inputOf } from '#test/at-the-door.ts'
import { fleetNode, readyPod, snapshotOf } from '#test/plan-fleet.ts'

const settings = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
const appliedAt = '2026-11-21T10:00:00Z'

async function changedNode() {
  const changes = Object.entries(settings).map(([field, value]) => parseChange(`${field}=${value}`))
  const request = {
    rules: [],
    findings: [],
    changes,
    allowActAtOnce: false,
    policy: defaultPolicy,
    version: '0',
    selection: everything,
  }
  const [step] = (await makePlan(snapshotOf([fleetNode({ family: 'AL2' })]), request)).plan.steps
  if (step === undefined) throw new Error('nothing was planned')
  const node = (more: Parameters<typeof fleetNode>[0] = {}): NodeRecord => {
    const fleetRecord = fleetNode({
      family: 'AL2',
      file: JSON.parse(step.content),
      text: step.content,
      configz: settings,
      ...more,
    })
    const kubelet = {
      ...(fleetRecord.host?.kubelet as RawObject),
      startedAt: '2026-11-21T09:59:00Z',
    }
    return { ...fleetRecord, at: '2026-11-21T10:01:00Z', host: { ...fleetRecord.host, kubelet } }
  }
  return { step, node }
}

const waiting = (): NonNullable<NodeRecord['pods']>[number] => {
  const pod = readyPod('web', 'web')
  return {
    ...pod,
    status: {
      ...pod.status,
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-01T00:00:00Z' }],
    },
  }
}

it('waits for the pods that were ready before, and for no other', async () => {
  const { step, node } = await changedNode()
  const verify = (readyPods: string[] | null) =>
    verifyNode(step, inputOf(node({ pods: [waiting()] })), defaultPolicy, {
      at: appliedAt,
      readyPods,
    })
  expect(verify(['shop/web'])).toMatchSnapshot()
  expect(verify([])).toEqual({ state: 'verified' })
  expect(verify(null)).toEqual({ state: 'verified' })
})

it('replays the node as it is now, by what it runs with', async () => {
  const { step, node } = await changedNode()
  const verify = (available: number) =>
    verifyNode(step, inputOf(node({ available })), defaultPolicy, { at: appliedAt, readyPods: [] })
  expect(verify(60)).toEqual({ state: 'verified' })
  expect(verify(25)).toMatchSnapshot()
  expect(verify(5)).toMatchObject({
    state: 'wrong',
    why: expect.stringContaining('eviction is due now (nodefs.available'),
  })
})
