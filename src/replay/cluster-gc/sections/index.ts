import type { ClusterNeed } from '#model/cluster-garbage.ts'
import type { Section } from '#replay/cluster-gc/section.ts'
import { events } from './events.ts'
import { history } from './history.ts'
import { jobs } from './jobs.ts'
import { leases } from './leases.ts'
import { nodes } from './nodes.ts'
import { pods } from './pods.ts'

/** Every section by its name. */
export const sections: { readonly [Need in ClusterNeed]: Section<Need> } = { pods, jobs, leases, history, nodes, events }
