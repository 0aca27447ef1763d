/** `highwater tick`: one run of the service without Lambda, for a CronJob or any other clock. */
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { scheduledTimeOf } from '#facts/kubernetes/cron-job.ts'
import { everything } from '#model/input/record.ts'
import { kubeconfigFleet } from '#pipeline/audit/fleet.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { openRunWatch } from '#pipeline/runtime/runtime.ts'
import { runService } from '#pipeline/service/service.ts'
import { parsePolicy } from '#policy/parse.ts'
import { parseSettings } from '#settings.ts'
import { deadlineOption, parseClusterName } from './options.ts'
import { ownClusterEndpoint } from './source.ts'
import { clean, version } from './terminal.ts'

interface TickOptions {
  at?: Date
  inCluster?: string
  deadline: number
}

export const tickCommand = () =>
  new Command('tick')
    .addOption(
      new Option(
        '--at <tick>',
        "the tick's time, or the name of the Job that a CronJob made for it",
      )
        .argParser(parseTick)
        .default(undefined, 'this minute'),
    )
    .addOption(deadlineOption('time limit of the run; reading stops at 80 % of it, e.g. 90s, 10m'))
    .option(
      '--in-cluster <name>',
      'read the cluster of this pod, by its service account, instead of the EKS clusters of the policy',
      parseClusterName,
    )
    .addHelpText(
      'after',
      `
Its settings are those of the function, from the environment: HIGHWATER_BUCKET,
HIGHWATER_PREFIX, HIGHWATER_KMS_KEY_ID, HIGHWATER_SENDER, HIGHWATER_RECIPIENTS,
HIGHWATER_REPORT_BASE_URL, HIGHWATER_TOPIC_ARN, HIGHWATER_EVENT_BUS_ARN,
HIGHWATER_WEBHOOK_URL, HIGHWATER_WEBHOOK_FORMAT (slack or teams), and
AWS_REGION. The policy is highwater.yaml in the bucket. It may name the roles of
HIGHWATER_MEMBER_ROLE_ARNS and HIGHWATER_KUBELET_ROLE_ARNS, the addresses and
domains of HIGHWATER_POLICY_RECIPIENTS (default: the domains of sender and
recipients) and the bucket HIGHWATER_INSPECT_OUTPUT_BUCKET. With
HIGHWATER_SHOWS_OWN_TOKEN=yes it may show kubelets the run's own token. The
webhook's host must be one of HIGHWATER_WEBHOOK_HOSTS. The answer is JSON. A
second run for the same tick does nothing.

Examples:
  highwater tick
  highwater tick --in-cluster prod

Exit codes: 0 published, now or before; 2 bad settings; 4 something could not be
delivered, or no node could be read: the report has the reasons.`,
    )
    .action(runTick)

function parseTick(text: string) {
  const tick = tickOf(text)
  if (!tick)
    throw new InvalidArgumentError(
      'A time like 2026-11-21T05:00:00Z, or the name of a CronJob’s Job, like highwater-29393580, which ends in the minutes since 1970: ' +
        'one that you make yourself is called highwater-$(($(date +%s) / 60)).',
    )
  return tick
}

const progressEveryMs = 10_000

async function runTick({ at = minuteOf(new Date()), deadline, inCluster }: TickOptions) {
  const say = (line: string) => process.stderr.write(`${clean(line, 500)}\n`)
  let stage = { name: 'prepare', startMs: performance.now() }
  const progress = setInterval(() => {
    const seconds = (performance.now() - stage.startMs) / 1000
    say(`${stage.name}: ${seconds.toFixed(0)} s so far`)
  }, progressEveryMs)
  const watch = openRunWatch({
    began: runId => say(`run ${runId}`),
    stageBegan: name => {
      stage = { name, startMs: performance.now() }
    },
    stageEnded: (stage, durationMs) => say(`${stage}: ${(durationMs / 1000).toFixed(1)} s`),
    audited: ({ clusters, notAudited, reasons }) => {
      for (const { name, grade, coverage } of clusters)
        say(
          `cluster ${name}: ${grade === null ? 'no grade' : `grade ${grade}`}, ${coverage.read} of ${coverage.nodes} nodes read`,
        )
      if (notAudited > 0) say(`not audited: ${notAudited}`)
      for (const { cluster, node, reason, places } of reasons)
        say(
          `${node === null ? '' : `node ${node} of `}cluster ${cluster}${places > 1 ? ` and ${places - 1} more` : ''} not audited: ${reason}`,
        )
    },
  })
  let isFailed = true
  try {
    const requestId = randomUUID()
    const request = {
      scheduledTime: at.toISOString(),
      selection: everything,
      isDryRun: false,
      isObservation: false,
      isMailed: true,
    }
    const around = inCluster === undefined ? null : await ownClusterEndpoint(inCluster)
    const folder = join(tmpdir(), `highwater-${requestId}`)
    const answer = await runService(request, parseSettings(process.env), {
      version,
      requestId,
      remainingMs: deadline,
      folder,
      now: () => new Date(),
      parsePolicy: (text, file) => parsePolicy(text, file, policyTerms),
      watch,
      ...(around !== null && { fleet: options => kubeconfigFleet([around], options) }),
    })
    isFailed = false
    process.stdout.write(`${JSON.stringify(answer)}\n`)
  } finally {
    clearInterval(progress)
    const slowDowns = Object.entries((await watch.close(isFailed)).own.slowDowns)
    for (const [service, times] of slowDowns) say(`${service} throttled ${times} requests`)
  }
}

/* The scheduled time of a run. The run's id derives from it, so a retry finds what was done. */

/**
 * @param text a time in RFC 3339, or the name of a CronJob's Job
 * @returns the scheduled time; null: it is neither
 */
export function tickOf(text: string) {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const time = isTime ? new Date(text) : scheduledTimeOf(text)
  return !time || Number.isNaN(time.getTime()) ? null : time
}

/** The minute of a run without a scheduled time: a retry in the same minute has the same run id. */
export const minuteOf = (now: Date) => new Date(Math.floor(now.getTime() / 60_000) * 60_000)
