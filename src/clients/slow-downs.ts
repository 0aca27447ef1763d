/** Counts throttling by AWS and Kubernetes. A channel of its own reports it, so no call has to carry a counter. */
import { channel } from 'node:diagnostics_channel'
import { isThrottling } from './aws-failure.ts'

const slowDowns = channel('highwater:slow-down')

/** One throttled answer, even if a retry succeeded. @param service its name for people: `EKS`, `Kubernetes` */
export const tellSlowDown = (service: string): void => slowDowns.publish(service)

/** Counts from now on, by service. A service that never throttled has no entry. */
export function countSlowDowns(): { counts: Readonly<Record<string, number>>; end: () => void } {
  const counts: Record<string, number> = {}
  const count = (service: unknown) => {
    counts[String(service)] = (counts[String(service)] ?? 0) + 1
  }
  slowDowns.subscribe(count)
  return { counts, end: () => void slowDowns.unsubscribe(count) }
}

/** What of an SDK client is needed here. Each has a type of its own for its stack. */
interface SdkClient {
  middlewareStack: {
    add(
      middleware: <Input, Output>(
        next: (input: Input) => Promise<Output>,
      ) => (input: Input) => Promise<Output>,
      options: { step: 'deserialize'; name: string; priority: 'high' },
    ): void
  }
}

/** Tells of every try that the service refused for its pace: the SDK tries again by itself, and would keep it to itself. */
export function tellingSlowDowns<Client extends SdkClient>(
  service: string,
  client: Client,
): Client {
  client.middlewareStack.add(
    next => async input => {
      try {
        return await next(input)
      } catch (error) {
        if (isThrottling(error)) tellSlowDown(service)
        throw error
      }
    },
    { step: 'deserialize', name: 'tellSlowDowns', priority: 'high' },
  )
  return client
}
