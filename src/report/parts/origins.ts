/** The origin of a setting, in words. */
import type { ThresholdOrigin } from '#model/prediction/prediction.ts'
import type { Language } from '#report/languages/language.ts'

const pathLimit = 120

/** `drop-in /etc/…`; `likely …` if only the value indicates the source. */
export const originText = (origin: ThresholdOrigin, language: Language): string =>
  language.words.origin.from(
    language.words.origin.sources[origin.source],
    ...pathAndDoubt(origin, language),
  )

/** What removed a default, as text that follows "lost": `by evictionHard of the file /etc/…`. */
export const loserText = (origin: ThresholdOrigin, language: Language): string =>
  language.words.origin.lostBy(
    language.words.origin.removers[origin.source],
    ...pathAndDoubt(origin, language),
  )

const pathAndDoubt = ({ certainty, path }: ThresholdOrigin, { fold }: Language) =>
  [path === null ? null : fold(path, pathLimit), certainty === 'likely'] as const
