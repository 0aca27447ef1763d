/** A plan sets nothing of which a step of the same report warns. */
import { expect, it } from 'vitest'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { snapshotWith } from '#test/plan-fleet.ts'
import { judgedIncident } from './judged.ts'
import { images, nearMiss, users } from './short-forms.ts'
import { recordsOf, type World } from './world.ts'

const fields = { imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 }

/** One node has lost an image that no registry has. The other one is well, and its alert fires too early. */
const world: World = {
  nodes: [
    {
      disk: { gib: 8, usedGib: 6.3 },
      workloads: [
        {
          ...{ namespace: 'capa', owner: 'Deployment manager', waiting: 'ErrImagePull' },
          image: 'gcr.io/staging/manager:e2e',
          message:
            'rpc error: code = NotFound desc = failed to pull and unpack image "gcr.io/staging/manager:e2e": gcr.io/staging/manager:e2e: not found',
        },
      ],
      held: { images: images(2, 0.2, 0.5) },
      events: [
        {
          ...{ type: 'Normal', reason: 'NodeHasDiskPressure', count: 1 },
          message: 'Node status is now: NodeHasDiskPressure',
          ...{ firstMinutesAgo: 39, lastMinutesAgo: 39 },
        },
      ],
    },
    {
      ...{ disk: { gib: 8, usedGib: 3.3 }, configuration: fields },
      workloads: users(2),
      held: { images: images(2, 0.2, 0.5) },
    },
  ],
}

it('leaves image GC alone on each node of a cluster that has lost an image', async () => {
  const records = recordsOf(world)
  const incident = { name: 'plans', thread: '', found: '', world, ...nearMiss }
  const { document } = await judgedIncident(incident, records)
  const warned = document.findings.flatMap(({ steps, nodes }) =>
    steps.some(({ action }) => action.variant === 'first') ? [{ steps, nodes }] : [],
  )
  const name = 'ip-10-0-7-12.ec2.internal'
  expect(warned.flatMap(({ nodes }) => nodes.sample)).toContain(name)
  expect(warned.flatMap(({ steps }) => steps.flatMap(({ commands }) => commands))).toEqual([])
  const { plan } = await makePlan(snapshotWith(records), {
    ...{ rules: [], findings: [], changes: [], allowActAtOnce: false, version: '0.0.0' },
    ...{ policy: defaultPolicy, selection: { clusters: [], nodegroups: [], nodes: [name] } },
  })
  expect(plan.cohorts.flatMap(({ fields = {} }) => Object.keys(fields))).not.toContain(
    'imageGCHighThresholdPercent',
  )
})
