/**
 * The distribution of a large group's nodes on each disk, as columns over one bar, with the marks
 * that most nodes have.
 */
import { byText } from '#model/text-order.ts'
import type { Language } from '#report/languages/language.ts'
import { type Gauge, type Mark, marksText } from './gauge.ts'
import { type Ladder, layOutLadder } from './ladder.ts'
import type { GaugedNode } from './node.ts'

export interface DistributionView extends Ladder {
  id: string
  title: string
  caption: string
  summary: string
  description: string
  /** One path of 100 by 40 units, stretched to the bar: number of nodes in each part of it. */
  columns: string
  columnsTop: number
}

const columnPercent = 2
const histogramHeight = 40

/** One for each kind of disk. */
export function distributions(
  members: GaugedNode[],
  id: string,
  language: Language,
): DistributionView[] {
  const { distribution: words } = language.words
  const disks = members.flatMap(({ gauges }) =>
    gauges.filter(({ kind }) => kind === 'disk').map(placeOf),
  )
  return [...Map.groupBy(disks, ({ title }) => title)].flatMap(([title, gauges], index) => {
    const used = gauges.flatMap(({ usedPercent }) => usedPercent ?? []).toSorted((a, b) => a - b)
    if (used.length === 0) return []
    const [common, withCommon] = commonMarks(gauges)
    const ladder = layOutLadder(common, 12, histogramHeight + 4, language)
    const rank = (percentile: number) =>
      language.percent(used[Math.max(Math.ceil((percentile / 100) * used.length) - 1, 0)]!)
    const unknown = gauges.length - used.length
    const summary = [
      words.spread(used.length, rank(0), rank(50), rank(90), rank(100)),
      unknown > 0 ? words.unknown(unknown) : '',
      withCommon < gauges.length ? words.marksOf(withCommon, gauges.length - withCommon) : '',
    ].filter(Boolean)
    return [
      {
        ...ladder,
        id: `${id}d${index + 1}`,
        title,
        caption: words.title(title),
        summary: summary.join(' '),
        description: [...summary, marksText(common, language)].join(' '),
        columns: columnsOf(used),
        columnsTop: ladder.barTop - histogramHeight - 2,
      },
    ]
  })
}

/** Only what is needed of each gauge: large groups have many. */
const placeOf = ({ title, usedPercent, marks }: Gauge) => ({ title, usedPercent, marks })

function commonMarks(gauges: Pick<Gauge, 'marks'>[]): [Mark[], number] {
  const alike = Map.groupBy(gauges, ({ marks }) =>
    JSON.stringify(marks.map(({ kind, percent, setting }) => [kind, percent.toFixed(1), setting])),
  )
  const [, most] = [...alike].toSorted(
    ([a, ofA], [b, ofB]) => ofB.length - ofA.length || byText(a, b),
  )[0]!
  // Equal percentages of different disks are different amounts.
  return [most[0]!.marks.map(mark => ({ ...mark, amount: null })), most.length]
}

function columnsOf(used: number[]): string {
  const last = 100 / columnPercent - 1
  const counts = Map.groupBy(used, percent => Math.min(Math.floor(percent / columnPercent), last))
  const highest = Math.max(...[...counts.values()].map(({ length }) => length))
  return [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([column, { length }]) => {
      const height = Math.max((length / highest) * histogramHeight, 2).toFixed(1)
      return `M${column * columnPercent + 0.15} ${histogramHeight}v-${height}h${columnPercent - 0.3}v${height}z`
    })
    .join('')
}
