/** The parts of a changed file, and how user data becomes parts. Each reader of a file format adds to a `FileReading`. */

import { ForeignTextError, parseToml, type TextBudget } from '#base/foreign-text.ts'
import type { RawObject } from '#base/raw-object.ts'
import { readUserData } from '#clients/user-data.ts'
import { bottlerocketMistakes } from '#facts/eks/bottlerocket-settings.ts'
import type { ChangedFileKind, GateProblem } from '#model/gate.ts'
import type { KubeletSource } from '#model/input/cluster-input.ts'
import { mapOf } from '#model/input/config-value.ts'
import type { AmiFamily } from '#model/input/node-identity.ts'
import type { LineRange } from './lines.ts'

/** The nodes that a part names itself. Absent fields: it does not say. Empty: its name is not known. */
export interface Target {
  cluster?: string
  /** Nodegroup. */
  group?: string
  nodePool?: string
  nodeClass?: string
}

export interface ChangedPart {
  kind: ChangedFileKind
  file: string
  lines: LineRange
  target: Target
  /** A file of the kubelet. Absent: `source` is set. */
  content?: RawObject
  /** What Karpenter, eksctl or the image reads. `source` `karpenter` and `eksctl`: in the form that the node's image reads. */
  source?: KubeletSource
  /** Fields whose flag has an expression as its value. `source` does not have these flags. */
  unclearFlags?: string[]
  /** Of the image that the file gives its nodes. Absent: their image stays. */
  amiFamily?: AmiFamily
  /** Why no kubelet gets the part. */
  unused?: string
}

/** A problem that shows without any node. */
export type FileProblem = Pick<GateProblem, 'kind' | 'line' | 'field' | 'text'>

export interface ChangedFile {
  file: string
  /** In the order in which they act. */
  parts: ChangedPart[]
  problems: FileProblem[]
  /** It is no configuration until it is rendered. */
  isTemplate?: boolean
}

/** What the reader of one file collects. */
export interface FileReading extends ChangedFile {
  budget: TextBudget
}

/** One document of a YAML file, with lines of the whole file. */
export interface YamlPart {
  value: RawObject
  lines: LineRange
  /** The lines of the value at a path; the whole document if it has no such value. */
  linesAt(...path: (string | number)[]): LineRange
}

/** Texts that mention none of these are files of another kind, even if they cannot be parsed. */
export const mention =
  /KubeletConfiguration|NodeConfig|EC2NodeClass|NodePool|ClusterConfig|settings\.kubernetes|bootstrap\.sh|KUBELET_EXTRA_ARGS/

export const unparsed = (line: number, why: string): FileProblem => ({
  kind: 'unparsed',
  line,
  field: null,
  text: `The file cannot be parsed: ${why}.`,
})

export const linesOf = (text: string, from = 1): LineRange => ({
  from,
  to: from + text.split('\n').length - 1,
})

const bottlerocketStart = /^[ \t]{0,40}\[{0,2}[ \t]{0,40}"?settings"?[ \t]{0,40}[.\]]/m

/** Takes user data in any form, also from within another file. */
export function takeUserData(
  reading: FileReading,
  text: string,
  lines: LineRange,
  target: Target,
  kind: ChangedFileKind = 'UserData',
): void {
  const { settings, unread } = readUserData(text, reading.budget)
  // What is of no known form sets nothing of a kubelet, unless it says so.
  for (const why of unread) if (mention.test(text)) reading.problems.push(unparsed(lines.from, why))
  if (bottlerocketStart.test(text)) takeBottlerocketMistakes(reading, text, lines)
  for (const source of settings) {
    const { file } = reading
    const own = source.source === 'bottlerocket' ? 'Bottlerocket' : kind
    reading.parts.push({
      kind: kind === 'UserData' ? own : kind,
      file,
      lines,
      target,
      source: { ...source },
    })
  }
}

function takeBottlerocketMistakes(reading: FileReading, text: string, lines: LineRange) {
  try {
    const { settings } = parseToml(text, reading.budget)
    refuseBottlerocket(reading, mapOf(mapOf(settings).kubernetes), lines)
  } catch (error) {
    // Packed user data: its settings were read, and their types are unknown.
    if (!(error instanceof ForeignTextError)) throw error
  }
}

export function refuseBottlerocket(
  { problems }: FileReading,
  settings: Readonly<RawObject>,
  lines: LineRange,
): void {
  for (const { setting, key, why } of bottlerocketMistakes(settings))
    problems.push({
      kind: 'refused',
      line: lines.from,
      field: key === null ? setting : `${setting}.${key}`,
      text: `Bottlerocket refuses ${setting}: ${why}. The node does not join the cluster.`,
    })
}
