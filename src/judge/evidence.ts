/** Lines of evidence, as rules yield them. */
import type { Evidence, EvidenceKind } from '#model/finding.ts'

/** @param what of kind `configz` the path of the setting alone: the judgement adds whether it was read from configz or computed from disk */
export const line = (kind: EvidenceKind, what: string, value: string): Evidence => ({
  kind,
  what,
  value,
})
