/** An execution that the lab has started. */
export interface LabExecution {
  stateMachineArn: string
  name: string
  input: unknown
  /** RFC 3339. */
  startedAt: string
  status: 'RUNNING' | EndedStatus
}

export type EndedStatus = 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'
