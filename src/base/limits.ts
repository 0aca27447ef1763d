/**
 * Size limits for each kind of input. Everything that comes from outside has a limit. A larger answer is dropped,
 * and the run continues without it.
 */

export interface InputLimit {
  /** Limit of the unpacked bytes. */
  maxBytes: number
}

/** Limits of JSON, checked before `JSON.parse`: parsed values can take thirty times the memory of their text, and a million names takes a second. */
export interface JsonLimit extends InputLimit {
  maxValues: number
  maxDepth: number
}

/** For answers whose shape names every kept field: deeper values are dropped unread, and `JSON.parse` does not recurse. */
export const anyDepth = Number.POSITIVE_INFINITY

const KiB = 1024
const MiB = 1024 * KiB

/** Answers of API servers and kubelets, unpacked. */
export const answerLimits = {
  /** A KubeletConfiguration has about 3 KB and 200 values. */
  configz: { maxBytes: 256 * KiB, maxValues: 1_000, maxDepth: 32 },
  /** About 2 KB and 100 values for each pod, and a node has 737 pods at most. */
  summary: { maxBytes: 8 * MiB, maxValues: 200_000, maxDepth: anyDepth },
  /** The pods of one node: about 10 KB and 500 values for each pod. */
  pods: { maxBytes: 16 * MiB, maxValues: 600_000, maxDepth: anyDepth },
  /** A page of 500 objects; a Node object has up to 40 KB. */
  page: { maxBytes: 32 * MiB, maxValues: 800_000, maxDepth: 64 },
  /** One object, a review, or the resources of an API group. etcd stores objects up to 1.5 MiB. */
  object: { maxBytes: 4 * MiB, maxValues: 200_000, maxDepth: 64 },
  /** Body of an unsuccessful answer. The rest of the body is not read. */
  refusal: { maxBytes: 64 * KiB, maxValues: 2_000, maxDepth: 16 },
} satisfies Record<string, JsonLimit>

/** Limits of all texts of one source together. */
export interface TextLimits {
  /** Characters of YAML and TOML. A text that contains another counts for both. */
  maxCharacters: number
  /** Lexical tokens of YAML. A token takes about 4 µs and 1 KB. */
  maxTokens: number
  /** Bytes that come out of gzip and base64. */
  maxUnpackedBytes: number
}

/** Limits of YAML, TOML and gzip. A token takes about 4 µs, so each of these takes less than a second. */
export const textLimits = {
  /** One user data. */
  userData: { maxCharacters: 512 * KiB, maxTokens: 50_000, maxUnpackedBytes: 512 * KiB },
  /** All user data of one cluster: of its launch templates, or of its node classes. */
  clusterUserData: { maxCharacters: 4 * MiB, maxTokens: 200_000, maxUnpackedBytes: 16 * MiB },
  /** The kubelet's files of one node: a few KB. */
  nodeFiles: { maxCharacters: 256 * KiB, maxTokens: 20_000, maxUnpackedBytes: 0 },
  /** The contents of a plan, each once: a few hundred tokens for a nodegroup. */
  plan: { maxCharacters: 16 * MiB, maxTokens: 200_000, maxUnpackedBytes: 0 },
  policy: { maxCharacters: 256 * KiB, maxTokens: 150_000, maxUnpackedBytes: 0 },
  /** A template of this package. */
  template: { maxCharacters: 64 * KiB, maxTokens: 20_000, maxUnpackedBytes: 0 },
  /** 1,000 contexts have 2.5 MB and 60,000 tokens. */
  kubeconfig: { maxCharacters: 8 * MiB, maxTokens: 300_000, maxUnpackedBytes: 0 },
} satisfies Record<string, TextLimits>

export type AnswerKind = keyof typeof answerLimits

export const inputLimits = {
  /** EC2 accepts 16 KB before base64. */
  userData: { maxBytes: 256 * KiB },
  /** Output of an inspect script: about 2 MB for 250 pods and 1,000 images. */
  inspection: { maxBytes: 32 * MiB, maxValues: 400_000, maxDepth: 64 },
  /** A line of a snapshot: a node of 250 pods has about 1 MB. */
  snapshotLine: { maxBytes: 32 * MiB, maxValues: 500_000, maxDepth: 128 },
  policy: { maxBytes: 256 * KiB },
  /** A plan of Terraform: about 10 KB and 300 values for each resource, all versions together. */
  terraformPlan: { maxBytes: 16 * MiB, maxValues: 800_000, maxDepth: 128 },
  /** History of one run or one cluster, unpacked: a node has at most 4 KB per day. The total that a process reads depends on its memory. */
  history: { maxBytes: 64 * MiB, maxValues: 1_000_000, maxDepth: 32 },
  /** Objects that the functions of a fan-out pass to each other, and marks of a run: a few MB for the largest cluster. */
  storedJson: { maxBytes: 256 * MiB, maxValues: 1_000_000, maxDepth: 128 },
} satisfies Record<string, InputLimit | JsonLimit>

/**
 * Limits of a snapshot, by the length of its file. A real Node record has about 1,900 packed bytes, the objects of a cluster about 4,000, and real records
 * are 6 to 7 times as long as their gzip. A small file of many small records is no snapshot: each node would cost 5 ms and 50 KB, and each cluster 60 KB of findings.
 * A node whose kubelet refused has 500 bytes and costs a third: `maxNodes` counts it as that. Nodes of four pods have 1,540 bytes: a large file may be
 * full of them.
 */
export const snapshotLimits = (fileBytes: number) => ({
  maxLines: 3_000 + fileBytes / 512,
  maxNodes: Math.max(100 + fileBytes / 1_792, fileBytes / KiB - 300),
  maxClusters: 100 + fileBytes / 4_096,
  maxUnpackedBytes: 1 * MiB + 10 * fileBytes,
})

/**
 * Limits of a judged cluster's file, by its length. A real node has at least 700 packed bytes, 16 bytes for each value, and the file is 4 to 12 times as
 * long as its gzip.
 */
export const judgedLimits = (fileBytes: number) => ({
  maxLines: 100 + fileBytes / 128,
  maxUnpackedBytes: 1 * MiB + 30 * fileBytes,
})
export const judgedLineLimit = (bytes: number): JsonLimit => ({
  ...inputLimits.storedJson,
  maxValues: Math.floor(1_000 + bytes / 6),
})

/**
 * Steps of timelines, about 0.25 µs each: of a fleet, what each of its nodes adds, and of one node. A node of 58 pods that are all evicted takes 140,000 to
 * 400,000, and most nodes take 20,000.
 */
export const timelineSteps = { ofFleet: 12_000_000, ofNode: 8_000, ofOneNode: 3_000_000 }

/** Longest lists of a snapshot's record. A kubelet runs up to 737 pods; a cluster keeps 12,500 ended ones (--terminated-pod-gc-threshold). */
export const listLimits = {
  errors: 1_000,
  images: 10_000,
  containers: 50_000,
  sandboxes: 50_000,
  pods: 12_500,
  volumes: 1_000,
  /** The inspect script prints up to 40. */
  logLines: 40,
  /** Labels, capacities, requests of one object: a few dozen. */
  mapEntries: 1_000,
}

/**
 * Characters that are redacted of each part of a record, 1 µs each at most: all parts of a node take about a second. Most texts are names, paths and
 * digests, which count an eighth or nothing. The messages of 500 events have 768,000 characters at most, three quarters of `objects`;
 * those of a pod have a few hundred; the content of a host's file has 300,000 at most.
 */
export const redactionLimits = {
  node: 96_000,
  configz: 64_000,
  summary: 32_000,
  pods: 320_000,
  runtime: 128_000,
  host: 320_000,
  known: 32_000,
  volumes: 16_000,
  errors: 64_000,
  objects: 1_050_000,
}

/** Objects that are redacted at once: as many as a page of an API server has. */
export const objectsAtOnce = 500

/** Longer messages are shortened: a pod's author could use up what the messages of other pods need. The files of a host are whole. */
export const longestMessage = 4_096

/** Bytes of the lists of a findings document. A cluster with many findings has 60 KB. */
export const documentLimits = {
  findings: 24 * MiB,
  waived: 4 * MiB,
  unknowns: 8 * MiB,
  notAudited: 4 * MiB,
}

/** Limit of an object's size in the store, packed or not, by key. */
const storedMaxBytes: readonly [key: RegExp, maxBytes: number][] = [
  [/^highwater\.yaml$/, inputLimits.policy.maxBytes],
  [/^history\//, 16 * MiB],
  // A node of a plan has about 2 KB.
  [/^remediation\/(plans\/|runs\/[^/]+\/plan\.json$)/, 64 * MiB],
  // The plan of an audit only decides when to plan anew.
  [/\/plan\.json$/, 16 * MiB],
  [/\/fan-out\/|\.ndjson\.gz$/, 256 * MiB],
  [/^remediation\/(leases|approvals)\/|\/approval\.json$/, 256 * KiB],
  [/^remediation\/(begun\/|runs\/[^/]+\/(steps|deletions)\/)/, 1 * MiB],
]
/** Limit for other keys: runs, notices, marks. */
const otherStoredMaxBytes = 4 * MiB

export const storedLimitOf = (key: string) =>
  storedMaxBytes.find(([form]) => form.test(key))?.[1] ?? otherStoredMaxBytes

/** Limit of the bytes of large answers in memory at once, from the first byte until parsing ends. */
export const answersInFlightMaxBytes = 64 * MiB
/** Smaller answers are not counted: a run has at most a few hundred at once. */
export const smallAnswerMaxBytes = 1 * MiB
/** Real answers are 5 to 40 times as long as their gzip. */
export const maxCompressionRatio = 100
