import type { ClusterNeed } from '#model/finding/cluster-garbage.ts'
import type { Section } from '#replay/cluster-gc/section.ts'
import { certificates } from './certificates.ts'
import { finalizers } from './finalizers.ts'
import { jobs } from './jobs.ts'
import { instances, leases, nodes } from './nodes.ts'
import { owners } from './owners.ts'
import { pods } from './pods.ts'
import { disks, volumes } from './volumes.ts'

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
