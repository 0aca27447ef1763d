import { expect, it } from 'vitest'
import { unexplainedDiskUse } from '#judge/rules/image-gc/unexplained-disk-use.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unexplainedDiskUse, {
  bad: { held: { 'not-explained': 20 } },
  good: { held: { 'not-explained': 1, 'images-in-use': 20 } },
})

it('names the largest folder that is not of Kubernetes, as cause and place of the step', () => {
  const subject = exampleSubject({ held: { 'unknown-folder': 39, 'images-in-use': 5 } })
  const part = { holder: 'unknown-folder', filesystem: 'nodefs', inodes: 4, owner: null } as const
  const bytes = 39 * 2 ** 30
  subject.ledger?.parts.push({
    ...part,
    ...{ place: '/var/openebs', lowBytes: bytes, highBytes: bytes },
  })
  const outcome = outcomeOf(unexplainedDiskUse, subject, defaultPolicy)
  const [failing] = outcome.state === 'fail' ? [outcome.failing].flat() : []
  expect(failing?.cause).toEqual({
    ...{
      kind: 'holder',
      holder: 'unknown-folder',
      freedBy: 'nothing',
      filesystem: 'nodefs',
      owner: null,
    },
    ...{ place: '/var/openebs', amount: { unit: 'bytes', low: bytes, high: bytes } },
  })
  expect(failing?.steps).toEqual([{ id: 'delete-place', place: '/var/openebs', bytes }])
})

it.each([
  [39, 5, 'low'],
  [39, 20, undefined],
])(
  '%d GiB of folders beside %d GiB of images on 100 GiB: severity %s',
  (folder, images, severity) => {
    const subject = exampleSubject({ held: { 'unknown-folder': folder, 'images-in-use': images } })
    const outcome = outcomeOf(unexplainedDiskUse, subject, defaultPolicy)
    expect(outcome).toMatchObject({
      failing: { title: 'Folders outside pods and images hold much of the disk' },
    })
    expect(outcome.state === 'fail' && outcome.failing.severity).toBe(severity)
  },
)
