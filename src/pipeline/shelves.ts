/** The shelves that the doors (CLI, handlers) hand to the runners: no runner imports its own. */
export { rules } from '#judge/rules/index.ts'
export { folder } from '#publish/channels/folder.ts'
export { formats } from '#report/formats/index.ts'
