/** Keeps values once that are equal on many nodes: settings and origins. For nodes read back from a file, also all texts. */
import type { AuditedNode, AuditedPrediction } from '#model/report.ts'

export type SharedParts = ReturnType<typeof openSharedParts>

/** For the nodes of one audit, even if they come from several files. */
export function openSharedParts() {
  const kept = new Map<string, unknown>()
  const texts = new Map<string, string>()
  const once = interner(kept)
  const withTexts = <Value extends object>(value: Value) => shareTexts(value, texts)
  const predictionOf = ({
    filesystems,
    imageGC,
    eviction,
    settings,
  }: AuditedPrediction): AuditedPrediction => ({
    filesystems,
    imageGC,
    eviction: eviction && {
      ...eviction,
      thresholds: eviction.thresholds.map(threshold =>
        threshold.origin ? { ...threshold, origin: once(threshold.origin) } : threshold,
      ),
      lost: once(eviction.lost),
    },
    settings: once(settings),
  })
  return {
    predictionOf,
    /** The same parsed value. Its texts are replaced by equal texts of earlier values. */
    withTexts,
    /** Shares the parts of a node that was parsed from JSON. */
    nodeOf(node: Omit<AuditedNode, 'details'>) {
      withTexts(node)
      const { identity, outcomes, prediction } = node
      return {
        ...node,
        identity: { ...identity, group: once(identity.group) },
        outcomes: once(outcomes),
        prediction: withinNode(predictionOf(prediction)),
      }
    },
  }
}

/** Equal JSON means equal values here: all are plain data with keys in one order. */
const interner =
  (kept: Map<string, unknown>) =>
  <Value>(value: Value) => {
    const key = JSON.stringify(value)
    const known = kept.get(key)
    if (known === undefined) kept.set(key, value)
    return (known as Value | undefined) ?? value
  }

/** If two filesystems of a node are one disk, their states and signals are equal and shared. */
function withinNode(prediction: AuditedPrediction) {
  const once = interner(new Map())
  for (const alike of [prediction.filesystems, prediction.eviction?.signals ?? {}] as Record<
    string,
    unknown
  >[])
    for (const [key, part] of Object.entries(alike)) alike[key] = once(part)
  return prediction
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
