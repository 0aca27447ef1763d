/** The shelf as a list, sorted by id. */

import { by } from '#base/text.ts'
import type { Rule } from '#judge/rule.ts'
import * as shelf from './shelf.ts'

export const rules: readonly Rule[] = Object.values(shelf).toSorted(by(({ id }) => id))
