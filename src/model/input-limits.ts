/**
 * How much of each kind of input is read. Everything that comes from outside has an entry: who sends more loses this one answer,
 * and nothing else of the run.
 */

export interface InputLimit {
  /** Unpacked. */
  maxBytes: number
}

/** Limits of JSON, checked before `JSON.parse`: parsed values may take thirty times the memory of their text. */
export interface JsonLimit extends InputLimit {
  maxValues: number
  maxDepth: number
}

const KiB = 1024
const MiB = 1024 * KiB

/** Answers of API servers and kubelets, unpacked. */
export const answerLimits = {
  /** A KubeletConfiguration has about 3 KB. */
  configz: { maxBytes: 256 * KiB, maxValues: 10_000, maxDepth: 32 },
  /** About 2 KB and 100 values for each pod, and a node has 737 pods at most. */
  summary: { maxBytes: 8 * MiB, maxValues: 200_000, maxDepth: 32 },
  /** The pods of one node. About 10 KB and 500 values for each. */
  pods: { maxBytes: 16 * MiB, maxValues: 600_000, maxDepth: 64 },
  /** 500 objects; of nodes, up to 40 KB for each. */
  page: { maxBytes: 32 * MiB, maxValues: 1_500_000, maxDepth: 64 },
  /** One object, a review, what an API group serves. etcd takes 1.5 MiB for an object. */
  object: { maxBytes: 4 * MiB, maxValues: 200_000, maxDepth: 64 },
  /** Body of an answer that is no success; the rest is not read. */
  refusal: { maxBytes: 64 * KiB, maxValues: 2_000, maxDepth: 16 },
} satisfies Record<string, JsonLimit>

export type AnswerKind = keyof typeof answerLimits

export const inputLimits = {
  /** EC2 takes 16 KB before base64. */
  userData: { maxBytes: 256 * KiB },
  userDataUnpacked: { maxBytes: 512 * KiB },
  /** What an inspect script prints: about 2 MB for 250 pods and 1,000 images. */
  inspection: { maxBytes: 32 * MiB, maxValues: 1_000_000, maxDepth: 64 },
  /** A line of a snapshot: a node of 250 pods has about 1 MB. */
  snapshotLine: { maxBytes: 64 * MiB, maxValues: 3_000_000, maxDepth: 128 },
  /** A file of the kubelet's, of a few KB; YAML takes 10 ms for each KB. */
  yaml: { maxBytes: 64 * KiB },
  policy: { maxBytes: 256 * KiB },
  /** Unpacked, of one run or one cluster: a node of a day has at most 4 KB. What a process reads of all together depends on its memory. */
  history: { maxBytes: 64 * MiB, maxValues: 3_000_000, maxDepth: 32 },
  /** What the functions of a fan-out leave for each other, and marks of a run: a few MB for the largest cluster. */
  storedJson: { maxBytes: 256 * MiB, maxValues: 3_000_000, maxDepth: 128 },
} satisfies Record<string, InputLimit | JsonLimit>

/** Bytes of an object of the store as it lies there, packed or not, by its key. */
const storedMaxBytes: readonly [key: RegExp, maxBytes: number][] = [
  [/^highwater\.yaml$/, inputLimits.policy.maxBytes],
  [/^history\//, 16 * MiB],
  [/^remediation\/plans\/|\/plan\.json$|\/fan-out\/|\.ndjson\.gz$/, 256 * MiB],
]
/** Journals, marks, leases. */
const otherStoredMaxBytes = 4 * MiB

export const storedLimitOf = (key: string): number =>
  storedMaxBytes.find(([form]) => form.test(key))?.[1] ?? otherStoredMaxBytes

/** Bytes of large answers that a process holds at once, from the first byte until they are parsed. */
export const answersInFlightMaxBytes = 64 * MiB
/** Smaller answers count for nothing: a run has some hundred at once at most. */
export const smallAnswerMaxBytes = 1 * MiB
/** Real answers are 5 to 40 times as long as their gzip. */
export const maxCompressionRatio = 100
