/** A finding on a cluster that stands for so many places: its evidence says for how many, and a comparison of two runs goes by that. */
import type { ComparedFinding } from '#model/delta.ts'

export const placesEvidence = 'places'

/** Null: it stands for itself. */
export function placesOf({
  evidence,
  nodes,
}: Pick<ComparedFinding, 'evidence' | 'nodes'>): number | null {
  const told = nodes.count === 0 ? evidence.find(({ what }) => what === placesEvidence) : undefined
  return told ? Number(told.value) : null
}
