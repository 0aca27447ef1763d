/** Kinds of holders that the bar of a disk tells apart. */
/** In the order of the bar. `leftover`: no living pod or image holds it. `other`: kinds too small to tell apart. `unknown`: no measurement covers it. */
export const segmentKinds = [
  'images',
  'unused-images',
  'pods',
  'logs',
  'host',
  'leftover',
  'other',
  'unknown',
] as const
export type SegmentKind = (typeof segmentKinds)[number]
