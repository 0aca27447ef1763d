/**
 * Which containers use which images.
 *
 * Replays       pkg/kubelet/kuberuntime  helpers.go toKubeContainer, kuberuntime_manager.go GetPods;
 *               pkg/kubelet/images/image_gc_manager.go  detectImages, handleImageVolumes
 * Read at       1.29 to 1.37
 * Kept exactly  every container counts, in any state and of any pod; its image is the image with exactly its id; a container without id or image is
 *               skipped; an image volume counts if the gate is on and a container mounts it
 * Left out      containers without a pod in the API are taken to mount no image
 */

import { canonicalName } from '#model/input/image-reference.ts'
import type { RuntimeContainer } from '#model/input/inspection.ts'
import type { KnownImages, KubernetesPod, NodeInput } from '#model/input/record.ts'
import type { Unknown } from '#model/prediction.ts'
import { containerIdOf, containerStatusesOf } from '#replay/pods.ts'
import {
  type KnownTimes,
  type Kubelet,
  knownTimesOf,
  kubeletStartOf,
  type TimeBounds,
} from '#replay/times.ts'

/*
 * Known and unknown facts of each image on a node.
 *
 * Replays       pkg/kubelet/kuberuntime/kuberuntime_image.go  ListImages, GetImageRef;  pkg/kubelet/nodestatus/setters.go  Images
 * Read at       1.29 to 1.37
 * Kept exactly  a node's status names only the largest images, up to a cap
 * Left out      images whose names the node's status cuts off after five; detections that failed
 *
 * The API shows no pinned images, no exited containers of deleted pods, and no times. Without the runtime's data no image is surely unused.
 */

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
  /** Of these images. */
  index: ImageIndex
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
  const index = indexImages(listed?.images ?? [])
  const node: NodeImages = {
    images: listed?.images ?? null,
    index,
    isComplete: false,
    areUsersComplete: false,
    readAtMs,
    kubeletStart,
    unknowns: [],
  }
  if (!listed) {
    node.unknowns.push({
      what: 'images',
      effect: 'which images the node has is not known, and so not which go',
    })
    return node
  }
  const { images } = listed
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
  if (ofRuntime) {
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
    evidence(null, [...(names ?? [])], sizeOf(sizeBytes), names?.some(isPinnedByAmi) || null),
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

/** The sandbox image of AL2023 on EKS: its build pins it. Source: awslabs/amazon-eks-ami cache-pause-container */
const isPinnedByAmi = (name: string) => /^localhost\/kubernetes\/pause(?::latest)?$/.test(name)

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
      if (image) image.known = knownTimesOf(raw)
    }
  }
}

/** A container that runs from the image, or mounts it. */
export interface ImageUser {
  containerId: string
  /** False: the container names the image by a name that might mean another image now. */
  isSure: boolean
  /** When the container was created, as the runtime writes it: see `madeMs`. */
  createdAt: string | number | undefined
}

interface ImageUsage {
  /** The image's place in the indexed list. */
  place: number
  user: ImageUser
}

interface Container {
  id: string
  /** The container's name in its pod. */
  name: string | null
  createdAt: string | number | undefined
}

/** In ms. The runtime writes ns since 1970, as a number or as text. Null: not known. */
export function madeMs({ createdAt }: ImageUser): number | null {
  const nanoseconds =
    typeof createdAt === 'string' && /^\d+$/.test(createdAt) ? Number(createdAt) : createdAt
  return typeof nanoseconds === 'number' && nanoseconds > 0 ? nanoseconds / 1e6 : null
}

/** Whether every container was read that might use an image. */
function areContainersRead({ runtime, pods }: NodeInput, kubelet: Kubelet) {
  const containers = runtime?.containers
  // Only pods show which images are mounted.
  return (
    containers !== undefined &&
    (pods !== null || containers.length === 0 || !kubelet.isGateOn('ImageVolume'))
  )
}

/** Whether the images of all running containers are in the index. */
function areRunningListed({ pods }: NodeInput, index: ImageIndex) {
  return (pods ?? [])
    .flatMap(containerStatusesOf)
    .filter(({ state }) => state?.running != null)
    .every(({ imageID, image }) => firstReferenced(index, [imageID, image]).places.length > 0)
}

/** @param areIdsKnown whether the list of images has ids, as the runtime's has */
function imageUses(
  { runtime, pods }: NodeInput,
  index: ImageIndex,
  areIdsKnown: boolean,
  kubelet: Kubelet,
) {
  // Upstream skips containers that it cannot convert.
  const containers = (runtime?.containers ?? []).filter(({ id = '' }) => id !== '')
  const hasImageId = kubelet.features.has('containerImageId')
  const uses: ImageUsage[] = []
  for (const raw of containers) takeContainer(raw, hasImageId, index, uses)
  const isRuntimeRead = areIdsKnown && runtime?.containers !== undefined
  const canMount = kubelet.isGateOn('ImageVolume')
  let byPod: ReadonlyMap<string, Container[]> | null = null
  for (const pod of pods ?? []) {
    const statuses = isRuntimeRead ? [] : statusesOf(pod)
    for (const status of statuses) takeStatus(status, index, uses)
    const volumes = canMount ? imageVolumes(pod, index) : []
    if (volumes.length === 0) continue
    byPod ??= containersByPod(containers)
    const uid = pod.metadata?.uid ?? ''
    const ofPod = isRuntimeRead
      ? (byPod.get(uid) ?? [])
      : statuses.map(({ container }) => container)
    for (const volume of volumes) takeVolume(volume, pod, ofPod, uses)
  }
  return uses
}

function takeContainer(
  raw: RuntimeContainer,
  hasImageId: boolean,
  index: ImageIndex,
  uses: ImageUsage[],
) {
  const { id: containerId = '', imageRef = '', createdAt } = raw
  const imageId = (hasImageId && raw.imageId) || imageRef
  const known = index.byId.get(imageId)
  if (known !== undefined) {
    uses.push({ place: known, user: { containerId, isSure: true, createdAt } })
    return
  }
  // Upstream finds the image by its id alone. A name is used only if no id was read.
  const { places, isSure } = firstReferenced(index, [imageId, raw.image?.image])
  for (const place of places)
    uses.push({ place, user: { containerId, isSure: isSure && imageId === '', createdAt } })
}

function containersByPod(
  containers: readonly RuntimeContainer[],
): ReadonlyMap<string, Container[]> {
  const byPod = new Map<string, Container[]>()
  for (const { id, labels, createdAt } of containers) {
    const uid = labels?.['io.kubernetes.pod.uid'] ?? ''
    const container = {
      id: id ?? '',
      name: labels?.['io.kubernetes.container.name'] ?? null,
      createdAt,
    }
    const ofPod = byPod.get(uid)
    if (!ofPod) byPod.set(uid, [container])
    else ofPod.push(container)
  }
  return byPod
}

interface Status {
  container: Container
  references: (string | undefined)[]
}

/** Created containers, running or not. */
function statusesOf(pod: KubernetesPod) {
  const statuses: Status[] = []
  for (const status of containerStatusesOf(pod)) {
    const id = containerIdOf(status)
    const { name = null, imageID, image } = status
    if (id !== '')
      statuses.push({ container: { id, name, createdAt: undefined }, references: [imageID, image] })
  }
  return statuses
}

function takeStatus({ container, references }: Status, index: ImageIndex, uses: ImageUsage[]) {
  const { places, isSure } = firstReferenced(index, references)
  for (const place of places)
    uses.push({ place, user: { containerId: container.id, isSure, createdAt: undefined } })
}

interface ImageVolume extends Referenced {
  name: string | null
}

/** Image volumes whose images are on the node. */
function imageVolumes(pod: KubernetesPod, index: ImageIndex) {
  const volumes: ImageVolume[] = []
  for (const raw of pod.spec?.volumes ?? []) {
    const reference = raw.image?.reference
    if (reference === undefined) continue
    const found = imagesOfReference(index, reference)
    if (found.places.length > 0) volumes.push({ ...found, name: raw.name ?? null })
  }
  return volumes
}

function takeVolume(
  { places, isSure, name }: ImageVolume,
  pod: KubernetesPod,
  containers: readonly Container[],
  uses: ImageUsage[],
) {
  for (const { id, createdAt, name: containerName } of containers) {
    const isMounted = mounts(pod.spec, containerName, name)
    if (isMounted === false) continue
    for (const place of places)
      uses.push({
        place,
        user: { containerId: id, isSure: isSure && isMounted === true, createdAt },
      })
  }
}

/** Null: the container is not in the manifest. */
function mounts(
  spec: KubernetesPod['spec'],
  containerName: string | null,
  volumeName: string | null,
) {
  const container = [spec?.containers, spec?.initContainers, spec?.ephemeralContainers]
    .flatMap(list => list ?? [])
    .find(({ name = null }) => name === containerName)
  return container
    ? (container.volumeMounts ?? []).some(({ name = null }) => name === volumeName)
    : null
}

/** The images of the first reference that names an image on the node. */
function firstReferenced(index: ImageIndex, references: (string | undefined)[]) {
  for (const reference of references) {
    const found = imagesOfReference(index, reference ?? '')
    if (found.places.length > 0) return found
  }
  return { places: [], isSure: false }
}

/*
 * Which image on the node a reference names: by id, by the digest of its manifest, or by tag.
 *
 * Replays       containerd's reference docker.ParseDockerRef, as far as repositories have short names
 * Kept exactly  an id or a digest names one image, in any repository; a tag might have moved to another image
 * Left out      ids cut short
 */

export interface ReferencedImage {
  /** Null: not known. */
  id: string | null
  /** Tags and digests, `repository:tag` and `repository@sha256:…`. */
  names: string[]
}

/** The images that a reference might name, by place in the indexed list. */
interface Referenced {
  places: readonly number[]
  /** True: named by id or digest, so no other image is possible. False: named by tag. */
  isSure: boolean
}

export interface ImageIndex {
  byId: ReadonlyMap<string, number>
  /** Built on first use. If all containers name image ids, that is never. */
  byName(): ReadonlyMap<string, readonly number[]>
}

const nothing: Referenced = { places: [], isSure: false }

function indexImages(images: readonly ReferencedImage[]): ImageIndex {
  const byId = new Map<string, number>()
  let place = 0
  for (const { id } of images) {
    if (id !== null) byId.set(id, place)
    place++
  }
  let byName: ReadonlyMap<string, readonly number[]> | null = null
  return {
    byId,
    byName() {
      byName ??= placesByName(images)
      return byName
    },
  }
}

function placesByName(images: readonly ReferencedImage[]): ReadonlyMap<string, readonly number[]> {
  const byName = new Map<string, number[]>()
  for (const [place, { names }] of images.entries()) {
    for (const key of names) {
      const { name } = imageKey(key)
      const places = byName.get(name)
      if (!places) byName.set(name, [place])
      else if (places.at(-1) !== place) places.push(place)
    }
  }
  return byName
}

const runtimePrefix = /^[a-z][a-z-]*:\/\//

/** @param reference `sha256:…`, `repository@sha256:…` or `repository:tag`, with or without `docker-pullable://` */
export function imagesOfReference({ byId, byName }: ImageIndex, reference: string): Referenced {
  const name = reference.replace(runtimePrefix, '')
  if (name === '') return nothing
  // A node's status has no ids.
  const place =
    byId.size === 0
      ? undefined
      : (byId.get(reference) ?? byId.get(name) ?? byId.get(`sha256:${name}`))
  if (place !== undefined) return { places: [place], isSure: true }
  const meaning = imageKey(name)
  const places = byName().get(meaning.name)
  return places ? { places, isSure: meaning.isDigest } : nothing
}

const digestForm = /^sha\d{3}:[\da-f]{64,128}$/

/** The digest, or the tag with its whole repository. */
function imageKey(key: string) {
  const digest = key.slice(key.lastIndexOf('@') + 1)
  const isDigest = digestForm.test(digest)
  return { name: isDigest ? digest : canonicalName(key), isDigest }
}
