/** The origin of a setting, in words. */
import type { ThresholdOrigin } from '#model/prediction/prediction.ts'
import type { Language } from '#report/languages/language.ts'

const pathLimit = 120

/** `drop-in /etc/…`; `likely …` if only the value indicates the source. */
export function originText(
  { source, certainty, path }: ThresholdOrigin,
  { words: { origin }, fold }: Language,
): string {
  return origin.from(
    origin.sources[source],
    path === null ? null : fold(path, pathLimit),
    certainty === 'likely',
  )
}

/** What removed a default, as text that follows "lost": `by evictionHard of the file /etc/…`. */
export function loserText(
  { source, certainty, path }: ThresholdOrigin,
  { words: { origin }, fold }: Language,
): string {
  return origin.lostBy(
    origin.removers[source],
    path === null ? null : fold(path, pathLimit),
    certainty === 'likely',
  )
}
