/** Japanese: what each rule is called, why it matters, and what to do. */
import type { RuleTexts } from '#report/languages/language.ts'
import { eviction } from './ja/eviction.ts'
import { images } from './ja/images.ts'
import { machines } from './ja/machines.ts'
import { objects } from './ja/objects.ts'
import { settings } from './ja/settings.ts'
import { workloads } from './ja/workloads.ts'

export const rules: RuleTexts = {
  ...eviction,
  ...images,
  ...settings,
  ...workloads,
  ...machines,
  ...objects,
}
