/** All languages of a report. English is the source; the others are data. */

import { once } from '#base/once.ts'
import type { LanguageId } from '#model/language.ts'
import ja from './ja.messages.json' with { type: 'json' }
import jaRules from './ja.rules.json' with { type: 'json' }
import ko from './ko.messages.json' with { type: 'json' }
import koRules from './ko.rules.json' with { type: 'json' }
import { english, type Language, languageOf } from './language.ts'
import { translate } from './messages.ts'
import zh from './zh.messages.json' with { type: 'json' }
import zhRules from './zh.rules.json' with { type: 'json' }

export const languages: Record<LanguageId, Language> = {
  en: english,
  get ko() {
    return korean()
  },
  get ja() {
    return japanese()
  },
  get zh() {
    return chinese()
  },
}

const korean = once(() => languageOf('ko', 'ko', translate(ko, 'ko'), koRules))
const japanese = once(() => languageOf('ja', 'ja', translate(ja, 'ja'), jaRules))
const chinese = once(() => languageOf('zh', 'zh-Hans', translate(zh, 'zh-Hans'), zhRules))
