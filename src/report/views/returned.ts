/** Findings that are back: since when they were away, and why. */
import type { Ending } from '#model/history.ts'
import type { RunBefore } from '#model/report.ts'
import { shownLine } from '#report/text.ts'

export const endingWords: Record<Ending, string> = {
  fixed: 'fixed',
  replaced: 'fixed by new nodes',
  gone: 'gone with its nodes',
}

/** `fixed on 2026-11-03, there before since 2026-10-20`, by the finding's id. */
export const returnedTexts = ({ returned }: Pick<RunBefore, 'returned'>): Map<string, string> =>
  new Map(
    returned.map(({ id, since, ended, on }) => [
      id,
      `${endingWords[ended]} on ${shownLine(on, 20)}, there before since ${shownLine(since, 20)}`,
    ]),
  )
