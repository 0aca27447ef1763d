/**
 * Which containers hold which images.
 *
 * Replays       pkg/kubelet/kuberuntime  helpers.go toKubeContainer, kuberuntime_manager.go GetPods;
 *               pkg/kubelet/images/image_gc_manager.go  detectImages, handleImageVolumes
 * Read at       1.24 to 1.37
 * Kept exactly  every container counts, in any state and of anyone; its image is the one of exactly that id; a container without an id or an image is
 *               passed over; an image volume counts where the gate is on and a container mounts it
 * Left out      containers that no pod of the API belongs to are taken to mount no image
 */
import type { NodeRecord, RawObject } from '#model/record.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { objectOf, objectsOf, textAt, textOf } from '#replay/untrusted.ts'
import { type ImageIndex, type Referenced, referenced } from './references.ts'

/** A container that has the image, or mounts it. */
export interface ImageUser {
  containerId: string
  /** False: by a name that may mean another image by now. */
  isSure: boolean
  /** When the container was made, as the runtime writes it: see `madeMs`. */
  createdAt: unknown
}

interface ImageUse {
  /** The image's, in the list that was indexed. */
  place: number
  user: ImageUser
}

interface Container {
  id: string
  /** In its pod. */
  name: string | null
  createdAt: unknown
}

/** From ns since 1970, as a number or as text. Null: not known. */
export function madeMs({ createdAt }: ImageUser): number | null {
  const nanoseconds =
    typeof createdAt === 'string' && /^\d+$/.test(createdAt) ? Number(createdAt) : createdAt
  return typeof nanoseconds === 'number' && nanoseconds > 0 ? nanoseconds / 1e6 : null
}

/** Whether a container that was not seen can hold an image. */
export function areContainersRead({ runtime, pods }: NodeRecord, kubelet: Kubelet): boolean {
  const containers = runtime?.containers
  // Only pods tell what is mounted.
  return (
    Array.isArray(containers) &&
    (Array.isArray(pods) || containers.length === 0 || !kubelet.isGateOn('ImageVolume'))
  )
}

/** @param areIdsKnown whether the list of images has ids, as the runtime's has */
export function imageUses(
  { runtime, pods }: NodeRecord,
  index: ImageIndex,
  areIdsKnown: boolean,
  kubelet: Kubelet,
): ImageUse[] {
  // What upstream cannot convert it passes over.
  const containers = objectsOf(runtime?.containers).filter(
    ({ id, image }) => typeof id === 'string' && id !== '' && image !== null,
  )
  const hasImageId = kubelet.features.has('containerImageId')
  const uses: ImageUse[] = []
  for (const raw of containers) takeContainer(raw, hasImageId, index, uses)
  const isRuntimeRead = areIdsKnown && Array.isArray(runtime?.containers)
  const canMount = kubelet.isGateOn('ImageVolume')
  let byPod: ReadonlyMap<string, Container[]> | null = null
  for (const pod of objectsOf(pods)) {
    const statuses = isRuntimeRead ? [] : statusesOf(pod)
    for (const status of statuses) takeStatus(status, index, uses)
    const volumes = canMount ? imageVolumes(pod, index) : []
    if (volumes.length === 0) continue
    byPod ??= containersByPod(containers)
    const uid = textAt(objectOf(pod.metadata), 'uid') ?? ''
    const ofPod = isRuntimeRead
      ? (byPod.get(uid) ?? [])
      : statuses.map(({ container }) => container)
    for (const volume of volumes) takeVolume(volume, pod, ofPod, uses)
  }
  return uses
}

function takeContainer(
  raw: RawObject,
  hasImageId: boolean,
  index: ImageIndex,
  uses: ImageUse[],
): void {
  const { id, imageRef, createdAt } = raw
  const containerId = textOf(id) ?? ''
  const imageId = (hasImageId && textOf(raw.imageId)) || textOf(imageRef) || ''
  const known = index.byId.get(imageId)
  if (known !== undefined) {
    uses.push({ place: known, user: { containerId, isSure: true, createdAt } })
    return
  }
  // Upstream knows the image by its id alone. A name can only stand in where no id was read.
  const { places, isSure } = firstReferenced(index, [imageId, textAt(objectOf(raw.image), 'image')])
  for (const place of places)
    uses.push({ place, user: { containerId, isSure: isSure && imageId === '', createdAt } })
}

function containersByPod(containers: readonly RawObject[]): ReadonlyMap<string, Container[]> {
  const byPod = new Map<string, Container[]>()
  for (const { id, labels, createdAt } of containers) {
    const uid = textAt(labels, 'io.kubernetes.pod.uid') ?? ''
    const container = {
      id: textOf(id) ?? '',
      name: textAt(labels, 'io.kubernetes.container.name'),
      createdAt,
    }
    const ofPod = byPod.get(uid)
    if (ofPod === undefined) byPod.set(uid, [container])
    else ofPod.push(container)
  }
  return byPod
}

interface Status {
  container: Container
  references: (string | null)[]
}

/** Of containers that were made, whether they still run or not. */
function statusesOf(pod: RawObject): Status[] {
  const status = objectOf(pod.status)
  return [
    status?.containerStatuses,
    status?.initContainerStatuses,
    status?.ephemeralContainerStatuses,
  ]
    .flatMap(objectsOf)
    .flatMap(raw => {
      const id = (textOf(raw.containerID) ?? '').replace(/^.*:\/\//, '')
      if (id === '') return []
      return [
        {
          container: { id, name: textOf(raw.name), createdAt: null },
          references: [textOf(raw.imageID), textOf(raw.image)],
        },
      ]
    })
}

function takeStatus({ container, references }: Status, index: ImageIndex, uses: ImageUse[]): void {
  const { places, isSure } = firstReferenced(index, references)
  for (const place of places)
    uses.push({ place, user: { containerId: container.id, isSure, createdAt: null } })
}

interface ImageVolume extends Referenced {
  name: string | null
}

/** Those whose images are on the node. */
function imageVolumes(pod: RawObject, index: ImageIndex): ImageVolume[] {
  const volumes: ImageVolume[] = []
  for (const raw of objectsOf(objectOf(pod.spec)?.volumes)) {
    const reference = textOf(objectOf(raw.image)?.reference)
    if (reference === null) continue
    const found = referenced(index, reference)
    if (found.places.length > 0) volumes.push({ ...found, name: textOf(raw.name) })
  }
  return volumes
}

function takeVolume(
  { places, isSure, name }: ImageVolume,
  pod: RawObject,
  containers: readonly Container[],
  uses: ImageUse[],
): void {
  for (const { id, createdAt, name: containerName } of containers) {
    const isMounted = mounts(objectOf(pod.spec), containerName, name)
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
  spec: RawObject | null,
  containerName: string | null,
  volumeName: string | null,
): boolean | null {
  const container = [spec?.containers, spec?.initContainers, spec?.ephemeralContainers]
    .flatMap(objectsOf)
    .find(({ name }) => textOf(name) === containerName)
  return container === undefined
    ? null
    : objectsOf(container.volumeMounts).some(({ name }) => textOf(name) === volumeName)
}

/** By the first of the references that means an image on the node. */
const firstReferenced = (index: ImageIndex, references: (string | null)[]) =>
  references
    .map(reference => referenced(index, reference ?? ''))
    .find(({ places }) => places.length > 0) ?? { places: [], isSure: false }
