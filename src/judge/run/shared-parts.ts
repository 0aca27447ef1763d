/** Keeps values once that are equal on many nodes. For nodes that were read back from a file, also all texts. */
import { sharedValue } from '#base/once.ts'
import type { AuditedNode } from '#model/report.ts'
import { openKeptPredictions } from './kept-prediction.ts'

export type SharedParts = ReturnType<typeof openSharedParts>

/** For the nodes of one audit, even if they come from several files. */
export function openSharedParts() {
  const texts = new Map<string, string>()
  const withTexts = <Value extends object>(value: Value) => shareTexts(value, texts)
  const predictionOf = openKeptPredictions()
  return {
    /** The same parsed value. Its texts are replaced by equal texts of earlier values. */
    withTexts,
    /** Shares the parts of a node that was parsed from JSON. */
    nodeOf(node: Omit<AuditedNode, 'details'>) {
      withTexts(node)
      const { identity, outcomes, prediction } = node
      return {
        ...node,
        identity: { ...identity, group: sharedValue(identity.group) },
        outcomes: sharedValue(outcomes),
        prediction: predictionOf(prediction),
      }
    },
  }
}

/** Parsed JSON has a separate string for each value, but signals, times and names repeat thousands of times. */
function shareTexts<Value extends object>(value: Value, texts: Map<string, string>) {
  for (const [key, part] of Object.entries(value)) {
    if (typeof part === 'string') {
      const known = texts.get(part)
      if (known === undefined) texts.set(part, part)
      else (value as Record<string, unknown>)[key] = known
    } else if (typeof part === 'object' && part !== null) shareTexts(part, texts)
  }
  return value
}
