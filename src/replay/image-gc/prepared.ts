/** The images of a node at one moment. All that does not depend on the policy is computed once, so rounds with other policies are cheap. */
import type { Unknown } from '#model/prediction.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { type BoundedImage, boundedImages, type RemovedContainers } from './bounds.ts'
import type { NodeImages } from './evidence.ts'
import type { TimeBounds } from './known-times.ts'
import { difference, type ImageOrder, imageOrder, placeAt, type TimeColumns } from './order.ts'

export interface PreparedImages {
  atMs: number
  isListed: boolean
  isComplete: boolean
  kubeletStart: TimeBounds | null
  /** Sorted by their earliest possible times. */
  images: readonly BoundedImage[]
  columns: TimeColumns
  /** The earliest possible last use that is not the zero time. */
  usedLowest: Float64Array
  order: ImageOrder
  /** Equal numbers: upstream has no order for these images. -1: the times are not known exactly. */
  ties: Int32Array
  /** Unknowns that keep the prediction of a deleting round from being exact. */
  unknowns: readonly Unknown[]
}

const noneRemoved: RemovedContainers = new Map()

/**
 * @param atMs when the round runs, not before the record was read
 * @param removed containers that are removed just before, certainly or possibly
 */
export function prepareImages(
  node: NodeImages,
  atMs: number,
  { features }: Kubelet,
  removed: RemovedContainers = noneRemoved,
): PreparedImages {
  const images = boundedImages(node, atMs, removed, features).sort(inTurn)
  const columns: TimeColumns = {
    usedEarliest: columnOf(images, ({ lastUsed }) => lastUsed.earliestMs),
    usedLatest: columnOf(images, ({ lastUsed }) => lastUsed.latestMs),
    detectedEarliest: columnOf(images, ({ firstDetected }) => firstDetected.earliestMs),
    detectedLatest: columnOf(images, ({ firstDetected }) => firstDetected.latestMs),
  }
  return {
    atMs,
    isListed: node.images !== null,
    isComplete: node.isComplete,
    kubeletStart: node.kubeletStart,
    images,
    columns,
    usedLowest: columnOf(images, ({ lastUsed }) => lastUsed.lowestMs),
    order: imageOrder(columns),
    ties: tiesOf(columns),
    unknowns: [...node.unknowns, ...unknownsOf(images)],
  }
}

/** Several times as fast as Float64Array.from. */
function columnOf(
  images: readonly BoundedImage[],
  timeOf: (image: BoundedImage) => number,
): Float64Array {
  const column = new Float64Array(images.length)
  let place = 0
  for (const image of images) column[place++] = timeOf(image)
  return column
}

function inTurn(a: BoundedImage, b: BoundedImage): number {
  return (
    difference(a.lastUsed.earliestMs, b.lastUsed.earliestMs) ||
    difference(a.firstDetected.earliestMs, b.firstDetected.earliestMs) ||
    difference(a.lastUsed.latestMs, b.lastUsed.latestMs) ||
    difference(a.firstDetected.latestMs, b.firstDetected.latestMs) ||
    difference(a.image, b.image)
  )
}

/** Places are sorted, so equal times are adjacent. */
function tiesOf({
  usedEarliest,
  usedLatest,
  detectedEarliest,
  detectedLatest,
}: TimeColumns): Int32Array {
  const ties = new Int32Array(usedEarliest.length).fill(-1)
  for (let place = 0; place < ties.length; place++) {
    if (
      usedEarliest[place] !== usedLatest[place] ||
      detectedEarliest[place] !== detectedLatest[place]
    )
      continue
    const isLikeLast =
      place > 0 &&
      placeAt(ties, place - 1) >= 0 &&
      usedEarliest[place] === usedEarliest[place - 1] &&
      detectedEarliest[place] === detectedEarliest[place - 1]
    ties[place] = isLikeLast ? placeAt(ties, place - 1) : place
  }
  return ties
}

const isOpen = ({ earliestMs, latestMs }: TimeBounds) => earliestMs !== latestMs

const questions: readonly (Unknown & { isOpen: (image: BoundedImage) => boolean })[] = [
  {
    what: 'runtime.containers',
    effect: 'which images containers hold is not known: those may stay that nothing is seen to use',
    isOpen: ({ isInUse }) => isInUse === null,
  },
  {
    what: 'image.pinned',
    effect: 'images that the runtime has pinned stay, and which these are is not known',
    isOpen: ({ isPinned }) => isPinned === null,
  },
  {
    what: 'image.sizeBytes',
    effect: 'how many images it takes to free enough is not known',
    isOpen: ({ sizeBytes }) => sizeBytes === null,
  },
  {
    what: 'image.firstDetected',
    effect: 'which images are old enough to go is bounded, not exact',
    isOpen: ({ firstDetected }) => isOpen(firstDetected),
  },
  {
    what: 'image.lastUsed',
    effect: 'order of deletions is bounded, not exact',
    isOpen: ({ lastUsed }) => isOpen(lastUsed),
  },
]

/** Unknown facts of images that may be deleted. */
function unknownsOf(images: BoundedImage[]): Unknown[] {
  const mayGo = images.filter(({ isCandidate }) => isCandidate !== false)
  return questions
    .filter(({ isOpen }) => mayGo.some(isOpen))
    .map(({ what, effect }) => ({ what, effect }))
}
