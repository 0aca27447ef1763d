/** Reads the upgrade insights of a cluster that do not pass. */
import type { RawObject } from '#base/raw-object.ts'
import type { EksApi } from '#clients/aws/eks.ts'
import { readErrorOf } from '#clients/failure.ts'
import { mostInsights } from '#facts/eks/insights.ts'
import type { ReadError } from '#model/input/record.ts'

/** Adds what could not be read to `errors`. Null: the list could not be read. */
export async function insightsOf(
  eks: Pick<EksApi, 'listInsights' | 'describeInsight'>,
  cluster: string,
  errors: ReadError[],
  signal: AbortSignal,
): Promise<RawObject[] | null> {
  const insights: RawObject[] = []
  let refusal: ReadError['refusal']
  const describe = async (id: string) => {
    // A missing right concerns every insight, so it is reported once.
    if (refusal !== undefined) return null
    try {
      return await eks.describeInsight(cluster, id, signal)
    } catch (error) {
      const readError = readErrorOf(`insight ${id}`, error)
      refusal = readError.refusal
      errors.push(readError)
      return null
    }
  }
  try {
    for (const { id, summary } of await eks.listInsights(cluster, mostInsights, signal))
      insights.push((await describe(id)) ?? summary)
    return insights
  } catch (error) {
    errors.push(readErrorOf('insights', error))
    return null
  }
}
