/** The formats of a report. */
/** The forms that an audit is always written in, and those that are asked for beside them. */
export const alwaysFormats = ['html', 'json'] as const
export const moreFormats = [
  'sarif',
  'junit',
  'csv',
  'markdown',
  'prometheus',
  'prometheus-rules',
  'ocsf',
  'asff',
  'emf',
] as const
export type MoreFormat = (typeof moreFormats)[number]
export type FormatId = (typeof alwaysFormats)[number] | MoreFormat
