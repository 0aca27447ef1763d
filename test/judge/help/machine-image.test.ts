import { expect, it } from 'vitest'
import { machineImageReason } from '#judge/help/machine-image.ts'
import { imageGcThresholds, kubeletSetting, nodeRule } from '#judge/rule.ts'
import type { Cause } from '#model/finding.ts'
import type { DiskHolder } from '#model/prediction.ts'
import { exampleSubject, exampleTime, type NodeExample } from '#test/example.ts'
import { failingOf } from '#test/rule-outcome.ts'

const ago = (minutes: number) => new Date(Date.parse(exampleTime) - minutes * 60_000).toISOString()

interface Young {
  /** GiB of unused images on the disk of 100. */
  unused: number
  others?: number
  /** Minutes since the Node object and the machine are there. */
  node?: number
  machine?: number | null
}

const exampleOf = ({ unused, others = 0, node = 5, machine = null }: Young): NodeExample => ({
  held: { 'images-unused': unused, 'images-in-use': others },
  node: { metadata: { creationTimestamp: ago(node) } },
  ...(machine !== null && { summary: { node: { startTime: ago(machine) } } }),
})

const reasonFor = (young: Young) => machineImageReason(exampleSubject(exampleOf(young)))

it('says that new nodes have the images again', () => {
  expect(reasonFor({ unused: 40 })).toMatchObject({
    cause: { kind: 'world', event: 'images-of-machine-image' },
    steps: [{ id: 'prune-images' }, { id: 'prune-in-image' }],
    seen: expect.stringContaining('started 5 minutes ago and has 40.0 GiB of images'),
  })
})

it.each<[string, Young, boolean]>([
  // 50 MiB a second: 14.6 GiB in 5 minutes.
  ['less than may have been pulled', { unused: 14 }, false],
  ['more than can have been pulled', { unused: 15 }, true],
  ['a small part of what is used', { unused: 16, others: 70 }, false],
  ['a fifth of what is used', { unused: 18, others: 70 }, true],
  ['a Node object younger than its machine', { unused: 40, machine: 30 }, false],
  ['a machine that has started again since', { unused: 40, node: 30, machine: 5 }, false],
])('%s: %s', (_, young, isOfImage) => {
  expect(reasonFor(young) !== null).toBe(isOfImage)
})

it('knows nothing of a node that is older than an hour', () => {
  expect(reasonFor({ unused: 1000, node: 60 })).not.toBeNull()
  expect(reasonFor({ unused: 1000, node: 61 })).toBeNull()
})

const holding = (holder: DiskHolder): Cause => ({
  ...{ kind: 'holder', holder, filesystem: 'nodefs', freedBy: 'nothing' },
  ...{ amount: { unit: 'bytes', low: 1, high: 1 }, owner: null, place: null },
})

it.each<[string, Cause, boolean]>([
  ['when image GC starts', imageGcThresholds, true],
  ['the age of images', kubeletSetting('imageMaximumGCAge'), true],
  ['images', holding('images'), true],
  ['unused images', holding('images-unused'), true],
  ['images in use', holding('images-in-use'), false],
  ['the thresholds of eviction', kubeletSetting('evictionHard'), false],
])('takes the place of a setting and its fix where the cause is %s: %s', (_, cause, isTaken) => {
  const fix = { config: { imageGCHighThresholdPercent: 80 } }
  const rule = nodeRule({
    ...{ id: 'toy', family: 'image-gc', severity: 'medium', needs: [], cause },
    ...{ title: 'A toy', why: '', fix: '', sources: [] },
    *judge() {
      yield { consequence: '', evidence: [], fix }
    },
  })
  const found = failingOf(rule, exampleOf({ unused: 40 }))
  expect([found.cause?.kind, found.confidence, found.fix]).toEqual(
    isTaken ? ['world', 'likely', undefined] : [undefined, undefined, fix],
  )
})
