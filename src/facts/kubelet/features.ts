/** What a kubelet of a version does: the one place where versions are compared. Within a minor no patch changes any of it. */

/** The minor that brought each behaviour. Sources are the functions named in the replays that ask for it. */
const sinceMinor = {
  /** A `NodeLogQuery` endpoint to switch on. */
  enableSystemLogQuery: 27,
  maxParallelImagePulls: 27,
  imageMaximumGCAge: 29,
  /** `containerfs.available` and `containerfs.inodesFree`. */
  containerfsSignals: 29,
  /** `imagefs.inodesFree` is observed even where the bytes of imagefs are missing. */
  imagefsInodesWithoutBytes: 29,
  /** Drop-ins are merged key by key. Before, each brought all its defaults. */
  dropInMergePatch: 29,
  imagefsInodesDefault: 30,
  containerLogWorkers: 30,
  podLogsDir: 30,
  /** `memorySwap.swapBehavior` is NoSwap or LimitedSwap. Before, LimitedSwap or UnlimitedSwap. */
  noSwapBehavior: 30,
  /** With high threshold 100 a maximum age keeps image GC running. */
  maximumAgeKeepsImageGc: 30,
  /** The error about a missing `ImageMaximumGCAge` gate names the field, no longer the gate. */
  maximumAgeErrorNamesField: 30,
  /** Each entry of `enforceNodeAllocatable` is checked against `cgroupsPerQOS`, and duplicates are refused. */
  enforcementByEntry: 31,
  windowsMemoryDefault500Mi: 31,
  failCgroupV1: 31,
  compressibleEnforcement: 32,
  crashLoopBackOff: 32,
  /** After drop-ins are merged, defaulting runs again; `null` removes. */
  dropInsDefaultedAgain: 32,
  /** Unknown feature gates crash the kubelet while it defaults the file. Before, validation named them. */
  gatesReadWhileDefaulting: 32,
  runOnceRefused: 32,
  containerLogMaxFilesValidated: 33,
  mergeDefaultEvictionSettings: 33,
  cgroupV1Refused: 35,
  imageMinimumGCAgeValidated: 36,
  memoryThrottlingFactorUnset: 37,
} as const

export type Feature = keyof typeof sinceMinor

const oldestMinor = 24
const newestMinor = 37

export interface KubeletFeatures {
  /** The minor in the version's text; null where there is none. */
  minor: number | null
  /** False where the rules of another minor stand in: the newest for a version that is not known, the nearest for one outside 1.24 to 1.37. */
  exact: boolean
  /** The minor whose rules are applied. */
  rulesOfMinor: number
  has(feature: Feature): boolean
}

const cache = new Map<number | null, KubeletFeatures>()

/** @param kubeletVersion as the node reports it, `v1.34.1-eks-0000000`. */
export function featuresOf(kubeletVersion: string | null): KubeletFeatures {
  const minor = minorOf(kubeletVersion)
  const known = cache.get(minor)
  if (known) return known
  const rulesOfMinor = minor === null ? newestMinor : Math.min(Math.max(minor, oldestMinor), newestMinor)
  const features: KubeletFeatures = {
    minor,
    exact: minor === rulesOfMinor,
    rulesOfMinor,
    has: feature => rulesOfMinor >= sinceMinor[feature],
  }
  // Versions come from outside: only the minors that exist are worth keeping.
  if (features.exact || minor === null) cache.set(minor, features)
  return features
}

function minorOf(kubeletVersion: string | null): number | null {
  const [, minor] = /^v?1\.(\d{1,4})(?:[.+-]|$)/.exec(kubeletVersion ?? '') ?? []
  return minor === undefined ? null : Number(minor)
}
