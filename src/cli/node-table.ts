/** One row per node, the node that breaks next first, as `kubectl get nodes` lists them: `audit -o table|wide`. */

import { usedPercentOf } from '#base/percent.ts'
import { columnsOf, padTo } from '#base/text.ts'
import type { Finding, Severity } from '#model/finding.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { worstFirst } from '#report/parts/findings.ts'
import { openNodesOf } from '#report/parts/ledger.ts'
import { isUsual, type NodeOutlook, nodeOutlooks } from '#report/parts/outlook.ts'
import { clean } from './terminal.ts'

const names = ['NODE', 'STATE', 'SIGNAL', 'USED', 'HEADROOM', 'CLUSTER', 'GROUP', 'READ']
const wideNames = ['INSTANCE', 'AMI', 'KUBELET', 'IMAGE-GC', 'FIRST-VICTIM']
const unknown = '<unknown>'
const states: Readonly<Record<NodeOutlook['band'], string>> = {
  now: 'Evicts',
  powerless: 'NoVictim',
  waiting: 'GracePeriod',
  soon: 'Within7Days',
  close: 'Close',
  near: 'Near',
  calm: 'Calm',
  unknown,
}
/** Findings of these severities show at a node that does not break next. */
const grave: ReadonlyMap<Severity, string> = new Map([
  ['critical', 'Critical'],
  ['high', 'High'],
])

export const tableFormats = ['table', 'wide'] as const

export function nodeTable(report: AuditReport, isWide: boolean, language: Language) {
  const worst = worstFindings(report)
  const rows = nodeOutlooks(report).map(one => [
    ...cellsOf(one, worst.get(one.node), language),
    ...(isWide ? wideCellsOf(one, language) : []),
  ])
  const all = [isWide ? [...names, ...wideNames] : names, ...rows]
  const widths = all[0]!.map((_, column) => Math.max(...all.map(row => columnsOf(row[column]!))))
  const lineOf = (row: string[]) =>
    row
      .map((cell, column) => padTo(cell, widths[column]!))
      .join('  ')
      .trimEnd()
  return `${all.map(lineOf).join('\n')}\n`
}

/** A finding that names a part of its nodes counts for its whole group. */
function worstFindings({ document, nodes }: AuditReport): ReadonlyMap<AuditedNode, Severity> {
  const namedOf = openNodesOf(nodes)
  const nodesOf = (finding: Finding) => {
    const { subject, cluster, nodes: own } = finding
    if (own.sample.length >= own.count) return namedOf(finding)
    const isOfGroup = ({ group }: AuditedNode['identity']) =>
      group.kind === subject.kind && group.name === subject.name
    return nodes.filter(node => node.cluster === cluster && isOfGroup(node.identity))
  }
  return new Map(
    document.findings
      .toSorted(worstFirst)
      .toReversed()
      .flatMap(finding => nodesOf(finding).map(node => [node, finding.severity] as const)),
  )
}

const signalOf = (next: NodeOutlook['next']) => next?.threshold?.signal ?? next?.signal

/** Signal, use and headroom are of what the node runs out of first. */
function cellsOf(one: NodeOutlook, worst: Severity | undefined, { percent }: Language) {
  const { identity, cluster, coverage, prediction } = one.node
  const { nodefs, imagefs } = prediction.filesystems
  const { name, group } = identity
  const percentCell = (value: number | null | undefined) =>
    value == null ? unknown : percent(value).replaceAll(/\s/g, '')
  const used = one.next && usedPercentOf(one.next.capacityBytes, one.next.availableBytes)
  return [
    clean(name),
    stateOf(one, worst),
    signalOf(one.next) ?? unknown,
    percentCell(used ?? nodefs?.usedPercent ?? imagefs?.usedPercent),
    percentCell(one.headroomPercent),
    clean(cluster),
    group.kind === 'Node' ? '-' : clean(group.name),
    { read: 'Yes', partlyRead: 'Partly', notRead: 'No' }[coverage],
  ]
}

function stateOf(one: NodeOutlook, worst: Severity | undefined) {
  const band = isUsual(one) ? 'calm' : one.band
  if (band !== 'calm' && band !== 'unknown') return states[band]
  const found = worst && grave.get(worst)
  if (found !== undefined) return found
  return one.node.prediction.imageGC?.triggered === true ? 'ImageGCDue' : states[band]
}

function wideCellsOf({ node, next }: NodeOutlook, { bytes }: Language) {
  const { identity, prediction } = node
  const { imageGC } = prediction
  const until = imageGC?.bytesUntilTrigger ?? null
  const distance = until === null ? unknown : bytes(until).replaceAll(/\s/g, '')
  const acting = signalOf(next)
  const victim = node.details().firstVictims?.find(({ signal }) => signal === acting)?.pods[0]
  return [
    clean(identity.instanceType ?? unknown),
    identity.amiFamily,
    clean(identity.kubeletVersion ?? unknown),
    imageGC?.triggered === true ? 'Due' : distance,
    victim ? clean(`${victim.namespace}/${victim.name}`) : unknown,
  ]
}
