import { expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { finishedPodsReason } from '#judge/help/finished-images.ts'
import type { DiskSubject } from '#judge/help/holder-steps.ts'
import type { HolderCause } from '#model/finding.ts'

const build = (number: number) => `registry.example.com/build:${number}`
const images = [1, 2, 3].map(number => ({ repoTags: [build(number)], size: String(gibibyte) }))
const pod = (image: string, phase: string) => ({
  metadata: { name: image, namespace: 'builds' },
  spec: { containers: [{ name: 'app', image }] },
  status: { phase },
})
const cause = {
  kind: 'holder',
  holder: 'images-in-use',
  amount: { unit: 'bytes', low: 3 * gibibyte, high: null },
} as HolderCause
const reasonOf = (pods: object[], of = cause) =>
  finishedPodsReason(of, { pods, runtime: { images } } as unknown as DiskSubject)
const running = pod(build(3), 'Running')
const finished = [pod(build(1), 'Succeeded'), pod(build(2), 'Failed')]

it('names images that only finished pods keep in use, and their namespace', () => {
  expect(reasonOf([running, ...finished])).toEqual({
    steps: [{ id: 'prune-dead-containers', variant: 'finished' }],
    seen: '2 finished pods of namespace builds keep 2 images in use that no other pod runs (2.0 GiB in the list), as long as the pods exist. Under DiskPressure the kubelet deletes their containers and these images before it evicts a pod.',
  })
})

it.each([
  [
    'another pod runs them, too',
    [
      ...finished,
      ...finished.map(({ spec, metadata }) => ({ spec, metadata, status: { phase: 'Running' } })),
    ],
  ],
  ['they are the smaller part', [running, pod(build(2), 'Pending'), pod(build(1), 'Succeeded')]],
  ['no pod has finished', [running]],
  [
    'they were evicted',
    [running, ...finished.map(one => ({ ...one, status: { phase: 'Failed', reason: 'Evicted' } }))],
  ],
])('says nothing where %s', (_, pods) => {
  expect(reasonOf(pods)).toBeNull()
})

it('says nothing of another holder', () => {
  expect(reasonOf(finished, { ...cause, holder: 'images-unused' })).toBeNull()
})
