/** RBAC rights as `verb resource[/subresource][.group]`, the API server's names. Source: Kubernetes API reference, rbac.authorization.k8s.io/v1, authorization.k8s.io/v1. */

export interface ResourceAttributes {
  verb: string
  group: string
  resource: string
  /** Empty: the resource itself. */
  subresource: string
}

export interface PolicyRule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

/** Parses `list nodepools.karpenter.sh` or `get nodes/proxy`; `list *.karpenter.sh` means all of a group, `list *.*` all groups. */
export function attributesOf(right: string): ResourceAttributes {
  const [, verb = '', resource = '', subresource = '', group = ''] =
    /^(\w+) ([\w*-]+)(?:\/(\w+))?(?:\.(.+))?$/.exec(right) ?? []
  return { verb, group, resource, subresource }
}

/** One rule for all resources with the same group and verb; subresources have their own rule. */
export function policyRules(rights: readonly string[]): PolicyRule[] {
  const rules = new Map<string, PolicyRule>()
  for (const right of new Set(rights)) {
    const { verb, group, resource, subresource } = attributesOf(right)
    const key = `${group} ${verb} ${subresource !== ''}`
    const rule = rules.get(key) ?? { apiGroups: [group], resources: [], verbs: [verb] }
    rule.resources.push(subresource === '' ? resource : `${resource}/${subresource}`)
    rules.set(key, rule)
  }
  return [...rules.values()]
}

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

export interface ServiceAccount {
  namespace: string
  name: string
}

/** A ClusterRole and its binding, to the group of the same name or to a service account. */
export function clusterRole(
  name: string,
  rights: readonly string[],
  account: ServiceAccount | null = null,
): object[] {
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: policyRules(rights) },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [
        account ? { kind: 'ServiceAccount', ...account } : { apiGroup, kind: 'Group', name },
      ],
    },
  ]
}
