/**
 * One image that a node must not lose: pinned under the name that pods use, and pulled from another registry if it is missing. Nothing restarts.
 * The hash covers one line, as in `scripts/pull-image.sh`: the name, and whether it is pinned.
 */
import { needsKubeletCredentials } from '#facts/kubernetes/registries.ts'
import {
  byDigest,
  digestIn,
  isImageName,
  isImageRepository,
  isImageSource,
  repositoryOf,
  splitTag,
} from '#model/input/image-reference.ts'
import type { Runtime } from '#model/input/inspection.ts'
import type { AmiFamily } from '#model/input/record.ts'
import { canonicalJson, sha256 } from '#remediate/plan/canonical.ts'
import type { FileChange } from './remedy.ts'

/** Where an image is pulled from; `why`: that is unknown. */
export type ImageSource = { source: string } | { why: string }

/** `unchanged`: the image is pinned already. */
export type PulledImage =
  | Omit<FileChange, 'host'>
  | { refused: string; isUnread?: true }
  | 'unchanged'

/**
 * @param runtime as read from the node; null: unread
 * @param source as `sourceOf` returns it
 */
export function pullImage(
  runtime: Runtime | null,
  amiFamily: AmiFamily,
  name: string,
  source: string,
): PulledImage {
  if (amiFamily === 'Bottlerocket')
    return {
      refused:
        'Bottlerocket has no ctr that could pin an image: its containerd belongs to the image',
    }
  const oldSha256 = imageHashOn(runtime, name)
  if (oldSha256 === null) return { refused: "the node's images were not read", isUnread: true }
  const newSha256 = imageHash(name, 'pinned')
  if (oldSha256 === newSha256) return 'unchanged'
  const registry = source.slice(0, source.indexOf('/'))
  if (oldSha256 === 'absent' && needsKubeletCredentials(registry))
    return {
      refused: `${name} is missing, and its source ${source} asks for credentials that only the kubelet has: name one in policy requiredImageSources that the nodes can pull from without`,
    }
  if (oldSha256 === 'absent' && digestIn(source) === null)
    return {
      refused: `${name} is missing, and no digest of it is known: no node of its cluster that was read holds it. Name the source in policy requiredImageSources with its digest, ${repositoryOf(source)}@sha256:…`,
    }
  return {
    method: 'pull-image',
    path: name,
    oldSha256,
    newSha256,
    content: imageRecordText(name, source),
    lastsUntil: 'replacement',
  }
}

/**
 * The source by digest: its own digest, else the one that nodes hold under the name that pods use, else under the source's own name.
 * Without any digest the source stays as it is, which is enough to pin a present image.
 * @param digestsOf digests that the nodes of the cluster hold under a name
 */
export function pinnedSource(
  name: string,
  source: string,
  digestsOf: (name: string) => readonly string[],
): ImageSource {
  const own = digestIn(source)
  if (own !== null) return { source: byDigest(source, own) }
  const named = digestsOf(name)
  const [digest, ...others] = named.length > 0 ? named : digestsOf(source)
  if (others.length > 0)
    return {
      why: `nodes hold different images as ${name}: name one digest in policy requiredImageSources`,
    }
  return { source: digest === undefined ? source : byDigest(source, digest) }
}

/** Whether a step pulls from the policy's source. @param planned with a digest, if one was known @param source of the policy */
export function isPulledFrom(planned: string, source: string) {
  const [own, wanted] = [digestIn(planned), digestIn(source)]
  if (own === null) return planned === source
  return repositoryOf(planned) === repositoryOf(source) && (wanted === null || wanted === own)
}

/** Where the policy pulls this image from; `why`: unknown registry. @param name as `isImageName` accepts it @param pattern the policy's pattern that matches it */
export function sourceOf(name: string, pattern: string, source: string): ImageSource {
  if (!isImageRepository(source))
    return source === name
      ? { why: `policy requiredImageSources ${pattern} names the image itself` }
      : { source }
  const { repository, tag } = splitTag(name)
  if (pattern.includes('*') && lastPart(repository) !== lastPart(source))
    return {
      why: `policy requiredImageSources ${pattern} would put ${source} in the place of ${name}: name that image alone, without *`,
    }
  const whole = `${source}:${tag}`
  if (whole === name)
    return { why: `policy requiredImageSources ${pattern} names the image itself` }
  return isImageSource(whole)
    ? { source: whole }
    : { why: `${whole} is no name of an image that a plan may pull` }
}

const lastPart = (repository: string) => repository.slice(repository.lastIndexOf('/') + 1)

/** Hash of the image's state: hex, as reported, or `absent`; null: the images were not read. */
export function imageHashOn(runtime: Runtime | null, name: string): string | null {
  if (!runtime?.images) return null
  const image = runtime.images.find(({ repoTags }) => repoTags?.includes(name))
  return image ? imageHash(name, image.pinned === true ? 'pinned' : 'unpinned') : 'absent'
}

const imageHash = (name: string, state: 'pinned' | 'unpinned') => sha256(`${name} ${state}\n`)

const imageRecordText = (name: string, source: string) =>
  canonicalJson({ name, pinned: true, source })

/** The source from which an image's step pulls; null: no plan could have that content. */
export function sourceIn(content: string, name: string): string | null {
  const source = /"source":"([^"\\]*)"\}$/.exec(content)?.[1]
  return source !== undefined &&
    isImageSource(source) &&
    source !== name &&
    content === imageRecordText(name, source)
    ? source
    : null
}

/** Whether the hashes are of that image: missing or unpinned before, and pinned after. */
export const isImageChange = (name: string, oldSha256: string, newSha256: string) =>
  isImageName(name) &&
  ['absent', imageHash(name, 'unpinned')].includes(oldSha256) &&
  newSha256 === imageHash(name, 'pinned')

/**
 * State of the image for people.
 * @param hash of the image of that name, or `absent`
 */
export function imageText(name: string, hash: string): string {
  if (hash === 'absent') return 'it is not there'
  return hash === imageHash(name, 'pinned') ? 'it is pinned' : 'it is there, and not pinned'
}
