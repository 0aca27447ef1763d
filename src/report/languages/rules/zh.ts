/** Simplified Chinese: what each rule is called, why it matters, and what to do. */
import type { RuleTexts } from '#report/languages/language.ts'
import { eviction } from './zh/eviction.ts'
import { images } from './zh/images.ts'
import { machines } from './zh/machines.ts'
import { objects } from './zh/objects.ts'
import { settings } from './zh/settings.ts'
import { workloads } from './zh/workloads.ts'

export const rules: RuleTexts = {
  ...eviction,
  ...images,
  ...settings,
  ...workloads,
  ...machines,
  ...objects,
}
