/** The use case of a comparison: two saved audits (a snapshot, judged now, or a findings document) and the changes between them. */

import { OperatorError } from '#base/operator-error.ts'
import { comparedNode, compareRuns, findingsByChange } from '#judge/compare/delta/delta.ts'
import { documentPart } from '#judge/compare/history/absent.ts'
import type { ComparedRun, DiffDocument, DiffInput } from '#model/delta.ts'
import { type Selection, selectsCluster, selectsEverything } from '#model/input/record.ts'
import type { AuditedNode } from '#model/report.ts'
import {
  type SavedAuditOptions,
  savedAudit,
  savedFindings,
} from '#pipeline/audit/saved/saved-findings.ts'
import { rejectUnknownNames } from './fleet.ts'
import { fleetUpgrades } from './fleet-upgrade.ts'

export interface DiffResult {
  document: DiffDocument
  /** The most that was not read of either audit. */
  unread: Unread
}

interface ReadRun extends ComparedRun {
  kind: DiffInput['kind']
  audited: AuditedNode[]
}

/** @throws OperatorError */
export async function diff(
  oldFile: string,
  newFile: string,
  options: SavedAuditOptions,
): Promise<DiffResult> {
  const [old, now] = [await readRun(oldFile, options), await readRun(newFile, options)]
  if (old.nodes && now.nodes)
    rejectUnknownNames(options.selection, [...old.audited, ...now.audited])
  if (isEmpty(old) && isEmpty(now))
    throw new OperatorError(`Neither ${oldFile} nor ${newFile} has a node that could be audited`)
  const delta = compareRuns(old, now)
  return {
    document: {
      schema: 'highwater.diff/1',
      old: inputOf(oldFile, old),
      new: inputOf(newFile, now),
      ...delta,
      findings: findingsByChange(delta),
      notes: delta.notes.map(({ text }) => text),
      kubeletUpgrades:
        !old.nodes || !now.nodes
          ? null
          : await fleetUpgrades(oldFile, options.selection, old.audited, now.audited),
    },
    unread: unreadOrder.find(unread => unread === unreadOf(old) || unread === unreadOf(now))!,
  }
}

async function readRun(path: string, options: SavedAuditOptions): Promise<ReadRun> {
  const { selection } = options
  const document = await savedFindings(path)
  if (document)
    return {
      kind: 'findings',
      document: selectDocument(document, selection, path),
      nodes: null,
      ruleErrors: null,
      audited: [],
    }
  const result = await savedAudit(path, { ...options, refusalsOf: null })
  const isLooked = result.document.clusters.some(({ coverage }) => coverage.clusterGc !== undefined)
  const [first] = result.document.run.inputErrors
  if (selectsEverything(selection) && result.nodes.length === 0 && !isLooked)
    throw new OperatorError(
      `${path} has no node that could be audited${first === undefined ? '' : `: ${first}`}`,
    )
  return {
    kind: 'snapshot',
    document: result.document,
    nodes: result.nodes.map(comparedNode),
    ruleErrors: result.ruleErrors,
    audited: result.nodes,
  }
}

/** Cuts a findings document to the selected clusters. The document does not contain the group of a node. @throws OperatorError */
function selectDocument(document: ComparedRun['document'], selection: Selection, path: string) {
  if (selection.nodes.length > 0 || selection.nodegroups.length > 0)
    throw new OperatorError(
      `${path} holds findings, which do not name every node: --node and --nodegroup need two snapshots`,
    )
  return documentPart(document, name => selectsCluster(selection, name))
}

const isEmpty = ({ nodes, document }: ReadRun) =>
  nodes ? nodes.length === 0 : document.clusters.length === 0

const inputOf = (file: string, { kind, document: { run } }: ReadRun): DiffInput => ({
  file,
  kind,
  takenAt: run.takenAt,
  version: run.version,
  inputErrors: run.inputErrors,
})

const unreadOrder = ['cluster', 'node', 'none'] as const
/** `cluster`: a cluster, or something beside the nodes; `node`: nodes only. */
export type Unread = (typeof unreadOrder)[number]

/** Fargate nodes cannot be read and do not count. */
export function unreadOf({
  document: { run, clusters, notAudited },
  nodes,
  ruleErrors,
}: ComparedRun): Unread {
  const isCut = run.inputErrors.length > 0 || notAudited.some(({ node }) => node === null)
  const hasErrors = ruleErrors
    ? ruleErrors.length > 0
    : clusters.some(({ outcomes }) => outcomes.error > 0)
  const ofFargate = notAudited.filter(({ cause }) => cause === 'fargate')
  const isLost = clusters.some(({ name, coverage: { nodes: all, read, partlyRead } }) => {
    const readable = all - ofFargate.filter(({ cluster }) => cluster === name).length
    return readable > 0 && read + partlyRead === 0
  })
  if (isCut || hasErrors || isLost) return 'cluster'
  if (nodes)
    return nodes.some(({ coverage, isFargate }) => coverage !== 'read' && !isFargate)
      ? 'node'
      : 'none'
  const unread = clusters.reduce(
    (sum, { coverage }) => sum + coverage.partlyRead + coverage.notRead,
    0,
  )
  return unread > ofFargate.length ? 'node' : 'none'
}
