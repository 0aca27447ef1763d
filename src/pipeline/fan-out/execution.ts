/** The executions of a run: one at a time, and no other after one that has succeeded. One that ended red gives way when the tick comes again. */
import { executionStatus, startExecution } from '#clients/sfn.ts'
import { runKey } from '#publish/run.ts'

export interface RunExecution {
  name: string
  /** Null: it has begun, now or by a delivery just before. Else what became of one that needs no other. */
  status: string | null
}

/** More would be somebody who sends a tick without looking why it fails. */
export const mostExecutions = 20

/** A name cannot be had twice, so the second is called `RUN-2`, and so on. Source: Step Functions API reference, Execution, status. */
const endedRed = ['FAILED', 'TIMED_OUT', 'ABORTED']

/** @throws RequestFailure, or Error when all names are used up */
export async function startRun(
  stateMachineArn: string,
  runId: string,
  signal: AbortSignal,
): Promise<RunExecution> {
  for (let number = 1; number <= mostExecutions; number++) {
    const name = number === 1 ? runId : `${runId}-${number}`
    if (await startExecution({ stateMachineArn, name, input: { run: runId } }, signal))
      return { name, status: null }
    const status = await executionStatus({ stateMachineArn, name }, signal)
    if (!endedRed.includes(status)) return { name, status }
  }
  throw new Error(
    `${mostExecutions} executions of run ${runId} have ended red, and no other is started: the last one says why in Step Functions. ` +
      `An audit without scheduledTime begins anew; what this run has read lies below ${runKey(runId, 'fan-out/')}`,
  )
}
