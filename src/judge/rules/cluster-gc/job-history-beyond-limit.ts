import { jobHistoryLimits } from '#facts/kubernetes/controllers.ts'
import { describe, garbageIn } from '#judge/garbage/garbage.ts'
import { type Command, clusterWord, kubectl } from '#judge/garbage/kubectl.ts'
import { clusterRule, line, plural } from '#judge/rule.ts'
import type { CronJobGarbage } from '#model/cluster-garbage.ts'

/** A CronJob keeps too many Jobs from this multiple of upstream's default history limit on. */
const manyTimes = 10

export const jobHistoryBeyondLimit = clusterRule({
  id: 'job-history-beyond-limit',
  severity: 'low',
  needs: ['jobs'],
  fate: 'late',
  title: 'CronJobs keep more finished Jobs than they should',
  why: 'The CronJob controller deletes the oldest finished Jobs above the history limits at each sync. More Jobs than the limit mean that it fails to do so. A limit far above the default keeps that many pods, with their logs, on the nodes.',
  fix: 'Set successfulJobsHistoryLimit and failedJobsHistoryLimit to the number of Jobs that you really inspect (upstream: 3 and 1). If there are more Jobs than the limit, check the events of the CronJob.',
  sources: [
    'pkg/controller/cronjob/cronjob_controllerv2.go cleanupFinishedJobs',
    'pkg/apis/batch/v1/defaults.go SetDefaults_CronJob',
  ],

  *judge({ cluster, jobs }) {
    const left = jobs.cronJobs.filter(each => isBeyond(each) || isWide(each))
    yield* garbageIn(cluster, 'finished Job', left, (found, { all, one }) => {
      const beyond = found.filter(isBeyond).length
      const counts = found.map(({ successful, failed }) => successful.count + failed.count)
      const kept = counts.reduce((sum, count) => sum + count, 0)
      const cronJobText = ({ name, successful, failed }: CronJobGarbage) =>
        `${name}: ${successful.count} of ${successful.limit} successful, ${failed.count} of ${failed.limit} failed`
      return {
        count: kept,
        consequence: `${all('CronJob')} ${one('keeps', 'keep')} ${plural(kept, 'finished Job')}${beyond > 0 ? `, and ${beyond} of them more than the limit allows` : ''}.`,
        evidence: [
          ...found.slice(0, 10).map(each => line('object', 'CronJob', cronJobText(each))),
          line(
            'object',
            "upstream's limits",
            `${jobHistoryLimits.successful} successful, ${jobHistoryLimits.failed} failed`,
          ),
        ],
        commands: [commandOf(found[0])],
      }
    })
  },
})

/** An excess of 1 is normal: one Job has just ended. */
const isBeyond = ({ successful, failed }: CronJobGarbage) =>
  successful.excess > 1 || failed.excess > 1
const isWide = ({ successful, failed }: CronJobGarbage) =>
  successful.count >= manyTimes * jobHistoryLimits.successful ||
  failed.count >= manyTimes * jobHistoryLimits.failed

/** Lowers limits above upstream's defaults. If no limit is above, the command shows the CronJob. */
function commandOf({ namespace, name, successful, failed }: CronJobGarbage): Command {
  const limits = {
    successfulJobsHistoryLimit: Math.min(successful.limit, jobHistoryLimits.successful),
    failedJobsHistoryLimit: Math.min(failed.limit, jobHistoryLimits.failed),
  }
  if (successful.limit <= jobHistoryLimits.successful && failed.limit <= jobHistoryLimits.failed)
    return describe('cronjob', { name, namespace })
  return [
    'changes',
    kubectl(
      'patch',
      'cronjob',
      clusterWord(name),
      '-n',
      namespace,
      '--type=merge',
      '-p',
      JSON.stringify({ spec: limits }),
    ),
  ]
}
