/** Korean: what each rule is called, why it matters, and what to do. */
import type { RuleTexts } from '#report/languages/language.ts'
import { eviction } from './ko/eviction.ts'
import { images } from './ko/images.ts'
import { machines } from './ko/machines.ts'
import { objects } from './ko/objects.ts'
import { settings } from './ko/settings.ts'
import { workloads } from './ko/workloads.ts'

export const rules: RuleTexts = {
  ...eviction,
  ...images,
  ...settings,
  ...workloads,
  ...machines,
  ...objects,
}
