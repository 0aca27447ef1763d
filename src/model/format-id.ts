/** The formats of a report. */
/** Formats that an audit always writes, and formats that the policy adds. */
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
