/** Kinds of objects that findings are about. */
export const subjectKinds = [
  'Nodegroup',
  'NodePool',
  'Node',
  'Cluster',
  'Pod',
  'Namespace',
] as const

/** What a finding is about. Of nodes: their nodegroup or nodepool, if any, so the id survives a new AMI. Of other objects: their namespace. */
export interface Subject {
  kind: (typeof subjectKinds)[number]
  namespace: string | null
  name: string
}
