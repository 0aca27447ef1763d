/** The languages that a report is written in. */

/** As the policy and the command line name them (`zh`: Simplified Chinese). */
export const languageIds = ['en', 'ko', 'ja', 'zh'] as const
export type LanguageId = (typeof languageIds)[number]
