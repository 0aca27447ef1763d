/** One row per node, the node nearest to eviction first, as `kubectl get nodes` lists them: `audit -o table|wide`. */

import { byText } from '#base/text/text-order.ts'
import { columnsOf, padTo } from '#base/text/text-width.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { GaugedNode } from '#report/parts/node.ts'
import { clean } from './terminal.ts'

const names = ['NODE', 'CLUSTER', 'GROUP', 'READ', 'USED', 'HEADROOM', 'STATE']
const wideNames = ['INSTANCE', 'AMI', 'KUBELET', 'IMAGE-GC', 'FIRST-VICTIM']
const unknown = '<unknown>'

export const tableFormats = ['table', 'wide'] as const

export function nodeTable(report: AuditReport, isWide: boolean, language: Language): string {
  const nodes = report.nodes
    .map(node => new GaugedNode(node, report, language))
    .toSorted(
      (a, b) =>
        (a.headroomPercent ?? Number.MAX_VALUE) - (b.headroomPercent ?? Number.MAX_VALUE) ||
        byText(a.node.identity.name, b.node.identity.name),
    )
  const rows = nodes.map(node => [
    ...cellsOf(node, language),
    ...(isWide ? wideCellsOf(node, language) : []),
  ])
  const all = [isWide ? [...names, ...wideNames] : names, ...rows]
  const widths = all[0]!.map((_, column) => Math.max(...all.map(row => columnsOf(row[column]!))))
  const lineOf = (row: string[]) =>
    row
      .map((cell, column) => padTo(cell, widths[column]!))
      .join('   ')
      .trimEnd()
  return `${all.map(lineOf).join('\n')}\n`
}

function cellsOf(gauged: GaugedNode, { percent }: Language) {
  const { identity, cluster, coverage, prediction } = gauged.node
  const used = gauged.gauges.flatMap(({ kind, usedPercent }) =>
    kind === 'disk' && usedPercent !== null ? [usedPercent] : [],
  )
  const shown = (value: number | null) =>
    value === null ? unknown : percent(value).replaceAll(/\s/g, '')
  const isDue = prediction.imageGC?.triggered === true
  const calm = isDue ? 'ImageGCDue' : 'Calm'
  const state = { pressure: 'Evicts', 'image-gc': 'ImageGCDue', calm }[gauged.state]
  return [
    clean(identity.name),
    clean(cluster),
    clean(identity.group.name),
    { read: 'Yes', partlyRead: 'Partly', notRead: 'No' }[coverage],
    shown(used.length === 0 ? null : Math.max(...used)),
    shown(gauged.headroomPercent),
    used.length === 0 ? unknown : state,
  ]
}

function wideCellsOf({ node }: GaugedNode, { bytes }: Language) {
  const { identity, prediction } = node
  const { imageGC, eviction } = prediction
  const until = imageGC?.bytesUntilTrigger ?? null
  const distance = until === null ? unknown : bytes(until).replaceAll(/\s/g, '')
  const victims = eviction?.firstVictims?.find(({ signal }) => signal.startsWith('nodefs'))?.pods
  const victim = victims?.[0]
  return [
    clean(identity.instanceType ?? unknown),
    identity.amiFamily,
    clean(identity.kubeletVersion ?? unknown),
    imageGC?.triggered === true ? 'Due' : distance,
    victim === undefined ? unknown : clean(`${victim.namespace}/${victim.name}`),
  ]
}
