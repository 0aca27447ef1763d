/** What a Node object says of its pressures. */
import { signalsOfResource } from '#facts/kubelet/event-messages.ts'
import { shownTime } from '#judge/events/events.ts'
import type { NodeSubject } from '#judge/rule.ts'
import { conditionOf } from '#model/prediction.ts'

export type NodeCondition = NonNullable<NonNullable<NodeSubject['node']['status']>['conditions']>[0]

/** Pressure that the node reports. */
export const conditionsOf = ({ node }: Pick<NodeSubject, 'node'>) =>
  (node.status?.conditions ?? []).flatMap(({ type = '', status }) =>
    status === 'True' && /^(?:Disk|Memory|PID)Pressure$/.test(type) ? [type] : [],
  )

export const sinceOf = ({ type, status, lastTransitionTime = 'an unknown time' }: NodeCondition) =>
  `${type} is ${status} since ${shownTime(lastTransitionTime)}`

/** Whether the condition is of this resource. */
export const isScarce = (resource: string, { type }: NodeCondition) =>
  signalsOfResource[resource]?.some(signal => conditionOf(signal) === type) === true
