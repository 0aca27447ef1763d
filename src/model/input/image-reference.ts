/** Full names of images: a registry, a repository, and a tag or digest. Source: distribution/reference regexp.go, lower case only. */

import { oncePerText } from '#base/once.ts'

const imageForm = '[a-z0-9][a-z0-9.-]{0,200}(:[0-9]{1,5})?(/[a-z0-9][a-z0-9._-]{0,100}){1,8}'
const tagForm = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'
const digestForm = 'sha256:[a-f0-9]{64}'

/** Image name that pods use and under which a plan pins an image: `registry/repository:tag`. */
export const imageNameForm = `^${imageForm}:${tagForm}$`
/** Image reference that a node can pull: with a tag, a digest, or both. */
export const imageSourceForm = `^${imageForm}(:${tagForm}(@${digestForm})?|@${digestForm})$`

/** Plans do not accept longer image names. */
const longestName = 253

const isOfForm = (form: string) => (text: string) =>
  text.length <= longestName && new RegExp(form).test(text)
export const isImageName = isOfForm(imageNameForm)
export const isImageSource = isOfForm(imageSourceForm)
/** Whether the text is an image source without tag and digest. Such a source gets the tag of the wanted image name. */
export const isImageRepository = isOfForm(`^${imageForm}$`)

/** The digest of a source, `sha256:…`; null: the source has only a tag, which can point to another image later. */
export const digestIn = (source: string): string | null => source.split('@')[1] ?? null

/** The name without tag and digest. */
export const repositoryOf = (name: string) => name.replace(/@.*/, '').replace(/:[^/:]*$/, '')

/** Name under which containerd stores an image pulled by digest: without the tag. */
export const byDigest = (source: string, digest: string) => `${repositoryOf(source)}@${digest}`

/** Splits an image name into repository and tag. @param name accepted by `isImageName` */
export function splitTag(name: string): { repository: string; tag: string } {
  const colon = name.lastIndexOf(':')
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) }
}

/** The name without its tag. Null: it has none. */
export const nameWithoutTag = (name: string): string | null =>
  /^([^@]*):[^/:@]+$/.exec(name)?.[1] || null

/* Names as people and pod specs write them. Source: distribution/reference normalize.go splitDockerDomain. */

/** The registry's host, and the rest. `nginx` is `library/nginx` of `docker.io`. */
export function splitHost(name: string): { host: string; path: string } {
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(slash, 0))
  const isHost = /[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first
  const host = isHost && first !== 'index.docker.io' ? first : 'docker.io'
  const path = isHost ? name.slice(slash + 1) : name
  const isOfficial = host === 'docker.io' && !path.replace(/@.*/, '').includes('/')
  return { host, path: isOfficial ? `library/${path}` : path }
}

/** The runtime's name of an image: `nginx` is `docker.io/library/nginx:latest`. A digest makes the tag irrelevant. Source: containerd ParseDockerRef. */
export const canonicalName = oncePerText(name => {
  const { host, path } = splitHost(name)
  const repository = repositoryOf(path)
  const at = path.indexOf('@')
  if (at >= 0) return `${host}/${repository}${path.slice(at)}`
  return `${host}/${path}${repository === path ? ':latest' : ''}`
})

/** The short name of an image, without Docker Hub's host and `library/`. */
export const familiarName = (name: string) =>
  canonicalName(name).replace(/^docker\.io\/(library\/)?/, '')
