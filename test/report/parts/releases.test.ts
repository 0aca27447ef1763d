import { expect, it } from 'vitest'
import type { PastRelease, RememberedImage } from '#model/history.ts'
import type { WorkloadImages } from '#model/report.ts'
import { english } from '#report/languages/language.ts'
import { outlookView } from '#report/parts/outlook.ts'
import { auditedNode, GiB, quietReport, sharedDisk } from '#test/report-builder.ts'

const releases = (name: string, ...gib: number[]): RememberedImage[] =>
  gib.map((size, index) => [
    `${name}:${index}`,
    size * GiB,
    index === 0 ? null : `2026-11-${19 + index}`,
  ])

/** 200 GiB, 80 % used: 10 GiB to image GC at 85 %, 20 GiB to eviction at 10 %. */
const viewOf = (
  images: RememberedImage[],
  highThresholdPercent = 85,
  pastReleases: PastRelease[] = [],
  workloads: WorkloadImages[] = [],
) => {
  const disk = sharedDisk(80, {
    capacityBytes: 200 * GiB,
    highThresholdPercent,
    evictionHard: { 'nodefs.available': '10%' },
  })
  const node = auditedNode('n1', { ...disk }, { images, pastReleases, workloads })
  const due = { ...node.prediction.imageGC!, triggered: true }
  const listed = { ...node, prediction: { ...node.prediction, imageGC: due } }
  return outlookView(quietReport([listed]), english)
}
const textOf = (...disk: Parameters<typeof viewOf>) => viewOf(...disk).rows[0]?.releases

it('counts the releases that fit before image GC and before eviction, at their largest', () => {
  const images = [...releases('shop/checkout', 1, 0.5, 0.8), ...releases('shop/web', 0.1, 0.1, 0.1)]
  expect(textOf(images)).toBe(
    'room for more releases of shop/checkout: 2 until image GC, 5 until eviction, if each takes at most 3.5\u00a0GiB (learned from 0, 1, 2)',
  )
})

it('adds the images of a workload, which a release pulls together', () => {
  const images = [
    ...releases('r.io/shop/checkout', 1, 1, 1),
    ...releases('shop/web', 0.5, 0.5, 0.5),
  ]
  const workloads = [
    { workload: 'Deployment shop/checkout', images: ['r.io/shop/checkout', 'shop/web'] },
    { workload: 'Deployment shop/other', images: ['shop/web', 'shop/sidecar'] },
  ]
  expect(textOf(images, 85, [], workloads)).toMatch(
    /releases of Deployment shop\/checkout: 1 until image GC, 3 until eviction, .*\(learned from 0, 1, 2\)$/,
  )
})

it('counts releases that were there before, and learns their size', () => {
  const past: PastRelease[] = [
    ['shop/checkout:7', 2 * GiB],
    ['shop/checkout:8', GiB],
  ]
  expect(textOf(releases('shop/checkout', 1), 85, past)).toMatch(
    /shop\/checkout: 1 until image GC, 2 until eviction, .*\(learned from 0, 7, 8\)$/,
  )
})

it('names the image without its registry, and its latest releases', () => {
  const images = [9, 10, 11, 12].map(
    (minor): RememberedImage => [
      `123456789012.dkr.ecr.us-west-1.amazonaws.com/shop/checkout:1.${minor}`,
      GiB,
      null,
    ],
  )
  expect(textOf(images.toReversed())).toMatch(
    /releases of shop\/checkout: .*learned from 1\.10, 1\.11, 1\.12\)$/,
  )
})

it.each<[string, RememberedImage[]]>([
  ['are two', releases('shop/checkout', 1, 1)],
  ['are all unused', releases('shop/checkout', 1, 1, 1, 1).slice(1)],
  ['have no tags', [1, 2, 3].map(index => [`registry:5000/a@sha256:${index}`, GiB, null])],
])('says nothing where the images of a name %s', (_, images) => {
  expect(textOf(images)).toBe('')
  expect(viewOf(images).releasesUnknown).toBe(
    'How many more releases fit is unknown on 1 of these nodes: of each image in use they list fewer than three.',
  )
})

it('is not called unknown where it is known', () => {
  expect(viewOf(releases('shop/checkout', 1, 1, 1)).releasesUnknown).toBeNull()
})

it('says nothing where image GC is off and no disk of images is known', () => {
  expect(textOf(releases('shop/checkout', 1, 1, 1), 100)).toBe('')
})
