/** The languages that a report is written in. */

/** Language ids in the policy and on the command line (`zh`: Simplified Chinese). */
export const languageIds = ['en', 'ko', 'ja', 'zh'] as const
export type LanguageId = (typeof languageIds)[number]
