/**
 * Known and unknown facts of each image on a node.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_image.go  ListImages, GetImageRef;  pkg/kubelet/nodestatus/setters.go  Images
 * Read at       1.29 to 1.37
 * Kept exactly  a node's status names only the largest images, up to a cap
 * Left out      images whose names the node's status cuts off after five; detections that failed
 *
 * The API shows no pinned images, no exited containers of deleted pods, and no times. Without the runtime's data no image is surely unused.
 */
import type { KnownImages, NodeInput } from '#model/input/node-input.ts'
import type { Unknown } from '#model/prediction/prediction.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { type KnownTimes, knownTimesOf, kubeletStartOf, type TimeBounds } from '#replay/times.ts'
import {
  areContainersRead,
  areRunningListed,
  type ImageIndex,
  type ImageUser,
  imagesOfReference,
  imageUses,
  indexImages,
  type ReferencedImage,
} from './users.ts'

export interface ImageEvidence extends ReferencedImage {
  /** The image's id, or its first name if the id is not known. */
  image: string
  sizeBytes: number | null
  /** Null: not known. */
  isPinned: boolean | null
  users: ImageUser[]
  known: KnownTimes
}

export interface NodeImages {
  /** Null: no list of images was read. */
  images: ImageEvidence[] | null
  /** False: the node might have other images. */
  isComplete: boolean
  /** Whether every container was read. If so, an image without a user is surely unused. */
  areUsersComplete: boolean
  /** When the node was read. */
  readAtMs: number
  /** Null: not known. */
  kubeletStart: TimeBounds | null
  unknowns: Unknown[]
}

/** Upstream's default of `nodeStatusMaxImages`. Source: pkg/kubelet/apis/config/v1beta1/defaults.go. */
const defaultStatusImages = 50

/** @param readAtMs the record's own time */
export function imageEvidence(input: NodeInput, readAtMs: number, kubelet: Kubelet): NodeImages {
  const listed = listedImages(input)
  const kubeletStart = kubeletStartOf(input, readAtMs)
  const node: NodeImages = {
    images: listed?.images ?? null,
    isComplete: false,
    areUsersComplete: false,
    readAtMs,
    kubeletStart,
    unknowns: [],
  }
  if (listed === null) {
    node.unknowns.push({
      what: 'images',
      effect: 'which images the node has is not known, and so not which go',
    })
    return node
  }
  const { images } = listed
  const index = indexImages(images)
  const unseen = listed.unseen ?? unlistedOf(input, index, listed.isOfRuntime)
  node.isComplete = unseen === null
  if (unseen !== null) {
    node.unknowns.push({
      what: unseen,
      effect:
        'images that were not seen may go before those that were: by space none goes for certain',
    })
  }
  noteKnownTimes(images, index, input.known)
  for (const { place, user } of imageUses(input, index, listed.isOfRuntime, kubelet))
    images[place]?.users.push(user)
  node.areUsersComplete = listed.isOfRuntime && areContainersRead(input, kubelet)
  return node
}

interface ListedImages {
  images: ImageEvidence[]
  isOfRuntime: boolean
  /** Which images an incomplete list lacks. Null: the list can be complete. */
  unseen: string | null
}

/** A list of a node's status that lacks the image of a running container lacks others, too. Null: it lacks none. */
function unlistedOf(input: NodeInput, index: ImageIndex, isOfRuntime: boolean): string | null {
  if (isOfRuntime || areRunningListed(input, index)) return null
  return 'images that node.status.images lacks'
}

function listedImages({ node, runtime, configuration }: NodeInput): ListedImages | null {
  const ofRuntime = runtime?.images
  if (ofRuntime !== undefined) {
    const images: ImageEvidence[] = []
    for (const { id, repoTags, repoDigests, size, pinned } of ofRuntime) {
      if (id === undefined || id === '') continue
      // The runtime's JSON may omit fields that are false.
      images.push(
        evidence(id, [...(repoTags ?? []), ...(repoDigests ?? [])], sizeOf(size), pinned === true),
      )
    }
    return {
      images,
      isOfRuntime: true,
      unseen: images.length === ofRuntime.length ? null : 'runtime.images',
    }
  }
  const ofStatus = node.status?.images ?? []
  // A node that runs a kubelet has an image. An empty list was not written, or not kept.
  if (ofStatus.length === 0) return null
  const images = ofStatus.map(({ names, sizeBytes }) =>
    evidence(null, [...(names ?? [])], sizeOf(sizeBytes), null),
  )
  const cap = configuration?.fields.nodeStatusMaxImages ?? defaultStatusImages
  return {
    images,
    isOfRuntime: false,
    unseen: cap < 0 || images.length < cap ? null : 'images beyond node.status.images',
  }
}

const evidence = (
  id: string | null,
  names: string[],
  sizeBytes: number | null,
  isPinned: boolean | null,
): ImageEvidence => ({
  image: id ?? names[0] ?? '',
  id,
  names,
  sizeBytes,
  isPinned,
  users: [],
  known: {},
})

/** The runtime writes the size as text, the node's status as a number. */
function sizeOf(given: string | number | undefined) {
  const size = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null
}

function noteKnownTimes(images: ImageEvidence[], index: ImageIndex, known: KnownImages | null) {
  for (const raw of known?.images ?? []) {
    const { places, isSure } = imagesOfReference(index, raw.id ?? '')
    for (const place of isSure ? places : []) {
      const image = images[place]
      if (image !== undefined) image.known = knownTimesOf(raw)
    }
  }
}
