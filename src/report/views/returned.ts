/** Findings that came back: when and how they had ended. */
import type { RunBefore } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'

/** Texts by the finding's id, such as `fixed on 2026-11-03, there before since 2026-10-20`. */
export const returnedTexts = (
  { returned }: Pick<RunBefore, 'returned'>,
  { words: { returned: words }, line }: Language,
): Map<string, string> =>
  new Map(
    returned.map(({ id, since, ended, on }) => [
      id,
      words.ended(words.endings[ended], line(on, 20), line(since, 20)),
    ]),
  )
