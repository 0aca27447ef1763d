/**
 * RBAC as the scenario grants it, refused in the API server's words.
 * Upstream: apiserver/pkg/endpoints/handlers/responsewriters/errors.go Forbidden
 */
import { Refusal } from '#lab/api.ts'

export interface User {
  username: string
  /** `verb resource`, `get nodes/proxy`, `list nodepools.karpenter.sh`, `list *.karpenter.sh`, `list *.*`. */
  rights: readonly string[]
}

export const anonymous: User = { username: 'system:anonymous', rights: [] }

export const isGranted = (
  { rights }: User,
  verb: string,
  resource: string,
  group: string,
): boolean =>
  [
    `${verb} ${resource}${group && `.${group}`}`,
    `${verb} *${group && `.${group}`}`,
    `${verb} *.*`,
  ].some(right => rights.includes(right))

/** @throws Refusal 403 when the user may not do that. */
export function authorize(
  user: User,
  verb: string,
  resource: string,
  target: { group?: string; name?: string; namespace?: string } = {},
): void {
  const { group = '' } = target
  if (isGranted(user, verb, resource, group)) return
  const [kind = resource] = resource.split('/')
  const where =
    target.namespace === undefined
      ? 'at the cluster scope'
      : `in the namespace "${target.namespace}"`
  throw new Refusal(
    403,
    'Forbidden',
    `${kind}${group && `.${group}`}${target.name === undefined ? '' : ` "${target.name}"`} is forbidden: User "${user.username}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`,
    {
      details: {
        ...(target.name !== undefined && { name: target.name }),
        ...(group && { group }),
        kind,
      },
    },
  )
}
