/** SelfSubjectAccessReview: what the caller may do. Upstream: pkg/registry/authorization/selfsubjectaccessreview/rest.go, pkg/apis/authorization/validation. */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { atPath, notImplemented, Refusal, type Route } from '#lab/api.ts'
import { isGranted, type User } from './authorization.ts'
import { badRequest } from './status.ts'

const kind = 'SelfSubjectAccessReview'
const apiVersion = 'authorization.k8s.io/v1'

export const accessReview: Route<User> = {
  id: 'reviewOwnAccess',
  match: atPath('POST', `/apis/${apiVersion}/selfsubjectaccessreviews`),
  parameters: [],
  answer({ body }, _, user) {
    const review = parsed(body)
    if (review.apiVersion !== apiVersion || review.kind !== kind)
      throw badRequest(
        `the API version or kind in the data does not match the expected ${apiVersion} ${kind}`,
      )
    const spec = isRawObject(review.spec) ? review.spec : {}
    const attributes = spec.resourceAttributes
    if (!isRawObject(attributes)) {
      if (isRawObject(spec.nonResourceAttributes))
        throw notImplemented('the lab reviews resources only')
      throw new Refusal(
        422,
        'Invalid',
        `${kind}.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
      )
    }
    const { verb = '', group = '', resource = '', subresource = '' } = attributes
    const allowed = isGranted(
      user,
      String(verb),
      `${String(resource)}${subresource ? `/${String(subresource)}` : ''}`,
      String(group),
    )
    return {
      status: 201,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
      body: JSON.stringify({
        kind,
        apiVersion,
        metadata: { creationTimestamp: null },
        spec: { resourceAttributes: attributes },
        status: {
          allowed,
          ...(allowed && {
            reason:
              'RBAC: allowed by ClusterRoleBinding "highwater" of ClusterRole "highwater" to Group "highwater"',
          }),
        },
      }),
    }
  },
}

function parsed(body: Buffer): RawObject {
  try {
    const review: unknown = JSON.parse(body.toString())
    if (isRawObject(review)) return review
  } catch {
    // Said below, as for any other body that is no object.
  }
  throw badRequest('the object provided is unrecognized (must be of type SelfSubjectAccessReview)')
}
