/** Plans the configuration of one node: checks it, predicts what the kubelet does with it, and decides which file is written. */

import { once } from '#base/once.ts'
import { leavesOf, mapOf, patchBetween, type RawObject, valueAt } from '#base/raw-object.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { keepsContainerStatus } from '#facts/kubelet/restart.ts'
import { shorten } from '#judge/text.ts'
import type { Host } from '#model/input/inspection.ts'
import type { ClusterRecord, NodeIdentity, NodeInput } from '#model/input/record.ts'
import { actsAtOnce, type ConfigurationChange, type ExpectedSetting } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import type { FleetPods } from '#remediate/pods.ts'
import { setKubeletConfig } from '#remediate/remedies/set-kubelet-config.ts'
import { kubeletStartedAt } from '#remediate/verify/found-on-node.ts'
import { otherSettings } from '#remediate/verify/other-settings.ts'
import { withChanges } from '#replay/configuration/configuration-change.ts'
import { replay } from '#replay/replay.ts'
import type { NodeOutcome } from './builder.ts'
import type { PlannedNode } from './effect.ts'
import { invalidOf, type ReadNode, reservationTrap, startOf } from './start.ts'
import { actWords, pullsOf, stateOf, whyUnsure } from './state.ts'

export interface PlanRules {
  policy: Policy
  allowActAtOnce: boolean
  fleet: FleetPods
}

export const noInstance = 'the Node object names no instance that SSM would know'

export const refusedNode = (why: string, because?: 'invalid' | 'unread'): NodeOutcome => ({
  state: 'refused',
  why: shorten(why, 1000),
  ...(because !== undefined && { because }),
})

/** A refusal by a remedy. If too little of the node was read, it contains the read error. */
export function refusedChange(
  { refused: why, isUnread }: { refused: string; isUnread?: true },
  { errors = [] }: NodeInput,
): NodeOutcome {
  if (!isUnread) return refusedNode(why)
  const failed = errors.find(({ what }) => what === 'host' || what === 'runtime')
  return refusedNode(`${why}${failed ? `: ${failed.message}` : ' (mode ssm or both)'}`, 'unread')
}

export function planNode(node: ReadNode, patch: RawObject, rules: PlanRules): NodeOutcome {
  const { record, takenAt, identity, running } = node
  if (!running) return refusedNode('its running configuration was not read', 'unread')
  const features = featuresOf(identity.kubeletVersion)
  if (!features.exact)
    return refusedNode(
      `what a kubelet ${identity.kubeletVersion ?? 'of unknown version'} would refuse is not known here`,
    )
  const trap = reservationTrap(running, patch)
  if (trap !== null) return refusedNode(trap)
  const invalid = invalidOf(node, patch)
  if (invalid !== null)
    return refusedNode(
      `kubelet ${identity.kubeletVersion} would not start with it: ${invalid}`,
      'invalid',
    )
  const instanceId = instanceIdOf(identity)
  if (instanceId === null) return refusedNode(noInstance)

  const osImage = record.node.status?.nodeInfo?.osImage ?? ''
  const { host } = record
  const change = setKubeletConfig(
    { identity, osImage, releaseVersion: node.releaseVersion, host, running },
    patch,
  )
  if ('refused' in change) return refusedChange(change, record)
  const changes = startOf(node, patch, change.host)
  if (typeof changes === 'string') return refusedNode(changes)

  const before = stateOf(record, node.prediction(), rules.policy)
  // At its restart the kubelet forgets when it first saw each image and when each image was last used.
  const changedRecord = withChanges({ ...record, host: withoutFiles(host), known: null }, changes)
  const prediction = replay(changedRecord, takenAt)
  const after = stateOf(changedRecord, prediction, rules.policy)
  const unsure = whyUnsure(patch, prediction)
  if (!rules.allowActAtOnce && unsure !== null) return refusedNode(unsure)
  const acting = (after.evictsNow ?? []).filter(signal => !before.evictsNow?.includes(signal))
  if (!rules.allowActAtOnce && actsAtOnce({ before, after }))
    return refusedNode(
      `it would act at once on what is there now: ${acting.map(signal => actWords(signal, prediction)).join('; ')} (kubernetes#83612). Make room first, or ask for it with --allow-act-at-once`,
    )
  const { host: _host, staysSet = [], says, ...file } = change
  const expect = expectedOf(changes, running)
  return {
    state: 'planned',
    planned: {
      change: file,
      instanceId,
      expect,
      expectBack: expect
        .filter(({ field }) => !staysSet.includes(field))
        .map(({ field }) => ({ field, value: valueAt(running, field) ?? null })),
      others: otherSettings(record, expect),
      kubeletStartedAt: kubeletStartedAt(record),
      before,
      after,
      blast: rules.fleet.blastOf(record, isStatusKept(running, features)),
      pulls: pullsOf(prediction),
      ...(says !== undefined && { says }),
      ...healthOf(record, identity),
    },
  }
}

/**
 * A change that leaves the kubelet alone: it does the same before and after, but that it does not delete a pinned image.
 * @param value of the changed place, as a reading of the node shows it
 */
export function plannedFile(
  node: ReadNode,
  planned: Pick<PlannedNode, 'change' | 'instanceId' | 'says'>,
  value: { before: unknown; after: unknown },
  { policy }: PlanRules,
): NodeOutcome {
  const { record, identity } = node
  const state = stateOf(record, node.prediction(), policy)
  const field = planned.change.path
  return {
    state: 'planned',
    planned: {
      kubeletStartedAt: null,
      before: state,
      after: state,
      blast: null,
      pulls: [],
      ...healthOf(record, identity),
      ...planned,
      expect: [{ field, value: value.after }],
      expectBack: [{ field, value: value.before }],
    },
  }
}

/** The node's health, which together with its pods decides the wave. */
const healthOf = ({ node }: NodeInput, { ready }: NodeIdentity) => ({
  isReady: ready === 'True',
  hasPressure: (node.status?.conditions ?? []).some(
    ({ type, status }) => /Pressure$/.test(type ?? '') && status === 'True',
  ),
})

/** The result of the files is known already, and loading them again would take most of the time. */
export const withoutFiles = (host: Host | null): Host | null =>
  host?.kubelet ? { ...host, kubelet: { ...host.kubelet, files: [] } } : host

/** Whether ready containers stay ready during a restart of this kubelet. */
export const isStatusKept = (running: RawObject, features: KubeletFeatures): boolean =>
  keepsContainerStatus(features, mapOf(running.featureGates))

function expectedOf(
  changes: readonly ConfigurationChange[],
  running: RawObject,
): ExpectedSetting[] {
  const fields = changes.map(({ path: [field = ''] }) => field)
  const present = Object.fromEntries(
    Object.entries(running).filter(([field]) => fields.includes(field)),
  )
  const wanted = changes.flatMap(({ path: [field = ''], value }) =>
    value === undefined ? [] : [[field, value] as const],
  )
  return leavesOf(patchBetween(present, Object.fromEntries(wanted))).map(([field, value]) => ({
    field,
    value,
  }))
}

export const readNode = (
  given: Pick<ReadNode, 'record' | 'takenAt' | 'identity' | 'releaseVersion'>,
): ReadNode => ({
  ...given,
  running: given.record.configuration?.printed ?? null,
  prediction: once(() => replay(given.record, given.takenAt)),
})

/** AMI releases by nodegroup. */
export const releasesOf = ({ nodegroups }: ClusterRecord): [name: string, version: string][] =>
  (Array.isArray(nodegroups) ? nodegroups : []).flatMap(({ nodegroupName, releaseVersion }) =>
    typeof nodegroupName === 'string' && typeof releaseVersion === 'string'
      ? [[nodegroupName, releaseVersion]]
      : [],
  )
