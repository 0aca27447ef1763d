/** Counts throttling by AWS and Kubernetes. A diagnostics channel carries the reports, so no call needs a counter as argument. */
import { channel } from 'node:diagnostics_channel'
import { isThrottling } from './aws-failure.ts'

const slowDowns = channel('highwater:slow-down')

/** Reports one throttled answer, even if a retry succeeded. @param service name for people: `EKS`, `Kubernetes` */
export const noteSlowDown = (service: string): void => slowDowns.publish(service)

/** Starts counting, by service. A service that never throttled has no entry. */
export function countSlowDowns(): { counts: Readonly<Record<string, number>>; end: () => void } {
  const counts: Record<string, number> = {}
  const count = (service: unknown) => {
    counts[String(service)] = (counts[String(service)] ?? 0) + 1
  }
  slowDowns.subscribe(count)
  return { counts, end: () => void slowDowns.unsubscribe(count) }
}

/** The used part of an SDK client. Each SDK client has its own type for the middleware stack. */
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

/** Reports each throttled attempt of a client, because the SDK retries without a report. */
export function countingSlowDowns<Client extends SdkClient>(
  service: string,
  client: Client,
): Client {
  client.middlewareStack.add(
    next => async input => {
      try {
        return await next(input)
      } catch (error) {
        if (isThrottling(error)) noteSlowDown(service)
        throw error
      }
    },
    { step: 'deserialize', name: 'countSlowDowns', priority: 'high' },
  )
  return client
}
