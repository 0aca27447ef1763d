/**
 * Which image on the node a reference names: by id, by the digest of its manifest, or by tag.
 *
 * Replays       containerd's reference docker.ParseDockerRef, as far as repositories have short names
 * Kept exactly  an id or a digest names one image, in any repository; a tag might have moved to another image
 * Left out      ids cut short
 */
import { oncePerText } from '#base/once.ts'

export interface ReferencedImage {
  /** Null: not known. */
  id: string | null
  /** Tags and digests, `repository:tag` and `repository@sha256:…`. */
  names: string[]
}

/** The images that a reference might name, by place in the indexed list. */
export interface Referenced {
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

export function indexImages(images: readonly ReferencedImage[]): ImageIndex {
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
      const { name } = meaningOf(key)
      const places = byName.get(name)
      if (places === undefined) byName.set(name, [place])
      else if (places.at(-1) !== place) places.push(place)
    }
  }
  return byName
}

const runtimePrefix = /^[a-z][a-z-]*:\/\//

/** @param reference `sha256:…`, `repository@sha256:…` or `repository:tag`, with or without `docker-pullable://` */
export function referenced({ byId, byName }: ImageIndex, reference: string): Referenced {
  const known = byId.get(reference)
  if (known !== undefined) return { places: [known], isSure: true }
  const name = reference.replace(runtimePrefix, '')
  if (name === '') return nothing
  const place = byId.get(name) ?? byId.get(`sha256:${name}`)
  if (place !== undefined) return { places: [place], isSure: true }
  const meaning = meaningOf(name)
  const places = byName().get(meaning.name)
  return places === undefined ? nothing : { places, isSure: meaning.isDigest }
}

const digestForm = /(?:^|@)(sha\d{3}:[\da-f]{64,128})$/

/** The digest, or the tag with its whole repository. */
const meaningOf = oncePerText(key => {
  const digest = digestForm.exec(key)?.[1]
  return { name: digest ?? tagOf(key), isDigest: digest !== undefined }
})

/** `nginx` is `docker.io/library/nginx:latest`. */
function tagOf(name: string) {
  const slash = name.indexOf('/')
  const first = slash === -1 ? '' : name.slice(0, slash)
  const isHost = /[.:]/.test(first) || first === 'localhost'
  const docker = slash === -1 ? 'docker.io/library' : 'docker.io'
  const repository = isHost ? name : `${docker}/${name}`
  return repository.lastIndexOf(':') > repository.lastIndexOf('/')
    ? repository
    : `${repository}:latest`
}
