/** Whole names of images: a registry, a repository, a tag or digest. Source: distribution/reference regexp.go, lower case only. */

const imageForm = '[a-z0-9][a-z0-9.-]{0,200}(:[0-9]{1,5})?(/[a-z0-9][a-z0-9._-]{0,100}){1,8}'
const tagForm = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'
const digestForm = 'sha256:[a-f0-9]{64}'

/** What pods can use, and a node can be given: `registry/repository:tag`. */
export const imageNameForm = `^${imageForm}:${tagForm}$`
/** Image reference that a node can pull: with a tag, a digest, or both. */
export const imageSourceForm = `^${imageForm}(:${tagForm}(@${digestForm})?|@${digestForm})$`

/** A longer one names no image that a plan could hold. */
const longestName = 253

export const isImageName = (text: string): boolean =>
  text.length <= longestName && new RegExp(imageNameForm).test(text)
export const isImageSource = (text: string): boolean =>
  text.length <= longestName && new RegExp(imageSourceForm).test(text)
/** Without tag and digest: a source that takes the tag of the name that is wanted. */
export const isImageRepository = (text: string): boolean =>
  text.length <= longestName && new RegExp(`^${imageForm}$`).test(text)

/** The digest of a source, `sha256:…`; null: it has none, and its tag may stand for other bytes tomorrow. */
export const digestIn = (source: string): string | null => source.split('@')[1] ?? null

/** Without tag and digest. @param source as `isImageSource` has it */
export const repositoryOf = (source: string): string => {
  const [named = ''] = source.split('@')
  return named.slice(named.lastIndexOf('/')).includes(':') ? splitTag(named).repository : named
}

/** The name by which containerd keeps what it pulls by digest: without the tag. */
export const byDigest = (source: string, digest: string): string =>
  `${repositoryOf(source)}@${digest}`

/** The tag of an image's name; the rest is its repository. @param name as `isImageName` has it */
export function splitTag(name: string): { repository: string; tag: string } {
  const colon = name.lastIndexOf(':')
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) }
}
