/** What a changed file says to kubelets, part by part. */
import type { TextBudget } from '#base/foreign-text.ts'
import type { RawObject } from '#base/raw-object.ts'
import type { LineOf } from '#clients/user-data/settings.ts'
import { isExpression } from '#judge/drift/drift.ts'
import type { ChangedFileKind, GateProblem, GateProblemKind, UnreadFileKind } from '#model/gate.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type { KubeletSettings } from '#model/kubelet/settings.ts'

/** The nodes that a part names itself. Absent fields: it does not say. Empty: the name is not known. */
export interface Target {
  cluster?: string
  /** Nodegroup. */
  group?: string
  nodePool?: string
  nodeClass?: string
}

export interface DeclaredVolume {
  /** As the file's parser gives it. */
  value: unknown
  /** Null: that of the pods, whatever its device is called. */
  device: string | null
  isRoot?: boolean
  /** Null: the value is an expression, or no size. */
  bytes: number | null
  /** The value as it is written. */
  written: string
  path: string
  line: number
}

export interface ChangedPart {
  kind: ChangedFileKind
  file: string
  lineOf: LineOf
  target: Target
  config: RawObject
  flags: string[]
  /** Who reads `config` and `flags`. `file`: the kubelet itself. `karpenter`, `eksctl`: whatever the node's image reads. Null: they are empty. */
  by: KubeletSettings['source'] | 'file' | 'karpenter' | 'eksctl' | null
  /** The file of the node in which a script puts it. Absent: unknown, or no script. */
  nodePath?: string
  /** A script writes the whole file, so what it had is gone. */
  isWholeFile?: boolean
  /** A script edits it after its own call of bootstrap.sh: whether it restarts the kubelet then. Absent: before, or without a call. */
  afterBootstrap?: 'restarted' | 'running'
  /** Fields whose flag has an expression as its value. `flags` does not have these. */
  unclearFlags?: string[]
  /** Of the image that the file gives its nodes. Absent: their image stays. */
  amiFamily?: AmiFamily
  /** The only image that reads it, if the part names no nodes. Absent: any may. */
  image?: AmiFamily
  /** The nodes' image is their owner's own, so nothing is added to the user data. */
  isOwnImage?: boolean
  /** Volumes of which the part gives the size. Absent: none, or an instance store takes their place. */
  volumes?: DeclaredVolume[]
  /** Its user data mounts disks itself. */
  mountsDisks?: boolean
  /** Why no kubelet gets the part. */
  unused?: string
  /** Why the tool that reads the part refuses it, whatever the node. */
  refusals: FileProblem[]
  /** It is the whole object, so a setting that it does not have is removed. */
  isWhole?: boolean
  /** A patch of an EC2NodeClass that removes all of `spec.kubelet`. */
  removesKubelet?: boolean
}

/** `path` null: the whole part. */
export interface Place {
  part: ChangedPart
  path: string | null
}

/** Whether bootstrap.sh on Amazon Linux 2 runs after the part. @param isAppended whether its owner appends a call to the user data */
export const isBeforeBootstrap = (
  { afterBootstrap, isOwnImage = false }: ChangedPart,
  isAppended: boolean,
): boolean => afterBootstrap === undefined || (isAppended && !isOwnImage)

/** A problem that shows without any node. */
export type FileProblem = Pick<GateProblem, 'kind' | 'line' | 'field' | 'text'>

export interface ChangedFile {
  file: string
  /** In the order in which they act. */
  parts: ChangedPart[]
  problems: FileProblem[]
  /** It is no configuration until it is rendered. Null: it was read. */
  unread: UnreadFileKind | null
  /** At most its comments are other ones than before. */
  isUnchanged?: boolean
  /** The first line that is not rendered. Absent: unknown. */
  unreadLine?: number
}

/** What the reader of one file collects. */
export interface FileReading extends ChangedFile {
  /** All that may set something of a kubelet is written out in the file, and was read. Absent: unknown. */
  isWhole?: boolean
  /** What kustomizations select for it, if it is a patch. */
  targets: readonly unknown[]
  budget: TextBudget
}

/** Of a file. Each costs a replay of each node. */
export const mostParts = 30

/** @param field null: the whole file */
export const fileProblem = (
  kind: GateProblemKind,
  line: number,
  text: string,
  field: string | null = null,
): FileProblem => ({ kind, line, field, text })

export const expressionProblem = (line: number, field: string): FileProblem =>
  fileProblem('unread', line, `${field} is not judged: its value is an expression.`, field)

/** A name as a target has it. */
export const knownName = (name: unknown): string =>
  typeof name === 'string' && !isExpression(name) ? name : ''

/** One of several texts of a file, each for other nodes, which the file does not name. */
export const unnamed: Target = { group: '' }

export const unparsedProblem = (line: number, why: string): FileProblem =>
  fileProblem('unparsed', line, `The file cannot be parsed: ${why}.`)
