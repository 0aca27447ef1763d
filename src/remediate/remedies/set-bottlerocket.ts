/** Fields of the kubelet's configuration as settings of Bottlerocket, whose files nobody writes. */
import {
  bottlerocketKeys,
  bottlerocketSettings,
  bottlerocketSince,
  bottlerocketTexts,
  hasBottlerocketRelease,
} from '#facts/eks/bottlerocket-settings.ts'
import { bottlerocketPlace } from '#facts/eks/kubelet-places.ts'
import { isPlannable } from '#facts/kubelet/plannable-fields.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { canonicalJson, sha256 } from '#remediate/canonical.ts'
import { merged } from '#remediate/merge.ts'
import type { NodeToSet, Remedied } from './remedy.ts'

const settingOf = new Map(Object.entries(bottlerocketSettings).map(([setting, [field]]) => [field, setting]))
const plannable = Object.entries(bottlerocketSettings).flatMap(([setting, [field]]) => (isPlannable(field) ? [setting] : []))

/**
 * A map that is set says all there is of it: the kubelet's defaults are gone. So one that nobody set is written whole, as it runs. `apiclient set` adds
 * to what is set, and takes nothing away.
 */
export function setBottlerocket({ host, running }: NodeToSet, patch: RawObject): Remedied {
  const told = isRawObject(host?.bottlerocket) ? host.bottlerocket : null
  const present = isRawObject(told?.kubernetes) ? told.kubernetes : null
  if (present === null) return { refused: "the node's settings were not read (mode ssm or both)", isUnread: true }
  const release = isRawObject(told?.os) && typeof told.os.version_id === 'string' ? told.os.version_id : null
  const settings: RawObject = {}
  for (const [field, value] of Object.entries(patch)) {
    const setting = settingOf.get(field)
    if (setting === undefined) return { refused: `Bottlerocket has no setting for ${field}` }
    if (!hasBottlerocketRelease(setting, release))
      return {
        refused: `${setting} needs Bottlerocket ${bottlerocketSince[setting]} or later, the node runs ${release ?? 'an unknown one'}`,
      }
    const keys = bottlerocketKeys[setting]
    const entries = isRawObject(value) ? Object.entries(value) : []
    const unknown = entries.find(([key]) => keys !== undefined && !keys.includes(key))
    if (unknown !== undefined) return { refused: `Bottlerocket's ${setting} has no key ${unknown[0].slice(0, 60)}` }
    const gone = value === null ? field : entries.find(([, entry]) => entry === null)?.[0]
    if (gone !== undefined) return { refused: `Bottlerocket cannot take ${gone} away: apiclient only sets` }
    const before = present[setting] ?? running[field]
    settings[setting] = isRawObject(value)
      ? merged(isRawObject(before) ? before : {}, value)
      : bottlerocketTexts.has(setting)
        ? String(value)
        : value
  }
  const allowed = allowedOf(present)
  const kubernetes = merged(present, settings)
  return {
    method: 'bottlerocket',
    path: bottlerocketPlace,
    oldSha256: sha256(canonicalJson(allowed)),
    newSha256: sha256(canonicalJson(merged(allowed, settings))),
    content: `${canonicalJson(settings)}\n`,
    lastsUntil: 'replacement',
    host: { ...host, bottlerocket: { ...told, kubernetes } },
  }
}

const allowedOf = (kubernetes: RawObject): RawObject =>
  Object.fromEntries(Object.entries(kubernetes).filter(([setting]) => plannable.includes(setting)))

/** Of the settings that a plan may change, as they are now, hex; null: nobody read them. */
export function settingsSha256(host: RawObject | null): string | null {
  const told = isRawObject(host?.bottlerocket) ? host.bottlerocket.kubernetes : null
  return isRawObject(told) ? sha256(canonicalJson(allowedOf(told))) : null
}
