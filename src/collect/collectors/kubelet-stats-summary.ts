import { type Collector, kubeletOptions } from '#collect/collector.ts'
import { ownPath } from '#facts/kubelet/endpoints.ts'
import { kubeletOf, withRight } from './kubelet-configz.ts'
import { statsSummary, summaryOf } from './stats-summary.ts'

/** Reads the same summary as `stats-summary`, from the kubelet directly. */
export const kubeletStatsSummary: Collector = {
  answers: ['summary'],
  permissions: { kubernetes: ['get nodes/stats'] },
  purpose: statsSummary.purpose,
  isAnsweredByKubelet: true,

  async collect(node, context) {
    const options = kubeletOptions(context, 'summary')
    try {
      const parse = await kubeletOf(context).getUnparsed(
        context.address,
        ownPath.statsSummary,
        options,
      )
      return () => ({ summary: summaryOf(parse()) })
    } catch (error) {
      throw withRight(error, 'get nodes/stats', node.kubeletVersion)
    }
  },
}
