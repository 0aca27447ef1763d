/** What changed configuration files would do to the nodes of a snapshot. The files change nothing here: each node is replayed with and without them. */

import { basename, normalize } from 'node:path'
import type { TextBudget } from '#base/foreign-text.ts'
import { OperatorError } from '#base/operator-error.ts'
import { hasWord } from '#clients/user-data/settings.ts'
import type { GateDocument, GateFile, UnreadFileKind } from '#model/gate.ts'
import type { Selection } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { isProgram, kubeletLines, openBudget, readChangedFile } from './changed-file.ts'
import { patchTargets } from './documents.ts'
import { type Change, judgeNodes, type Part, setsSomething } from './judging.ts'
import { addedItems } from './node-change.ts'
import { Problems, verdictOf } from './problems.ts'
import { type GroupOption, isOfGroup, type ReachedNode, reachOf, targetWords } from './reach.ts'
import { surveyOf } from './survey.ts'
import { type ChangedFile, type ChangedPart, fileProblem } from './user-data-parts.ts'

export interface GateText {
  /** As the operator writes the path. */
  file: string
  /** Empty: the change deletes it. */
  text: string
  /** The same file before the change. Null: it is new, or no base is given. */
  base: string | null
  /** It is not changed, and read for what it says of the others. */
  isContext?: boolean
}

export interface GateOptions {
  texts: readonly GateText[]
  groups: readonly GroupOption[]
  /** Whether the bases count. */
  hasBase: boolean
  selection: Selection
  policy: Policy
  version: string
}

/** @throws OperatorError */
export async function gate(snapshot: string, options: GateOptions): Promise<GateDocument> {
  const { texts, groups, hasBase, version, selection } = options
  // A change of a setting counts in full, however empty the disks are today.
  const severities = { 'alert-before-image-gc': 'medium', ...options.policy.severities } as const
  const policy = { ...options.policy, severities }
  const survey = await surveyOf(snapshot, selection)
  const nodes = [...survey.nodes.values()]
  const unmatched = groups.find(({ group }) => !nodes.some(node => isOfGroup(node, group)))
  if (unmatched)
    throw new OperatorError(`--group ${unmatched.group}: no node of ${snapshot} is of this name`)
  const budget = openBudget()
  const files = readFiles(texts, budget)
  const before = texts.flatMap(({ base, ...text }) =>
    base === null ? [] : [{ ...text, text: base }],
  )
  const bases = hasBase ? readFiles(before, budget) : []
  const earlier = partsOf(bases, groups, nodes).map(part => ({ ...part, lineOf: () => 1 }))
  const unread = new Set(files.flatMap(({ file, unread }) => (unread === null ? [] : [file])))
  const isUnread = ({ file }: Part) => unread.has(file)
  const deleted = new Set(earlier.filter(part => !isUnread(part) && isDeleted(part, texts)))
  const sizes = new Set(files.filter(file => isSizeElsewhere(file, texts)).map(({ file }) => file))
  const isSizeKept = ({ file, kind, volumes = [] }: Part) =>
    volumes.length > 0 && kind !== 'EC2NodeClass' && sizes.has(file)
  const change: Change = {
    // What cannot be read any more is no reason to expect other settings.
    head: [...earlier.filter(isUnread), ...partsOf(files, groups, nodes)],
    base: earlier
      .filter(part => !deleted.has(part))
      .map(part => (isSizeKept(part) ? { ...part, volumes: [] } : part)),
    hasBase,
    causes: new Map(),
    starts: new Map(),
  }
  const problems = new Problems()
  const known = files.map(file =>
    isUnchanged(textOf(file, texts), file)
      ? { ...file, unread: null, isUnchanged: true }
      : withUnreadBase(file, bases),
  )
  addFileProblems(problems, known, bases)
  for (const { file, target } of deleted) {
    const text = `${targetWords(target)} is no longer in the files, so its nodes are not judged.`
    problems.add({ file, ...fileProblem('note', 1, text) })
  }
  for (const { file } of earlier.filter(isSizeKept)) {
    const text =
      'volumeSize is not judged: it may be in a launch template now, or in what is not read.'
    problems.add({ file, ...fileProblem('unread', 1, text, 'volumeSize') })
  }
  addUnknownReach(problems, change)
  const judged = await judgeNodes({ snapshot, selection, policy, survey, change, problems })
  const list = problems.list()
  return {
    schema: 'highwater.gate/1',
    version,
    takenAt: survey.takenAt,
    verdict: verdictOf(list),
    comparedWith: hasBase ? 'base' : 'running',
    files: known.map(file => fileOf(file, change, judged)),
    groups: problems.groups(),
    problems: list,
    waived: judged.waived,
  }
}

/** Whether the part is an object by itself, and no file names the object any more. Its nodes go with it, and have no other settings before. */
const isDeleted = (
  { target: { group = '', nodeClass = '' }, isWhole = false }: Part,
  texts: readonly GateText[],
) => {
  const name = group || (isWhole ? nodeClass : '')
  return name !== '' && !texts.some(({ text }) => hasWord(text, name))
}

const textOf = ({ file }: ChangedFile, texts: readonly GateText[]) =>
  texts.find(each => each.file === file)

/** Whether the sizes of disks may be written elsewhere now: in a launch template, or in what is not read. */
function isSizeElsewhere(file: ChangedFile, texts: readonly GateText[]) {
  const { text = '', base = '' } = textOf(file, texts) ?? {}
  const [names, named] = [text, base ?? ''].map(one => /launch_?template/i.test(one))
  const isUnclear = file.problems.some(({ kind }) => kind === 'unread') || (names && !named)
  return isUnclear && !file.parts.some(({ volumes = [] }) => volumes.length > 0)
}

/** What is not read may be a script, too: only comments on lines of their own, or behind a plain value of a key, are known to set nothing. Of values, others than a kubelet's do not count. */
function isUnchanged(text: GateText | undefined, { unread }: ChangedFile) {
  if (!text || text.base === null) return false
  const [now = '', before = ''] = [text.text, text.base].map(withoutCommentLines)
  const isOfValues = unread === 'values of a template'
  const linesOf = isOfValues ? kubeletLines : (lines: string) => lines
  // An alias stands for lines elsewhere.
  return now === before || (linesOf(now) === linesOf(before) && !/:\s*\*/.test(linesOf(now)))
}

/** A line such as `#!/bin/sh` or `#cloud-config` says something, as does what a template makes of one. */
const rendered = /["'`]|[{<]%|\{\{|\$\{/
const comment = /^(\s*(?:[\w.-]+:\s(?:[^#]*\s)?)?)#(?:\s.*)?$/
const withoutCommentLines = (text: string) =>
  text
    .split('\n')
    .map(line => (rendered.test(line) ? line : line.replace(comment, '$1').trimEnd()))
    .filter(line => line !== '')
    .join('\n')

/** What sets nothing now may have set something in a form that cannot be read. */
function withUnreadBase(file: ChangedFile, bases: readonly ChangedFile[]) {
  const base = bases.find(each => each.file === file.file)
  return file.parts.length > 0 || !base?.unread ? file : { ...file, unread: base.unread }
}

function readFiles(texts: readonly Omit<GateText, 'base'>[], budget: TextBudget): ChangedFile[] {
  const targets = patchTargets(texts.filter(isKustomizationFile), budget)
  return texts
    .filter(({ isContext }) => isContext !== true)
    .map(({ file, text }) => readChangedFile(file, text, budget, targets.get(normalize(file))))
}

/** Source: kustomize, pkg/konfig RecognizedKustomizationFileNames */
export const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']
const isKustomizationFile = ({ file }: Pick<GateText, 'file'>) =>
  kustomizationNames.includes(basename(file))

const partsOf = (
  files: readonly ChangedFile[],
  groups: readonly GroupOption[],
  nodes: readonly ReachedNode[],
): Part[] =>
  files.flatMap(({ parts }) =>
    parts.map(part => ({
      ...part,
      lineOf: memoizeLines(part.lineOf),
      reach: reachOf(part, groups, nodes),
    })),
  )

/** The nodes of a group have the same problems. */
function memoizeLines(lineOf: ChangedPart['lineOf']): ChangedPart['lineOf'] {
  const lines = new Map<string | null, number>()
  return path => {
    const line = lines.get(path) ?? lineOf(path)
    lines.set(path, line)
    return line
  }
}

/** Problems that a file already had before the change do not count. */
function addFileProblems(
  problems: Problems,
  files: readonly ChangedFile[],
  bases: readonly ChangedFile[],
) {
  for (const { file, problems: own, unread, unreadLine = 1 } of files) {
    if (unread !== null && !own.some(({ kind }) => kind === 'unread')) {
      const text = `Not read: ${unread}. ${neededInstead[unread]}.`
      problems.add({ file, ...fileProblem('unread', unreadLine, text) })
    }
    const before = bases.find(base => base.file === file)?.problems ?? []
    for (const problem of addedItems(own, before, ({ kind, field }) => [kind, field]))
      problems.add({ ...problem, file })
  }
}

/** Parts whose nodes are not known, so nothing of them is judged but what any kubelet refuses. */
function addUnknownReach(problems: Problems, { head, base }: Change) {
  const isUnknown = (part: Part) => part.reach.unknown !== undefined && setsSomething(part)
  const unknown = addedItems(
    head.filter(isUnknown),
    base,
    ({ file, config, flags, volumes = [] }) => [
      ...[file, config, flags],
      volumes.map(({ path, written }) => [path, written]),
    ],
  )
  for (const { file, kind, lineOf, reach } of unknown) {
    const text = `The nodes of this ${kind} are not known: ${reach.unknown}.`
    problems.add({ file, ...fileProblem('unread', lineOf(null), text) })
  }
}

function fileOf(
  changed: ChangedFile,
  { head, base }: Change,
  { reached, standIns }: Awaited<ReturnType<typeof judgeNodes>>,
): GateFile {
  const { file, unread } = changed
  const partsOfFile = (parts: readonly Part[]) => parts.filter(part => part.file === file)
  const now = partsOfFile(head)
  const own = now.length > 0 ? now : partsOfFile(base)
  const kinds = [...new Set(own.map(({ kind }) => kind))]
  const how = [...new Set(own.map(part => reachText(part, standIns.get(part))))].join('; ')
  return {
    file,
    kinds,
    nodes: reached.get(file) ?? 0,
    unread,
    reach: own.length > 0 ? how : withoutParts(changed),
  }
}

function reachText({ reach }: Part, standIn: ReachedNode | undefined) {
  if (!standIn) return reach.how
  const { cluster, identity } = standIn
  const where = `${identity.name} of ${cluster}/${identity.group.name} (${identity.amiFamily})`
  return `${reach.how}; tried on ${where}, since no node has it`
}

function withoutParts({ file, problems, unread, isUnchanged }: ChangedFile) {
  if (basename(file) === 'highwater.yaml')
    return 'a policy of highwater: with --base, the one before the change counts'
  if (isUnchanged) return 'nothing of a kubelet changes in it: ignored'
  if (unread !== null) return `not read: ${unread}`
  if (problems.length > 0) return 'not judged: see its problems'
  return isProgram(file) ? 'a program: ignored' : 'it sets nothing of a kubelet: ignored'
}

const renderedInstead = 'Give the rendered file, for example the output of helm template'
const neededInstead: Record<UnreadFileKind, string> = {
  Terraform: 'Run terraform plan, and give the output of terraform show -json as a file',
  HCL: 'Give the user data that it renders as a file',
  CDK: 'Give the template that it synthesizes, or its user data as a file',
  CloudFormation: 'Give the user data of its launch template as a file',
  program: 'Give the user data that it makes, or the file that a node gets from it',
  template: renderedInstead,
  'values of a template': renderedInstead,
}
