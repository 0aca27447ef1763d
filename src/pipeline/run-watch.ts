/** What a run of the service tells while it goes: for its log, its metrics and its trace. Nobody needs it to be told. */
import { countSlowDowns } from '#clients/slow-downs.ts'
import { openTrace, type TracedStage } from '#clients/xray.ts'
import type { RemediationRequest } from '#model/remediation-request.ts'
import type { RunAnswer } from '#model/run.ts'

/** The parts of an audit, in their order. */
export type AuditStage = 'read' | 'judge' | 'compare' | 'plan' | 'render' | 'publish'
/** And what stands before it, and the actions of the function `remediate`. */
export type Stage = AuditStage | 'prepare' | 'discover' | 'reduce' | RemediationRequest['action']

/** What of an audit is counted. */
export type Audited = Pick<RunAnswer, 'findings' | 'clusters' | 'notAudited'>

export interface RunWatch {
  /** Its name is known. */
  began(runId: string): void
  /** A stage begins, and with it the one before ends. */
  enters(stage: Stage): void
  /** What was found is known, whatever becomes of the deliveries. */
  audited(audited: Audited): void
}

/** Who writes down what is told. */
export interface RunLines {
  began(runId: string): void
  stageEnded(stage: Stage, durationMs: number): void
  audited(audited: Audited): void
}

export interface OpenRunWatch extends RunWatch {
  /**
   * The last stage ends, and the trace goes out.
   * @returns how often which service asked to slow down
   */
  close(isFailed: boolean): Promise<Record<string, number>>
}

/** For one invocation: in a function there is never more than one at a time. */
export function openRunWatch(lines: RunLines): OpenRunWatch {
  const slowDowns = countSlowDowns()
  const stages: TracedStage[] = []
  let current: { stage: Stage; startMs: number } | null = null
  const leave = (isFailed: boolean) => {
    if (current === null) return
    const { stage, startMs } = current
    const endMs = Date.now()
    stages.push({ name: stage, startMs, endMs, isFailed })
    lines.stageEnded(stage, endMs - startMs)
    current = null
  }
  return {
    began: lines.began,
    audited: lines.audited,
    enters(stage) {
      leave(false)
      current = { stage, startMs: Date.now() }
    },
    async close(isFailed) {
      leave(isFailed)
      await openTrace()?.tell(stages)
      return slowDowns()
    },
  }
}
