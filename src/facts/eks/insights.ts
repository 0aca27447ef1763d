/** Upgrade insights of EKS. Source: EKS API reference, Insight, InsightStatus */
import { byText } from '#base/text.ts'
import type { Insight, ReadError } from '#model/input/record.ts'

/** EKS has about ten checks for each of the next minors. */
export const mostInsights = 50

const statuses = ['ERROR', 'WARNING', 'UNKNOWN']
const rank = ({ insightStatus }: Insight) => {
  const index = statuses.indexOf(insightStatus?.status ?? '')
  return index < 0 ? statuses.length : index
}

/** The insights that do not pass, the worst first. */
export const openInsights = (insights: readonly Insight[]): Insight[] =>
  insights
    .filter(({ insightStatus }) => insightStatus?.status !== 'PASSING')
    .toSorted(
      (a, b) =>
        rank(a) - rank(b) ||
        byText(a.kubernetesVersion ?? '', b.kubernetesVersion ?? '') ||
        byText(a.name ?? '', b.name ?? ''),
    )
    .slice(0, mostInsights)

/** Whether the error leaves insights unread. Nodes are judged without them. */
export const isInsightError = ({ what }: ReadError): boolean =>
  what === 'insights' || what.startsWith('insight ')
