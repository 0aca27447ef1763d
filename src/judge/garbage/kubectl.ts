/** Commands for people to paste: whatever a name holds, the shell reads it as one word, and the program as a name. */

const plainWord = /^[\w@%+=:,./-]+$/

/** A word as POSIX shells read it. */
export const quoted = (word: string): string =>
  plainWord.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** A word that a cluster has said. */
export interface Said {
  readonly said: string
}
export const said = (word: string): Said => ({ said: word })

const isSaid = (word: string | Said): word is Said => typeof word !== 'string'
const isLikeOption = (word: string | Said): boolean => isSaid(word) && word.said.startsWith('-')

/**
 * `kubectl delete pod -n shop cart-0`
 * @param words what a cluster has said stands in it as `said`, unless it is an option's value. After `--` nothing is an option (kubectl: POSIX, by pflag)
 */
export function kubectl(...words: readonly (string | Said)[]): string {
  const ordered = words.some(isLikeOption)
    ? [...words.filter(word => !isSaid(word)), '--', ...words.filter(isSaid)]
    : words
  return ['kubectl', ...ordered.map(word => (isSaid(word) ? word.said : word))]
    .map(quoted)
    .join(' ')
}

/** `aws ec2 describe-volumes --volume-ids vol-0123`: the last word is the last option's value. */
export function aws(...words: readonly [...string[], option: string, value: Said]): string {
  const [value, option, ...others] = (words as readonly (string | Said)[]).toReversed() as [
    Said,
    string,
    ...string[],
  ]
  const last = value.said.startsWith('-') ? [`${option}=${value.said}`] : [option, value.said]
  return ['aws', ...others.toReversed(), ...last].map(quoted).join(' ')
}
