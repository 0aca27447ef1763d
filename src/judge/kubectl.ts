/** Commands for people to paste: whatever a name holds, the shell reads it as one word. */

const plainWord = /^[\w@%+=:,./-]+$/

/** A word as POSIX shells read it. */
const quoted = (word: string): string => (plainWord.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** `kubectl delete pod -n shop cart-0` */
export const kubectl = (...words: string[]): string => ['kubectl', ...words].map(quoted).join(' ')

/** `aws ec2 describe-volumes --volume-ids vol-0123` */
export const aws = (...words: string[]): string => ['aws', ...words].map(quoted).join(' ')
