/** Images of the Node object that no pod of the node names: mostly earlier builds. Without the runtime, their layers are not known. */

import { bytes, type NodeSubject, shortName } from '#judge/rule.ts'
import { canonicalName, repositoryOf } from '#model/input/image-reference.ts'
import { type KubernetesPod, statusesOf } from '#model/input/record.ts'

/** Share of the listed bytes, and number of images, from which on unused images are most of a list. */
const least = { share: 0.5, images: 4 }
/** Sandboxes use them, which no pod names. */
const sandboxImage = /\/pause[:@]/

export type ListedSubject = Partial<Pick<NodeSubject, 'pods' | 'runtime' | 'host'>> & {
  node?: NodeSubject['node'] | undefined
}

/** `no pod uses 4 of the 8 images that the node lists (6.0 GiB in the list), 4 of them other builds of registry/app`. Null: these are not most, or the node itself shows its images. */
export function unusedImages(subject: ListedSubject): string | null {
  const found = unusedOf(subject)
  if (!found) return null
  const { used, unused, unusedBytes, images } = found
  const [[repository, alike]] = [
    ...Map.groupBy(unused, ({ names = [] }) => repositoryOf(names[0] ?? '')),
  ].toSorted(([, a], [, b]) => b.length - a.length) as [[string, object[]]]
  const isBuilt = [...used].some(name => repositoryOf(name) === canonicalRepository(repository))
  const builds = `, ${alike.length} of them ${isBuilt ? 'other builds ' : ''}of ${shortName(repository)}`
  return `no pod uses ${unused.length} of the ${images.length} images that the node lists (${bytes(unusedBytes)} in the list)${alike.length < 2 ? '' : builds}`
}

/** Null: as `unusedImages`. */
export function unusedOf({ node, pods, runtime, host }: ListedSubject) {
  const images = node?.status?.images ?? []
  const isMeasured = runtime?.images !== undefined || host?.diskUse?.snapshots !== undefined
  if (!pods?.length || isMeasured) return null
  const used = new Set([...new Set(pods.flatMap(namesIn))].map(canonicalName))
  const digests = new Set([...used].map(digestOf))
  // Most names have a digest that no pod names: they need no canonical name.
  const isUsed = (name: string) => digests.has(digestOf(name)) && used.has(canonicalName(name))
  const unused = images.filter(
    ({ names = [] }) =>
      names.length > 0 && !names.some(name => isUsed(name) || sandboxImage.test(name)),
  )
  const unusedBytes = sumOf(unused)
  if (unused.length < least.images || unusedBytes < least.share * sumOf(images)) return null
  return { images, used, unused, unusedBytes }
}

/** Empty: a name by tag alone. */
function digestOf(name: string) {
  const at = name.indexOf('@', name.lastIndexOf('/'))
  return at < 0 ? '' : name.slice(at)
}

const canonicalRepository = (name: string) => repositoryOf(canonicalName(name))

const sumOf = (images: readonly { sizeBytes?: number }[]) =>
  images.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0)

/** Also by digest, as the runtime reports them. */
export const namesIn = (pod: KubernetesPod): string[] => [
  ...[...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].flatMap(
    ({ image }) => image ?? [],
  ),
  ...statusesOf(pod).flatMap(({ imageID = '' }) => imageID.replace(/^[a-z-]+:\/\//, '') || []),
]
