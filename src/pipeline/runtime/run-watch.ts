/** Progress of a run of the service, for log, metrics and trace. */
import { countSlowDowns } from '#clients/aws/aws-failure.ts'
import { openTrace, type TracedStage } from '#clients/aws/xray.ts'
import type { NotAudited } from '#model/finding.ts'
import type { RemediationRequest } from '#model/plan.ts'
import type { RunAnswer } from '#model/run.ts'
import type { AuditStage } from '#pipeline/audit/audit.ts'

/** The stages of all functions of the service. */
export type Stage = AuditStage | 'prepare' | 'discover' | 'reduce' | RemediationRequest['action']

/** The figures of an audit for log and metrics, and why something is missing. */
export interface Audited extends Pick<RunAnswer, 'findings' | 'clusters' | 'notAudited'> {
  /** The first reasons, each with its first place and the number of places. */
  reasons: (NotAudited & { places: number })[]
}

export interface RunWatch {
  /** Called when the id of the run is known. */
  began(runId: string): void
  /** Called with the cluster of this invocation, if it has one. */
  isAbout(cluster: string): void
  /** A stage begins; the previous one ends. */
  enterStage(stage: Stage): void
  /** Called when the findings are known. Deliveries can still fail. */
  audited(audited: Audited): void
  /** Time and memory of this invocation so far. */
  spent(): Spent
  /** Adds earlier invocations of the same run. */
  continueFrom(before: SpentBefore): void
}

/** Receiver of the progress reports. */
export interface RunLines {
  began(runId: string): void
  isAbout?(cluster: string): void
  stageBegan?(stage: Stage): void
  stageEnded(stage: Stage, durationMs: number): void
  audited(audited: Audited): void
}

export interface OpenRunWatch extends RunWatch {
  /**
   * Ends the last stage and sends the trace.
   * @returns figures of this invocation, and of earlier ones (null: none)
   */
  close(isFailed: boolean): Promise<{ own: Spent; before: SpentBefore | null }>
}

/** For one invocation: in a function there is never more than one at a time. */
export function openRunWatch(lines: RunLines): OpenRunWatch {
  const startedAt = new Date().toISOString()
  const startedMs = performance.now()
  const slowDowns = countSlowDowns()
  const spentNow = (): Spent => ({
    startedAt,
    durationMs: Math.round(performance.now() - startedMs),
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    slowDowns: { ...slowDowns.counts },
  })
  let before: SpentBefore | null = null
  const stages: TracedStage[] = []
  let current: { stage: Stage; startMs: number } | null = null
  const endStage = (isFailed: boolean) => {
    if (!current) return
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
    spent: spentNow,
    continueFrom(others) {
      before = others
    },
    enterStage(stage) {
      endStage(false)
      current = { stage, startMs: Date.now() }
      lines.stageBegan?.(stage)
    },
    async close(isFailed) {
      endStage(isFailed)
      await openTrace()?.send(stages)
      slowDowns.end()
      return { own: spentNow(), before }
    },
  }
}

/** Time and memory of an invocation, or of several together. */
export interface Spent {
  /** Start of the first invocation, RFC 3339. */
  startedAt: string
  /** Sum over the invocations. */
  durationMs: number
  /** Maximum over the invocations. */
  peakRssBytes: number
  /** Number of throttled answers by service, if any. */
  slowDowns: Record<string, number>
}

/** Invocations of a run before its last one. */
export interface SpentBefore extends Spent {
  invocations: number
  /** Number of failed ones. A killed invocation leaves no record, so it is not counted. */
  failed: number
}

/** @param all at least one */
export function sumSpent(all: readonly Spent[]): Spent {
  const slowDowns: Record<string, number> = {}
  for (const one of all)
    for (const [service, times] of Object.entries(one.slowDowns))
      slowDowns[service] = (slowDowns[service] ?? 0) + times
  return {
    startedAt: all.map(({ startedAt }) => startedAt).toSorted()[0] ?? '',
    durationMs: all.reduce((total, { durationMs }) => total + durationMs, 0),
    peakRssBytes: Math.max(...all.map(({ peakRssBytes }) => peakRssBytes)),
    slowDowns,
  }
}
