/** Starts executions of a run: one at a time, none after a success. After a failed one, the next delivery of the tick starts another. */
import { executionStatus, startExecution } from '#clients/aws/sfn.ts'
import { runKey } from '#publish/publish.ts'

/** Limits repeated deliveries of a tick that always fails. */
export const mostExecutions = 20

/** States after which another execution starts. Its name must be new, such as `RUN-2`. Source: Step Functions API reference, Execution, status. */
const endedRed = ['FAILED', 'TIMED_OUT', 'ABORTED']

/**
 * @returns `status` null: started now; else the status of an earlier execution that needs no retry
 * @throws RequestFailure, or Error if all names are used
 */
export async function startRun(stateMachineArn: string, runId: string, signal: AbortSignal) {
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
