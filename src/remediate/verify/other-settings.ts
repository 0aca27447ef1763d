/** Kubelet fields that a step does not change, running or on disk. A plan contains only their digests, not their values. */

import { leavesOf, mapOf, mergePatch, type RawObject, valueAt } from '#base/raw-object.ts'
import { byText, firstNames } from '#base/text.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { isComparedField, meaningOf } from '#facts/kubelet/fields.ts'
import type { Host } from '#model/input/inspection.ts'
import type { NodeInput } from '#model/input/record.ts'
import type { ExpectedSetting, PlanStep } from '#model/plan.ts'
import { canonicalJson, sha256 } from '#remediate/plan/canonical.ts'
import { type Doubt, notYetDoubt, wrongDoubt } from './verify-health.ts'

/** Settings that the step does not change. */
export type OtherSettings = Pick<PlanStep, 'others' | 'othersOn'>

/** Hex characters: no one can construct another value with the same 64 bits that a kubelet accepts. */
const digestLength = 16

/** Whether the kubelet itself was read. If not, the record has the merged files, drop-ins and flags. */
export const isKubeletRead = ({ mode, errors }: NodeInput): boolean =>
  mode !== 'ssm' && !errors.some(({ what }) => what === 'configz')

/**
 * By field, without what the step changes; of a map, only the keys that the step leaves alone.
 * @param record with the configuration on disk if configz is unread
 * @returns empty: neither configz nor the disk was read
 */
export function otherSettings(
  record: NodeInput,
  expect: readonly ExpectedSetting[],
): OtherSettings {
  const printed = record.configuration?.printed ?? null
  if (!printed) return {}
  const isOnDisk = !isKubeletRead(record)
  const settings = isOnDisk ? { ...fieldsOnDisk(record.host), ...printed } : printed
  const { kubeletVersion } = nodeIdentity(record.node)
  const changed = new Set(expect.map(({ field }) => field))
  const digests = Object.entries(settings).flatMap(([field, value]) => {
    const meant = leavesOf({ [field]: value })
      .filter(([path]) => !changed.has(path) && !changed.has(field))
      .map(([path, leaf]) => [
        path,
        isComparedField(path) ? meaningOf(path, leaf, kubeletVersion) : canonicalJson(leaf),
      ])
      .filter(([, meaning]) => meaning !== '')
    return meant.length === 0 ? [] : [[field, sha256(canonicalJson(meant)).slice(0, digestLength)]]
  })
  return { others: Object.fromEntries(digests), ...(isOnDisk && { othersOn: 'disk' }) }
}

/** Merges fields of file and drop-ins in the kubelet's order, then flags, including fields that the replay of a start leaves out. */
function fieldsOnDisk(host: Host | null): RawObject {
  const { files = [], commandLine = [] } = host?.kubelet ?? {}
  const contentsOf = (role: string) =>
    files
      .filter(file => file.role === role)
      .toSorted((a, b) => byText(a.path ?? '', b.path ?? ''))
      .map(({ content }) => mapOf(content))
  const {
    kind: _kind,
    apiVersion: _version,
    ...fields
  } = [...contentsOf('config'), ...contentsOf('drop-in')].reduce(mergePatch, {})
  return { ...fields, ...flagsOf(commandLine) }
}

/** Each flag with its values, including values that are separate words. */
function flagsOf(commandLine: readonly string[]) {
  const flags: Record<string, string> = {}
  let name = ''
  for (const word of commandLine) {
    if (word.startsWith('--')) name = word.split('=', 1)[0] ?? word
    if (name !== '') flags[name] = `${flags[name] ?? ''} ${word}`
  }
  return flags
}

/** Settings that do not run as expected. @param running configuration of the same node */
export function unmetSettings(
  expected: readonly ExpectedSetting[],
  { node }: NodeInput,
  running: RawObject,
): ExpectedSetting[] {
  const { kubeletVersion } = nodeIdentity(node)
  const meaning = (field: string, value: unknown) => meaningOf(field, value, kubeletVersion)
  return expected.filter(
    ({ field, value }) => meaning(field, value) !== meaning(field, valueAt(running, field)),
  )
}

const shownFields = 6

/**
 * Doubts if fields that the step leaves alone are not as they were, or cannot be compared. Files lack the kubelet's
 * defaults, so the running configuration is compared only with the running configuration.
 */
export function* otherDoubts(
  { others = {}, othersOn, expect }: OtherSettings & Pick<PlanStep, 'expect'>,
  fresh: NodeInput,
): Iterable<Doubt> {
  const { others: found, othersOn: foundOn } = otherSettings(fresh, expect)
  if (!found) return
  if (othersOn !== foundOn) {
    const [planned, read] = [othersOn, foundOn].map(on => (on === 'disk' ? 'files' : 'configz'))
    const why = `the plan was made from its ${planned}, and this reading has only its ${read}: whether other settings changed is unknown. Read the node in the plan's mode`
    return yield notYetDoubt(why)
  }
  const changed = [...new Set([...Object.keys(others), ...Object.keys(found)])]
    .filter(field => others[field] !== found[field])
    .toSorted()
  if (changed.length === 0) return
  const names = changed.map(field => field.slice(0, 60))
  yield wrongDoubt(
    `its configuration differs in what the plan leaves alone: ${firstNames(names, shownFields)}`,
  )
}
