/**
 * The status of a command on one instance, as SSM reports it.
 * Source: Systems Manager user guide, Understanding command statuses; SSM API reference, CommandInvocation StatusDetails.
 */

/** Final statuses: SSM will not change them. */
const ended = new Set(['Success', 'Failed', 'TimedOut', 'Cancelled'])
export const hasEnded = (status: string): boolean => ended.has(status)

/** Whether the script ran and failed. Every other failure has its own details. */
export const hasScriptFailed = (status: string, statusDetails: string): boolean =>
  status === 'Failed' && (statusDetails === 'Failed' || statusDetails === '')

/** By `StatusDetails` without spaces, because the API writes them with and without. */
const meanings: Readonly<Record<string, string>> = {
  Pending: 'the command still waited to be delivered when the time was up',
  InProgress: 'the script still ran when the time was up',
  Delayed: 'the agent did not take the command in time; SSM still tried when the time was up',
  DeliveryTimedOut: 'the command could not be delivered in time: the agent does not answer',
  ExecutionTimedOut: 'the script took longer than it may, and was stopped',
  TimedOut: 'the command ran out of time',
  Failed: 'the script failed',
  Cancelled: 'the command was cancelled in SSM before it ended',
  Cancelling: 'the command was being cancelled in SSM',
  Undeliverable:
    'the command cannot be delivered: the instance is gone, or its agent does not answer',
  Terminated: 'SSM ended the command because too many other instances of it had failed',
  AccessDenied: "the instance's role does not allow its agent to run the document",
  InvalidPlatform: "the document does not run on the instance's platform",
  NoInstancesInTag: 'no instance was found for the command',
  LimitExceeded:
    "the account's limit of commands for one instance is reached: others are still waiting",
  Incomplete: 'the command ended before its script did',
  RateExceeded: "the account's limit of commands a second is reached",
}

export function whyNotAnswered(status: string, statusDetails: string): string | undefined {
  if (status === 'Success') return undefined
  const details = statusDetails.replaceAll(' ', '')
  const key = details === '' ? status : details
  return Object.hasOwn(meanings, key)
    ? meanings[key]
    : `SSM gives it a status that is not known here (${statusDetails.slice(0, 50)})`
}
