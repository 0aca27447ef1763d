/** Whether planning the node now would give the same step, byte for byte, and whether it would act at once. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { meaningOf } from '#facts/kubelet/fields.ts'
import { ownValue, wantedHash } from '#judge/logs/logrotate.ts'
import type { NodeIdentity, NodeInput } from '#model/input/record.ts'
import type { ExpectedSetting, PlanCohort, PlanStep } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { canonicalJson } from '#remediate/plan/canonical.ts'
import { FleetPods } from '#remediate/pods.ts'
import { isPulledFrom, pullImage, sourceIn } from '#remediate/remedies/pull-image.ts'
import type { WrittenChange } from '#remediate/remedies/remedy.ts'
import { syncLogRotation } from '#remediate/remedies/sync-log-rotation.ts'
import { otherDoubts } from '#remediate/verify/verify.ts'
import { policySource } from './images.ts'
import { FleetLogFiles } from './log-files.ts'
import { planNode, readNode } from './node.ts'
import { planPrune } from './prune.ts'

export interface StepNow {
  step: PlanStep
  /** Undefined: the plan has no such cohort. */
  cohort: PlanCohort | undefined
  /** The node, read again, with the time of that reading. If configz is unread, the record has the configuration on disk. */
  record: NodeInput
  /** AMI release of the node's nodegroup, if no update is in progress; null: unknown. */
  releaseVersion: string | null
  /** The option --allow-act-at-once, as approved. */
  allowActAtOnce: boolean
  policy: Policy
}

/** Why the step is no longer valid, for people; null: it is still valid. */
export function whyNotNow(now: StepNow): string | null {
  const { step, cohort, record } = now
  if (!cohort) return `its cohort ${step.cohort} is none of the plan's`
  const identity = nodeIdentity(record.node)
  switch (step.method) {
    case 'sync-file': {
      const other = whyOtherLogFile(now, identity)
      if (other !== null) return other
      const change = syncLogRotation(record.host, step.path, step.content)
      return 'refused' in change ? change.refused : whyOther(step, change)
    }
    case 'pull-image': {
      const source = sourceIn(step.content, step.path) ?? ''
      const other = whyOtherSource(step.path, source, now.policy)
      if (other !== null) return other
      const change = pullImage(record.runtime, identity.amiFamily, step.path, source)
      if (change === 'unchanged') return 'the image is pinned already'
      return 'refused' in change ? change.refused : whyOther(step, change)
    }
    default:
      return whyNotConfigured(now, cohort, identity)
  }
}

/** The current policy must name the planned source. */
function whyOtherSource(name: string, planned: string, policy: Policy) {
  const found = policySource(name, policy)
  if (!found) return `policy requiredImageSources names no source of ${name}`
  if ('why' in found) return found.why
  return isPulledFrom(planned, found.source)
    ? null
    : `policy requiredImageSources names another source of ${name} than the plan: ${found.source}`
}

/** The policy must name the file and result in the planned content. */
function whyOtherLogFile({ step, record, policy }: StepNow, identity: NodeIdentity) {
  const wanted = ownValue(policy.logRotation, step.path)
  if (!wanted) return `policy logRotation does not name ${step.path}`
  const hash = wantedHash(wanted)
  const other = `policy logRotation names another content of ${step.path} than the plan`
  if (hash !== null) return hash === step.newSha256 ? null : other
  const files = new FleetLogFiles(policy)
  files.takeNode(record, identity)
  const file = files.wantedOf(record, identity).find(({ path }) => path === step.path)
  if (!file) return `${step.path} is as policy logRotation wants it already`
  if ('why' in file) return file.why
  return file.content === step.content ? null : other
}

function whyNotConfigured(
  { step, record, ...now }: StepNow,
  { fields }: PlanCohort,
  identity: NodeIdentity,
) {
  const { releaseVersion, policy, allowActAtOnce } = now
  const node = readNode({ record, takenAt: record.at ?? '', identity, releaseVersion })
  const rules = { policy, allowActAtOnce, fleet: new FleetPods() }
  const pruned = step.until && planPrune(node, { toPercent: step.until.usedPercentAtMost }, rules)
  if (pruned === 'unchanged')
    return `its image filesystem is down to ${step.until?.usedPercentAtMost} % already: there is nothing to prune`
  const outcome = pruned?.outcome ?? planNode(node, fields, rules)
  if (outcome.state !== 'planned') return outcome.why
  const { change, expect, expectBack } = outcome.planned
  const { kubeletVersion } = identity
  const isSame = (planned: ExpectedSetting[], found: ExpectedSetting[]) =>
    meaningsOf(planned, kubeletVersion) === meaningsOf(found, kubeletVersion)
  if (!isSame(step.expect, expect) || !isSame(step.expectBack, expectBack))
    return 'what it promises of the running configuration is not what this change comes to there now'
  const [doubt] = otherDoubts(step, record)
  return doubt?.why ?? whyOther(step, change)
}

const meaningsOf = (settings: readonly ExpectedSetting[], kubeletVersion: string | null) =>
  canonicalJson(
    settings
      .map(({ field, value }) => `${field}=${meaningOf(field, value, kubeletVersion)}`)
      .sort(),
  )

/** Null: the changes are equal. */
function whyOther(step: PlanStep, found: WrittenChange) {
  const { method, path, oldSha256, newSha256, backSha256, content, lastsUntil } = found
  if (step.method !== method || step.path !== path)
    return `what is planned goes to ${step.path}, and this node takes it in ${path} now`
  if (step.oldSha256 !== oldSha256) return `${path} is another than the plan was made for`
  const isSame =
    step.content === content &&
    step.newSha256 === newSha256 &&
    step.backSha256 === backSha256 &&
    step.lastsUntil === lastsUntil
  return isSame
    ? null
    : `the plan writes something else to ${path} than its fields come to there: it was not made of this node, or changed since`
}
