/** What a run of the service reports on the way: log, metrics and trace. All of it is optional. */
import { countSlowDowns } from '#clients/slow-downs.ts'
import { openTrace, type TracedStage } from '#clients/xray.ts'
import type { NotAudited } from '#model/finding.ts'
import type { RemediationRequest } from '#model/remediation-request.ts'
import type { RunAnswer } from '#model/run.ts'
import type { Spent, SpentBefore } from './spent.ts'

/** The parts of an audit, in their order. */
export type AuditStage = 'read' | 'judge' | 'compare' | 'plan' | 'render' | 'publish'
/** And what stands before it, and the actions of the function `remediate`. */
export type Stage = AuditStage | 'prepare' | 'discover' | 'reduce' | RemediationRequest['action']

/** What of an audit is counted, and why something is missing. */
export interface Audited extends Pick<RunAnswer, 'findings' | 'clusters' | 'notAudited'> {
  /** The first reasons, each with the place that it was first met in and how many it keeps out. */
  reasons: (NotAudited & { places: number })[]
}

export interface RunWatch {
  /** Its name is known. */
  began(runId: string): void
  /** Which cluster this invocation is about, where it is one. */
  isAbout(cluster: string): void
  /** A stage begins, and with it the one before ends. */
  enters(stage: Stage): void
  /** What was found is known, whatever becomes of the deliveries. */
  audited(audited: Audited): void
  /** What this invocation has taken so far. */
  spent(): Spent
  /** What others have taken for the same run before. */
  goesOnFrom(before: SpentBefore): void
}

/** Where the reports go. */
export interface RunLines {
  began(runId: string): void
  isAbout?(cluster: string): void
  stageEnded(stage: Stage, durationMs: number): void
  audited(audited: Audited): void
}

export interface OpenRunWatch extends RunWatch {
  /**
   * The last stage ends, and the trace goes out.
   * @returns what the invocation took, and others before; null: there were none
   */
  close(isFailed: boolean): Promise<{ own: Spent; before: SpentBefore | null }>
}

/** For one invocation: in a function there is never more than one at a time. */
export function openRunWatch(lines: RunLines): OpenRunWatch {
  const startedAt = new Date().toISOString()
  const startedMs = performance.now()
  const slowDowns = countSlowDowns()
  const spent = (): Spent => ({
    startedAt,
    durationMs: Math.round(performance.now() - startedMs),
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    slowDowns: { ...slowDowns.counts },
  })
  let before: SpentBefore | null = null
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
    isAbout: cluster => lines.isAbout?.(cluster),
    audited: lines.audited,
    spent,
    goesOnFrom(others) {
      before = others
    },
    enters(stage) {
      leave(false)
      current = { stage, startMs: Date.now() }
    },
    async close(isFailed) {
      leave(isFailed)
      await openTrace()?.tell(stages)
      slowDowns.end()
      return { own: spent(), before }
    },
  }
}
