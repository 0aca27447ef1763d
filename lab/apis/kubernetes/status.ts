/** A Kubernetes API server's errors: `v1.Status`. Upstream: staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go. */
import { Refusal, type Reply } from '#lab/api.ts'

export const statusReply = ({ status, code, message, more }: Refusal): Reply => ({
  status,
  headers: {
    'content-type': 'application/json',
    'cache-control': 'no-cache, private',
    ...more.headers,
  },
  body: JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: more.metadata ?? {},
    status: 'Failure',
    message,
    reason: code,
    ...(more.details && { details: more.details }),
    code: status,
  }),
})

export const unauthorized = () => new Refusal(401, 'Unauthorized', 'Unauthorized')

export const badRequest = (message: string) => new Refusal(400, 'BadRequest', message)

export const notFound = (resource: string, name: string) =>
  new Refusal(404, 'NotFound', `${resource} "${name}" not found`, {
    details: { name, kind: resource },
  })

export const serviceUnavailable = (message: string) =>
  new Refusal(503, 'ServiceUnavailable', message)

/** A list whose continue token is from before the last compaction. Upstream: apiserver/pkg/storage/etcd3/errors.go handleCompactedErrorForPaging. */
export const expired = (continueToken: string) =>
  new Refusal(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue ' +
      'parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided ' +
      'token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was ' +
      'returned and now may show up in the list.',
    { metadata: { continue: continueToken } },
  )
