/** One node and an image that it must not lose: whether a plan may pull and pin it there, and what it comes to. */
import type { DurableFix } from '#model/finding.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { NodeInput } from '#model/node-input.ts'
import type { CohortImage } from '#model/plan.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import { pullImage } from '#remediate/remedies/pull-image.ts'
import { replay } from '#replay/replay.ts'
import { healthOf, type Planned, type PlanRules, refused, refusedChange } from './node.ts'
import { stateOf } from './state.ts'
import type { WantedImage } from './wanted-images.ts'

export interface ImageToPlan {
  record: NodeInput
  takenAt: string
  identity: NodeIdentity
  wanted: WantedImage
}

export function planImage(
  { record, takenAt, identity, wanted }: ImageToPlan,
  { policy }: PlanRules,
): Planned | 'unchanged' {
  if ('why' in wanted) return refused(wanted.why)
  const instanceId = instanceIdOf(identity)
  if (instanceId === null) return refused('the Node object names no instance that SSM would know')
  const change = pullImage(record.runtime, identity.amiFamily, wanted.name, wanted.source)
  if (change === 'unchanged') return change
  if ('refused' in change) return refusedChange(change, record)
  // What is pinned is not deleted; what the kubelet does, and when, stays.
  const state = stateOf(record, replay(record, takenAt), policy)
  return {
    state: 'planned',
    planned: {
      change,
      instanceId,
      expect: [{ field: wanted.name, value: 'pinned' }],
      expectBack: [
        { field: wanted.name, value: change.oldSha256 === 'absent' ? null : 'unpinned' },
      ],
      kubeletStartedAt: null,
      before: state,
      after: state,
      blast: null,
      pulls: [],
      ...healthOf(record, identity),
    },
  }
}

/** Null: the registry to pull from is unknown. */
export const cohortImageOf = (wanted: WantedImage): CohortImage | null =>
  'why' in wanted ? null : { name: wanted.name, source: wanted.source }

/** For the build of the image, or the user data. */
export const imageText = (wanted: WantedImage): DurableFix[] =>
  'why' in wanted
    ? []
    : [
        {
          target: 'launch-template',
          snippet: `#!/bin/sh\n# ${wanted.name}, in the build of the image, or as a shell part of the user data once containerd runs\ncrictl pull ${wanted.source}\nctr -n k8s.io images label ${wanted.source} io.cri-containerd.pinned=pinned\nctr -n k8s.io images tag ${wanted.source} ${wanted.name}\n`,
        },
      ]
