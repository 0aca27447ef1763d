/** Checks whether the team's own alarms object to a change. */

import { alarmStates } from '#clients/cloudwatch.ts'
import { credentialSource } from '#clients/credentials.ts'
import { sdkRegion } from '#clients/eks.ts'
import { messageOf } from '#model/error-message.ts'
import type { Policy } from '#model/policy.ts'

/**
 * Describes the policy's alarms that are in ALARM in an audited account and region, or that could not be read. An alarm that exists nowhere counts as
 * unread: otherwise a misspelt name would guard nothing.
 */
export async function alarmsAgainst(
  { accounts, remediation }: Policy,
  signal: AbortSignal,
): Promise<string[]> {
  const names = [...new Set(remediation.alarms)]
  if (names.length === 0) return []
  const found = new Set<string>()
  const against = new Set<string>()
  const unread: string[] = []
  for (const { roleArn, externalId, regions } of accounts) {
    for (const region of regions ?? [await sdkRegion()]) {
      if (region === null) {
        unread.push('no AWS region is set')
        continue
      }
      try {
        const states = await alarmStates(
          region,
          credentialSource(roleArn, externalId, region),
          names,
          signal,
        )
        for (const [name, state] of states) {
          found.add(name)
          if (state === 'ALARM') against.add(`${name} is in ALARM in ${region}`)
        }
      } catch (error) {
        signal.throwIfAborted()
        unread.push(messageOf(error))
      }
    }
  }
  const [reason] = unread
  if (reason !== undefined) return [...against, `states could not all be read: ${reason}`]
  return [
    ...against,
    ...names
      .filter(name => !found.has(name))
      .map(name => `${name} could not be read: there is none of that name`),
  ]
}
