import { expect, it } from 'vitest'
import { unmountedInstanceStore } from '#judge/rules/configuration/unmounted-instance-store.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const store = 'Amazon EC2 NVMe Instance Storage'
const ebs = 'Amazon Elastic Block Store'
const hostWith = (devices: object[] | undefined) =>
  ({ host: { diskUse: { devices } } }) as { host: never }
const disk = (gib: number, model: string, isUsed: boolean) => ({
  ...{ name: 'nvme1n1', bytes: gib * 2 ** 30, model, isUsed },
})

itJudgesExamples(unmountedInstanceStore, {
  bad: hostWith([disk(100, ebs, true), disk(441, store, false)]),
  good: hostWith([disk(100, ebs, true), disk(441, store, true)]),
})

it.each([
  ['as large as the root disk', disk(100, store, false), 'medium'],
  ['smaller', disk(99, store, false), 'low'],
  ['too small to help', disk(24, store, false), undefined],
  ['an EBS volume, which a pod may use as a block device', disk(500, ebs, false), undefined],
])('a disk that nothing mounts, %s', (_, device, severity) => {
  const outcome = outcomeFor(unmountedInstanceStore, hostWith([device]))
  const found = outcome.state === 'fail' ? outcome.failing : null
  expect(found && (found.severity ?? 'low')).toBe(severity ?? null)
  if (found !== null) expect(found.cause).toMatchObject({ device: '/dev/nvme1n1' })
})
