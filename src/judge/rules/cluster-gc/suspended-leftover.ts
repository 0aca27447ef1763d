import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { byNamespace, isOld, named, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'

/** Longer than a release freeze or a holiday. */
const suspendedHours = 90 * 24
const cronJob = {
  namespace: 'batch',
  name: 'nightly',
  isSuspended: true,
  createdMs: hoursBefore(9000),
  successful: { limit: 3, count: 3, excess: 0 },
  failed: { limit: 1, count: 0, excess: 0 },
}

export const suspendedLeftover = clusterRule({
  id: 'suspended-leftover',
  severity: 'info',
  needs: ['jobs'],
  docs: {
    title: 'CronJobs and Jobs are suspended for months',
    why: 'What is suspended does nothing and is collected by nobody: a CronJob keeps its last Jobs and their pods, a Job waits for someone to let it run.',
    fix: 'Let it run again, or delete it.',
    sources: [
      'pkg/controller/cronjob/cronjob_controllerv2.go syncCronJob',
      'pkg/controller/job/job_controller.go jobSuspended',
    ],
  },
  examples: {
    bad: {
      jobs: {
        finished: [],
        suspended: [],
        cronJobs: [{ ...cronJob, lastScheduledMs: hoursBefore(3000) }],
      },
    },
    good: {
      jobs: {
        finished: [],
        suspended: [],
        cronJobs: [{ ...cronJob, lastScheduledMs: hoursBefore(100) }],
      },
    },
  },

  *judge({ at, jobs }) {
    const nowMs = Date.parse(at)
    const cronJobs = jobs.cronJobs
      .filter(({ isSuspended }) => isSuspended)
      .map(({ namespace, name, lastScheduledMs, createdMs }) => ({
        namespace,
        name,
        kind: 'cronjob',
        sinceMs: lastScheduledMs ?? createdMs,
      }))
    const waiting = jobs.suspended
      .filter(({ controller }) => controller === null)
      .map(({ namespace, name, sinceMs }) => ({ namespace, name, kind: 'job', sinceMs }))
    const left = [...cronJobs, ...waiting].filter(({ sinceMs }) =>
      isOld(sinceMs, nowMs, suspendedHours),
    )
    for (const [subject, found] of byNamespace(left)) {
      const [first] = found
      yield {
        subject,
        count: found.length,
        noun: 'suspended object',
        consequence: `${counted(found.length, 'suspended object')} of ${subject.name} ${found.length === 1 ? 'has' : 'have'} not run for more than ${suspendedHours / 24} days.`,
        evidence: [
          line(
            'object',
            'CronJobs',
            named(found.filter(({ kind }) => kind === 'cronjob')) || 'none',
          ),
          line('object', 'Jobs', named(found.filter(({ kind }) => kind === 'job')) || 'none'),
          ...oldest(
            found.map(({ sinceMs }) => sinceMs),
            nowMs,
            'ran last, or was suspended or made',
          ),
        ],
        commands: first
          ? [kubectl('get', said(first.kind), said(first.name), '-n', subject.name, '-o', 'yaml')]
          : [],
      }
    }
  },
})
