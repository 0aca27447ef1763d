/** A node of an audit, for comparisons of audits. */
import { bounded, nameLength } from '#judge/text.ts'
import type { MetNode } from '#model/finding/delta.ts'
import type { AuditedNode } from '#model/report.ts'

/** Names the node as findings do. */
export const metNode = ({ cluster, identity, coverage, errors }: AuditedNode): MetNode => ({
  cluster: bounded(cluster),
  name: bounded(identity.name, nameLength),
  group: { ...identity.group, name: bounded(identity.group.name, nameLength) },
  coverage,
  isFargate: identity.owner === 'fargate',
  missed: bounded(errors.map(({ what, message }) => `${what}: ${message}`).join('; ')),
})
