/** Fields of the kubelet's configuration as settings of Bottlerocket, which writes the kubelet's files itself. */

import { isRawObject, mapOf, mergedValue, mergePatch, type RawObject } from '#base/raw-object.ts'
import { linesOf } from '#base/text.ts'
import {
  bottlerocketKeys,
  bottlerocketSettingOf,
  bottlerocketSince,
  bottlerocketTexts,
  hasBottlerocketRelease,
  plannableSettings,
} from '#facts/eks/ami-defaults.ts'
import { bottlerocketPlace } from '#facts/eks/kubelet-places.ts'
import type { Host } from '#model/input/inspection.ts'
import { canonicalJson, sha256 } from '#remediate/plan/canonical.ts'
import type { NodeToSet, Remedied } from './remedy.ts'

/**
 * If a map is set, it replaces all defaults of the kubelet. So an unset map is written whole, as it runs. `apiclient set` adds
 * to the settings and removes nothing. So a rollback of an unset setting sets the value that ran.
 */
export function setBottlerocket({ host, running }: NodeToSet, patch: RawObject): Remedied {
  const present = host?.bottlerocket?.kubernetes
  if (!present) return { refused: "the node's settings were not read", isUnread: true }
  const release = host?.bottlerocket?.os?.version_id ?? null
  const settings: RawObject = {}
  const back: RawObject = {}
  const staysSet: string[] = []
  for (const [field, value] of Object.entries(patch)) {
    const setting = bottlerocketSettingOf.get(field)
    if (setting === undefined) return { refused: `Bottlerocket has no setting for ${field}` }
    if (!hasBottlerocketRelease(setting, release))
      return {
        refused: `${setting} needs Bottlerocket ${bottlerocketSince[setting]} or later, the node runs ${release ?? 'an unknown one'}`,
      }
    const keys = bottlerocketKeys[setting]
    const entries = Object.entries(mapOf(value))
    const unknown = entries.find(([key]) => keys !== undefined && !keys.includes(key))
    if (unknown)
      return { refused: `Bottlerocket's ${setting} has no key ${unknown[0].slice(0, 60)}` }
    const gone = value === null ? field : entries.find(([, entry]) => entry === null)?.[0]
    if (gone !== undefined)
      return { refused: `Bottlerocket cannot take ${gone} away: apiclient only sets` }
    const before = present[setting] ?? running[field]
    settings[setting] = bottlerocketTexts.has(setting) ? String(value) : mergedValue(before, value)
    const was = rollbackValues(setting, settings[setting], present[setting], running[field])
    if (was.back !== undefined) back[setting] = was.back
    staysSet.push(...was.staysSet.map(key => (key === setting ? field : `${field}.${key}`)))
  }
  const allowed = plannableValues(present)
  const kubernetes = mergePatch(present, settings)
  return {
    method: 'bottlerocket',
    path: bottlerocketPlace,
    oldSha256: sha256(canonicalJson(allowed)),
    newSha256: sha256(canonicalJson(mergePatch(allowed, settings))),
    content: `${canonicalJson({ back, set: settings })}\n`,
    lastsUntil: 'replacement',
    backSha256: sha256(
      canonicalJson(mergePatch(mergePatch(mergePatch(allowed, settings), back), allowed)),
    ),
    staysSet,
    ...rollbackNotes(back, staysSet),
    host: { ...host, bottlerocket: { ...host?.bottlerocket, kubernetes } },
  }
}

/** For unset settings: the running values, which a rollback sets, and the keys without a value. */
function rollbackValues(
  setting: string,
  value: unknown,
  before: unknown,
  ran: unknown,
): { back?: unknown; staysSet: string[] } {
  if (isRawObject(value)) {
    const set = mapOf(before)
    const keys = Object.keys(value).filter(key => !Object.hasOwn(set, key))
    const running = mapOf(ran)
    const known = keys.flatMap(key => (isValue(running[key]) ? [[key, running[key]] as const] : []))
    const staysSet = keys.filter(key => !known.some(([name]) => name === key))
    return { ...(known.length > 0 && { back: Object.fromEntries(known) }), staysSet }
  }
  if (before !== undefined) return { staysSet: [] }
  if (!isValue(ran)) return { staysSet: [setting] }
  return { back: bottlerocketTexts.has(setting) ? String(ran) : ran, staysSet: [] }
}

const isValue = (ran: unknown) => ['string', 'number', 'boolean'].includes(typeof ran)

function rollbackNotes(back: RawObject, staysSet: readonly string[]): { says?: string } {
  const settings = Object.keys(back).sort()
  const said = linesOf(
    settings.length > 0 &&
      `Not all of ${settings.join(', ')} were set, and apiclient cannot unset: a rollback sets what ran before, and the kubelet runs as before.`,
    staysSet.length > 0 &&
      `Nothing ran for ${staysSet.toSorted().join(', ')}: a rollback leaves that as it is set.`,
  )
  return said.length > 0 ? { says: said.join(' ') } : {}
}

const plannableValues = (kubernetes: RawObject) =>
  Object.fromEntries(
    Object.entries(kubernetes).filter(([setting]) => plannableSettings.includes(setting)),
  )

/** SHA-256 (hex) of the present settings that a plan may change; null: unread. */
export function settingsSha256(host: Host | null): string | null {
  const settings = host?.bottlerocket?.kubernetes
  return settings ? sha256(canonicalJson(plannableValues(settings))) : null
}
