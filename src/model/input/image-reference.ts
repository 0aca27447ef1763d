/** Full names of images: a registry, a repository, and a tag or digest. Source: distribution/reference regexp.go, lower case only. */

const imageForm = '[a-z0-9][a-z0-9.-]{0,200}(:[0-9]{1,5})?(/[a-z0-9][a-z0-9._-]{0,100}){1,8}'
const tagForm = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'
const digestForm = 'sha256:[a-f0-9]{64}'

/** Image name that pods use and under which a plan pins an image: `registry/repository:tag`. */
export const imageNameForm = `^${imageForm}:${tagForm}$`
/** Image reference that a node can pull: with a tag, a digest, or both. */
export const imageSourceForm = `^${imageForm}(:${tagForm}(@${digestForm})?|@${digestForm})$`

/** Plans do not accept longer image names. */
const longestName = 253

export const isImageName = (text: string): boolean =>
  text.length <= longestName && new RegExp(imageNameForm).test(text)
export const isImageSource = (text: string): boolean =>
  text.length <= longestName && new RegExp(imageSourceForm).test(text)
/** Whether the text is an image source without tag and digest. Such a source gets the tag of the wanted image name. */
export const isImageRepository = (text: string): boolean =>
  text.length <= longestName && new RegExp(`^${imageForm}$`).test(text)

/** The digest of a source, `sha256:…`; null: the source has only a tag, which can point to another image later. */
export const digestIn = (source: string): string | null => source.split('@')[1] ?? null

/** The source without tag and digest. @param source accepted by `isImageSource` */
export const repositoryOf = (source: string): string => {
  const [named = ''] = source.split('@')
  return named.slice(named.lastIndexOf('/')).includes(':') ? splitTag(named).repository : named
}

/** Name under which containerd stores an image pulled by digest: without the tag. */
export const byDigest = (source: string, digest: string): string =>
  `${repositoryOf(source)}@${digest}`

/** Splits an image name into repository and tag. @param name accepted by `isImageName` */
export function splitTag(name: string): { repository: string; tag: string } {
  const colon = name.lastIndexOf(':')
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) }
}

/** The name without its tag. Null: it has none. */
export const nameWithoutTag = (name: string): string | null =>
  /^([^@]*):[^/:@]+$/.exec(name)?.[1] || null
