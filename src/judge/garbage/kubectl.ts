/** Commands for people to paste. The shell reads any object name as one word, and the program never reads the name as an option. */

import { shellWord } from '#base/text.ts'
import type { CommandEffect } from '#model/finding.ts'

/** A command, and what it does as it stands. Of several, each runs if the one before succeeds. `count`: how many nodes or pods it restarts or replaces. */
export type Command = [
  effect: CommandEffect,
  command: string | readonly string[],
  count?: { nodes?: number; pods?: number },
]

/** A word that came from a cluster, such as an object name. */
export interface ClusterWord {
  readonly said: string
}
export const clusterWord = (word: string): ClusterWord => ({ said: word })

const isClusterWord = (word: string | ClusterWord): word is ClusterWord => typeof word !== 'string'

/**
 * `kubectl delete pod -n shop cart-0`
 * @param words texts from a cluster are given as `said`, unless they are an option's value. After `--` nothing is an option (kubectl: POSIX, by pflag).
 */
export function kubectl(...words: readonly (string | ClusterWord)[]) {
  const ordered = words.some(word => isClusterWord(word) && word.said.startsWith('-'))
    ? [...words.filter(word => !isClusterWord(word)), '--', ...words.filter(isClusterWord)]
    : words
  return ['kubectl', ...ordered.map(word => (isClusterWord(word) ? word.said : word))]
    .map(shellWord)
    .join(' ')
}

/** A `kubectl` command that changes nothing. */
export const readCommand = (...words: (string | ClusterWord)[]): Command => [
  'reads',
  kubectl(...words),
]

/** `aws ec2 describe-volumes --volume-ids vol-0123`. The last word is the last option's value. */
export function aws(...words: readonly [...string[], option: string, value: ClusterWord]) {
  const [value, option, ...others] = (words as readonly (string | ClusterWord)[]).toReversed() as [
    ClusterWord,
    string,
    ...string[],
  ]
  const last = value.said.startsWith('-') ? [`${option}=${value.said}`] : [option, value.said]
  return ['aws', ...others.toReversed(), ...last].map(shellWord).join(' ')
}
