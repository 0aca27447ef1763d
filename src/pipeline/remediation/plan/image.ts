/** Plans a change that leaves the kubelet alone: pulls and pins an image on one node, or writes a logrotate file there. */

import { isLogrotateFile } from '#facts/logrotate.ts'
import { keptBytes, type LogBlock, logFilesOf, ownOf } from '#judge/logs/logrotate.ts'
import { bounded, bytes } from '#judge/text.ts'
import type { DurableFix } from '#model/finding/finding.ts'
import type { NodeIdentity } from '#model/input/node-identity.ts'
import type { Host, NodeInput } from '#model/input/node-input.ts'
import type { CohortFile, CohortImage } from '#model/plan/plan.ts'
import type { Policy } from '#model/policy.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import type { PlannedNode } from '#remediate/plan/plan.ts'
import { parseLogrotate } from '#remediate/remedies/logrotate-text.ts'
import { pullImage } from '#remediate/remedies/pull-image.ts'
import { syncLogRotation } from '#remediate/remedies/sync-log-rotation.ts'
import { replay } from '#replay/replay.ts'
import type { WantedFile } from './log-files.ts'
import { healthOf, type Planned, type PlanRules, refused, refusedChange } from './node.ts'
import { stateOf } from './state.ts'
import type { WantedImage } from './wanted-images.ts'

interface WantedOnNode<Wanted> {
  record: NodeInput
  takenAt: string
  identity: NodeIdentity
  wanted: Wanted
}

export function planImage(
  node: WantedOnNode<WantedImage>,
  { policy }: PlanRules,
): Planned | 'unchanged' {
  const { record, identity, wanted } = node
  if ('why' in wanted) return refused(wanted.why)
  const instanceId = instanceIdOf(identity)
  if (instanceId === null) return refused('the Node object names no instance that SSM would know')
  const change = pullImage(record.runtime, identity.amiFamily, wanted.name, wanted.source)
  if (change === 'unchanged') return change
  if ('refused' in change) return refusedChange(change, record)
  const back = change.oldSha256 === 'absent' ? null : 'unpinned'
  return plannedFile(node, { change, instanceId }, [wanted.name, 'pinned', back], policy)
}

/** A kubelet does the same before and after the change, but that it does not delete a pinned image. */
function plannedFile(
  { record, takenAt, identity }: WantedOnNode<unknown>,
  change: Pick<PlannedNode, 'change' | 'instanceId' | 'says'>,
  [field, value, back]: [field: string, value: unknown, back: unknown],
  policy: Policy,
): Planned {
  const state = stateOf(record, replay(record, takenAt), policy)
  return {
    state: 'planned',
    planned: {
      kubeletStartedAt: null,
      before: state,
      after: state,
      blast: null,
      pulls: [],
      ...healthOf(record, identity),
      ...change,
      expect: [{ field, value }],
      expectBack: [{ field, value: back }],
    },
  }
}

/** Null: the registry to pull from is unknown. */
export const cohortImageOf = (wanted: WantedImage): CohortImage | null =>
  'why' in wanted ? null : { name: wanted.name, source: wanted.source }

/** Commands that pull and pin the image, for the build of the node image or for the user data. */
export const imageText = (wanted: WantedImage): DurableFix[] =>
  'why' in wanted
    ? []
    : [
        {
          target: 'launch-template',
          snippet: `#!/bin/sh\n# ${wanted.name}, in the build of the image, or as a shell part of the user data once containerd runs\ncrictl pull ${wanted.source}\nctr -n k8s.io images label ${wanted.source} io.cri-containerd.pinned=pinned\nctr -n k8s.io images tag ${wanted.source} ${wanted.name}\n`,
        },
      ]

export function planLogFile(node: WantedOnNode<WantedFile>, { policy }: PlanRules): Planned {
  const { record, identity, wanted } = node
  if ('why' in wanted) return refused(wanted.why)
  const instanceId = instanceIdOf(identity)
  if (instanceId === null) return refused('the Node object names no instance that SSM would know')
  const { host } = record
  const change = syncLogRotation(host, wanted.path, wanted.content)
  if ('refused' in change) return refusedChange(change, record)
  if (change.oldSha256 === change.newSha256)
    return refused(`${wanted.path} has the wanted bytes already: what differs is what it inherits`)
  const { host: after, ...file } = change
  const says = keptText(wanted.path, host ?? {}, after) ?? undefined
  const settings: [string, string, string] = [file.path, file.newSha256, file.oldSha256]
  return plannedFile(node, { change: file, instanceId, says }, settings, policy)
}

/** Null: the content to write is not yet known. */
export const cohortFileOf = (wanted: WantedFile): CohortFile | null =>
  'why' in wanted ? null : { path: wanted.path, sha256: sha256(wanted.content) }

/** The file as a shell part of the user data or a step of the image build. Empty if no plan may write the file. */
export const logFileText = (wanted: WantedFile): DurableFix[] =>
  'why' in wanted ||
  !isLogrotateFile(wanted.path) ||
  typeof parseLogrotate(wanted.content) === 'string'
    ? []
    : [
        {
          target: 'launch-template',
          snippet: `#!/bin/sh\n# ${wanted.path}, as a shell part of the user data or in the build of the image\ncat >${wanted.path} <<'END-OF-FILE'\n${wanted.content}END-OF-FILE\nchmod 644 ${wanted.path}\n`,
        },
      ]

/** Describes the log whose kept bytes the file changes most. Null: the file changes the kept bytes of no log. */
function keptText(path: string, before: Host, after: Host) {
  const blocksIn = (host: Host): Readonly<Record<string, LogBlock>> =>
    ownOf(logFilesOf(host) ?? {}, path)?.blocks ?? {}
  const old = blocksIn(before)
  const changed = Object.entries(blocksIn(after)).flatMap(([name, block]) => {
    const was = ownOf(old, name)
    const [from, to] = [was && keptBytes(was), keptBytes(block)]
    return was === null || from === to
      ? []
      : [{ name, from: from ?? Number.POSITIVE_INFINITY, to: to ?? Number.POSITIVE_INFINITY }]
  })
  const [most] = changed.toSorted((a, b) => Math.abs(b.from - b.to) - Math.abs(a.from - a.to))
  if (most === undefined) return null
  const shown = (count: number) => (Number.isFinite(count) ? bytes(count) : 'whatever comes')
  return `A log of ${bounded(most.name, 150)} may keep ${shown(most.to)} there, today ${shown(most.from)}.`
}
