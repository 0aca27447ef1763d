/** One row per node, the node nearest to eviction first, as `kubectl get nodes` lists them: `audit -o table|wide`. */

import { by } from '#base/text/text-order.ts'
import { columnsOf, padTo } from '#base/text/text-width.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { type Gauge, nearestOf } from '#report/parts/gauge.ts'
import { GaugedNode } from '#report/parts/node.ts'
import { clean } from './terminal.ts'

const names = ['NODE', 'STATE', 'USED', 'HEADROOM', 'CLUSTER', 'GROUP', 'READ']
const wideNames = ['INSTANCE', 'AMI', 'KUBELET', 'IMAGE-GC', 'FIRST-VICTIM']
const unknown = '<unknown>'
const states = { pressure: 'Evicts', 'image-gc': 'ImageGCDue', calm: 'Calm' }

export const tableFormats = ['table', 'wide'] as const

export function nodeTable(report: AuditReport, isWide: boolean, language: Language) {
  const rows = report.nodes
    .map(node => new GaugedNode(node, report, language))
    .toSorted(
      by(
        ({ headroomPercent }) => headroomPercent ?? Number.MAX_VALUE,
        ({ node }) => node.identity.name,
      ),
    )
    .map(node => [
      ...cellsOf(node, nearestOf(node.gauges), language),
      ...(isWide ? wideCellsOf(node, language) : []),
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

/** Use and headroom are of one disk: the one that is nearest to eviction. */
function cellsOf(
  { node: { identity, cluster, coverage }, state }: GaugedNode,
  disk: Gauge | null,
  { percent }: Language,
) {
  const { name, group } = identity
  const percentCell = (value: number | null | undefined) =>
    value == null ? unknown : percent(value).replaceAll(/\s/g, '')
  return [
    clean(name),
    disk?.usedPercent == null ? unknown : states[state],
    percentCell(disk?.usedPercent),
    percentCell(disk?.headroomPercent),
    clean(cluster),
    group.kind === 'Node' ? '-' : clean(group.name),
    { read: 'Yes', partlyRead: 'Partly', notRead: 'No' }[coverage],
  ]
}

function wideCellsOf({ node }: GaugedNode, { bytes }: Language) {
  const { identity, prediction } = node
  const { imageGC } = prediction
  const until = imageGC?.bytesUntilTrigger ?? null
  const distance = until === null ? unknown : bytes(until).replaceAll(/\s/g, '')
  const victims = node
    .details()
    .firstVictims?.find(({ signal }) => signal.startsWith('nodefs'))?.pods
  const victim = victims?.[0]
  return [
    clean(identity.instanceType ?? unknown),
    identity.amiFamily,
    clean(identity.kubeletVersion ?? unknown),
    imageGC?.triggered === true ? 'Due' : distance,
    victim ? clean(`${victim.namespace}/${victim.name}`) : unknown,
  ]
}
