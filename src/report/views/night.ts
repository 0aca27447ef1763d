/** One line about what happened on the nodes since the last run. */
import { type Happening, mostHappenings } from '#model/history.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'

const dayMs = 86_400_000

/** Null: nothing is known to have happened. */
export function nightText(report: AuditReport, { words, utc }: Language): string | null {
  const before = report.before?.takenAt ?? null
  const sinceMs =
    before === null ? Date.parse(report.document.run.takenAt) - dayMs : Date.parse(before)
  if (Number.isNaN(sinceMs)) return null
  const all = report.nodes.flatMap(node =>
    (node.happened ?? [])
      .filter(({ at }) => Date.parse(at) > sinceMs)
      .map(one => ({ one, node: `${node.cluster}/${node.identity.name}` })),
  )
  const of = (matches: (one: Happening) => boolean) => {
    const found = all.filter(({ one }) => matches(one))
    return { count: found.length, nodes: new Set(found.map(({ node }) => node)).size }
  }
  const { night } = words
  const kinds = [
    { ...of(({ what }) => what === 'evicted'), text: night.evicted },
    { ...of(({ what }) => what === 'refused'), text: night.refused },
    {
      ...of(one => one.what === 'condition' && one.subject.endsWith('Pressure')),
      text: night.pressure,
    },
    { ...of(({ what }) => what === 'image-gc-failed'), text: night.imageGcFailed },
    { ...of(({ what }) => what === 'image-deleted'), text: night.imagesDeleted },
    { ...of(({ what }) => what === 'reboot'), text: night.reboots },
  ]
  const parts = kinds.flatMap(({ count, nodes, text }) => (count === 0 ? [] : [text(count, nodes)]))
  if (parts.length === 0) return null
  const isCut = report.nodes.some(({ happened }) => happened?.length === mostHappenings)
  return night[isCut ? 'atLeast' : 'line'](utc(new Date(sinceMs).toISOString()), parts)
}
