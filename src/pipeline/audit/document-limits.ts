/** Bounds the findings document of a fleet. Grades, outcomes and the comparison are of all findings: they are made before. */

import { documentLimits as limits } from '#base/limits.ts'
import { byText } from '#base/text/text-order.ts'
import { counted } from '#judge/text.ts'
import type { FindingsDocument, NotAudited } from '#model/finding/finding.ts'

type Lists = Pick<FindingsDocument, 'findings' | 'waived' | 'unknowns' | 'notAudited'>

/** The first entries of each list, and for each cluster the number of the others. The least severe findings are the last ones. */
export function boundedLists({ findings, waived, unknowns, notAudited }: Lists): Lists {
  const leftOut = new Map<string, string[]>()
  const cut = <Entry extends { cluster: string }>(
    entries: Entry[],
    maxBytes: number,
    noun: string,
  ): Entry[] => {
    let bytes = 0
    const end = entries.findIndex(entry => {
      bytes += Buffer.byteLength(JSON.stringify(entry))
      return bytes > maxBytes
    })
    if (end === -1) return entries
    for (const [cluster, hidden] of Map.groupBy(entries.slice(end), entry => entry.cluster))
      leftOut.set(cluster, [...(leftOut.get(cluster) ?? []), counted(hidden.length, noun)])
    return entries.slice(0, end)
  }
  const kept = {
    findings: cut(findings, limits.findings, 'finding'),
    waived: cut(waived, limits.waived, 'waived finding'),
    unknowns: cut(unknowns, limits.unknowns, 'unknown outcome'),
    notAudited: cut(notAudited, limits.notAudited, 'unread part'),
  }
  const notes = [...leftOut].map(
    ([cluster, counts]): NotAudited => ({
      cluster,
      node: null,
      cause: 'length',
      reason: `left out, because the report would be too long: ${counts.join(', ')}`,
    }),
  )
  return {
    ...kept,
    notAudited: [...kept.notAudited, ...notes.toSorted((a, b) => byText(a.cluster, b.cluster))],
  }
}
