/** The shelf of languages. */
import type { LanguageId } from '#model/language.ts'
import { ja } from './ja.ts'
import { ko } from './ko.ts'
import { english, type Language, languageOf } from './language.ts'
import { rules as rulesInJa } from './rules/ja.ts'
import { rules as rulesInKo } from './rules/ko.ts'
import { rules as rulesInZh } from './rules/zh.ts'
import { zh } from './zh.ts'

/** Every language that there is. */
export const languages: Record<LanguageId, Language> = {
  en: english,
  ko: languageOf('ko', 'ko', ko, rulesInKo),
  ja: languageOf('ja', 'ja', ja, rulesInJa),
  zh: languageOf('zh', 'zh-Hans', zh, rulesInZh),
}
