/** The shelves that the doors (CLI, handlers) hand to the runners: no runner imports its own. */
import { rules } from '#judge/rules/index.ts'

export { folder } from '#publish/channels/folder.ts'
export { formats } from '#report/formats/index.ts'

export { rules }

export const ruleIds: readonly string[] = rules.map(({ id }) => id)
