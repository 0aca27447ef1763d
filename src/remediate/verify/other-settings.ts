/** What of a kubelet's configuration a step leaves alone: each field by a digest, so that a plan carries no value. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { isCompared, meaningOf } from '#facts/kubelet/setting-meaning.ts'
import type { NodeInput } from '#model/node-input.ts'
import type { ExpectedSetting, PlanStep } from '#model/plan.ts'
import { leavesOf } from '#remediate/merge.ts'
import { canonicalJson, sha256 } from '#remediate/plan/canonical.ts'

/** Hex characters: no one can construct another value with the same 64 bits that a kubelet accepts. */
const digestLength = 16

/** Whether the kubelet itself was read. What files come to lacks what the kubelet makes of them, so only its own words are compared. */
const isAsked = ({ mode, errors }: NodeInput): boolean =>
  mode !== 'ssm' && !errors.some(({ what }) => what === 'configz')

/**
 * By field, without what the step changes; of a map, the keys that it leaves alone.
 * @returns undefined: the kubelet was not read
 */
export function otherSettings(
  record: NodeInput,
  expect: readonly ExpectedSetting[],
): Record<string, string> | undefined {
  const running = record.configuration?.printed ?? null
  if (running === null || !isAsked(record)) return undefined
  const { kubeletVersion } = nodeIdentity(record.node)
  const changed = new Set(expect.map(({ field }) => field))
  const digests = Object.entries(running).flatMap(([field, value]) => {
    const meant = leavesOf({ [field]: value })
      .filter(([path]) => !changed.has(path) && !changed.has(field))
      .map(([path, leaf]) => [
        path,
        isCompared(path) ? meaningOf(path, leaf, kubeletVersion) : canonicalJson(leaf),
      ])
      .filter(([, meaning]) => meaning !== '')
    return meant.length === 0 ? [] : [[field, sha256(canonicalJson(meant)).slice(0, digestLength)]]
  })
  return Object.fromEntries(digests)
}

/** Fields that the step should have left alone, and that are not as they were. */
function changedOthers(
  { others, expect }: Pick<PlanStep, 'others' | 'expect'>,
  fresh: NodeInput,
): string[] {
  const found = otherSettings(fresh, expect)
  if (others === undefined || found === undefined) return []
  return [...new Set([...Object.keys(others), ...Object.keys(found)])]
    .filter(field => others[field] !== found[field])
    .toSorted()
}

const shownFields = 6

/** Null: they are all as they were. For people. */
export function whyOthersChanged(
  step: Pick<PlanStep, 'others' | 'expect'>,
  fresh: NodeInput,
): string | null {
  const changed = changedOthers(step, fresh)
  if (changed.length === 0) return null
  const names = changed.slice(0, shownFields).map(field => field.slice(0, 60))
  const more = changed.length > shownFields ? ` and ${changed.length - shownFields} more` : ''
  return `its configuration differs in what the plan leaves alone: ${names.join(', ')}${more}`
}
