/** What a finding is about. */
export const subjectKinds = [
  'Nodegroup',
  'NodePool',
  'Node',
  'Cluster',
  'Pod',
  'Namespace',
] as const

/** What a finding is about: the nodegroup or nodepool where the nodes have one, so that its id outlives a new AMI; of objects their namespace. */
export interface Subject {
  kind: (typeof subjectKinds)[number]
  namespace: string | null
  name: string
}
