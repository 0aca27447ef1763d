import type { ClusterNeed } from '#model/finding/cluster-garbage.ts'
import type { Section } from '#replay/cluster-gc/section.ts'
import { certificates } from './certificates.ts'
import { disks } from './disks.ts'
import { finalizers } from './finalizers.ts'
import { instances } from './instances.ts'
import { jobs } from './jobs.ts'
import { leases } from './leases.ts'
import { nodes } from './nodes.ts'
import { owners } from './owners.ts'
import { pods } from './pods.ts'
import { volumes } from './volumes.ts'

/** Every section by name, in the order in which they close. The section that needs most memory closes first. */
export const sections: { readonly [Need in ClusterNeed]: Section<Need> } = {
  owners,
  pods,
  jobs,
  leases,
  nodes,
  volumes,
  certificates,
  finalizers,
  disks,
  instances,
}
