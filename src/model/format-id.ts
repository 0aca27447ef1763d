/** Formats that every audit writes. The policy can add formats of `moreFormats`. */
export const alwaysFormats = ['html', 'json'] as const
export const moreFormats = [
  'sarif',
  'junit',
  'csv',
  'markdown',
  'prometheus',
  'prometheus-rules',
  'ocsf',
] as const
export type MoreFormat = (typeof moreFormats)[number]
export type FormatId = (typeof alwaysFormats)[number] | MoreFormat
