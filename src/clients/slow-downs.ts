/** Counts throttling by AWS and Kubernetes. A channel of its own reports it, so no call has to carry a counter. */
import { channel } from 'node:diagnostics_channel'
import { isThrottling } from './aws-failure.ts'

const slowDowns = channel('highwater:slow-down')

/** One throttled answer, even if a retry succeeded. @param service its name for people: `EKS`, `Kubernetes` */
export const noteSlowDown = (service: string): void => slowDowns.publish(service)

/** Counts from now on, by service. A service that never throttled has no entry. */
export function countSlowDowns(): { counts: Readonly<Record<string, number>>; end: () => void } {
  const counts: Record<string, number> = {}
  const count = (service: unknown) => {
    counts[String(service)] = (counts[String(service)] ?? 0) + 1
  }
  slowDowns.subscribe(count)
  return { counts, end: () => void slowDowns.unsubscribe(count) }
}

/** The part of an SDK client that is used here. Each client has its own type for its stack. */
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

/** Notes every throttled attempt: the SDK retries by itself and does not report them. */
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
