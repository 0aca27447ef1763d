/** Where a setting comes from, in words. */
import type { ThresholdOrigin, ThresholdSource } from '#model/prediction.ts'
import { foldedLine } from './text.ts'

const pathLimit = 120

/** `drop-in /etc/…`; what only its value tells is `likely …`. */
export function originText({ source, certainty, path }: ThresholdOrigin): string {
  const words: Partial<Record<ThresholdSource, string>> = {
    'no file': 'no configuration file',
    'earlier files': 'not from its files, which were changed since the start',
    kubelet: 'the kubelet itself',
  }
  const where = path === null ? '' : `${source === 'AMI default' ? ' in' : ''} ${foldedLine(path, pathLimit)}`
  return `${certainty === 'likely' ? 'likely ' : ''}${words[source] ?? source}${where}`
}

/** What took a default away, to stand after "lost": `by evictionHard of the file /etc/…`. */
export function loserText({ source, certainty, path }: ThresholdOrigin): string {
  const losers: Partial<Record<ThresholdSource, string>> = {
    'AMI default': 'by evictionHard of the AMI',
    file: 'by evictionHard of the file',
    flag: 'by the flag --eviction-hard',
    configured: 'by the configured evictionHard',
    'no file': 'as there is no configuration file',
    'earlier files': 'though its files have it, which were changed since the start',
  }
  const where = path === null ? '' : `${source === 'AMI default' ? ', in' : ''} ${foldedLine(path, pathLimit)}`
  return `${losers[source] ?? `by the ${source}`}${where}${certainty === 'likely' ? ' (likely)' : ''}`
}
