/** The shelf as a list, sorted by id. */
import type { Rule } from '#judge/rule.ts'
import { byText } from '#model/text-order.ts'
import * as shelf from './shelf.ts'

export const rules: readonly Rule[] = Object.values(shelf).toSorted((a, b) => byText(a.id, b.id))
