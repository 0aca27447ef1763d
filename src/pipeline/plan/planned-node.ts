/** Facts of a node and its cluster that planning and applying use. */
import type { NodeInput } from '#model/node-input.ts'
import type { ClusterRecord, RawObject } from '#model/record.ts'

/** KubeletConfiguration as it runs; null: not read. */
export const runningOf = ({ configuration }: NodeInput): RawObject | null =>
  configuration?.printed ?? null

/** AMI releases by nodegroup. */
export const releasesOf = ({ nodegroups }: ClusterRecord): [name: string, version: string][] =>
  (Array.isArray(nodegroups) ? nodegroups : []).flatMap(({ nodegroupName, releaseVersion }) =>
    typeof nodegroupName === 'string' && typeof releaseVersion === 'string'
      ? [[nodegroupName, releaseVersion]]
      : [],
  )
