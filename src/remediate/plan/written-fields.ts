/** What a step would really write, read from its content: neither its cohort nor its promise is taken at its word. */
import { parse } from 'yaml'
import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import { mapOf } from '#model/config-value.ts'
import type { PlanStep } from '#model/plan.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { leavesOf, valueAt } from '#remediate/merge.ts'

export interface Written {
  /** Fields of the kubelet's configuration, and what else is in it by its own name. */
  fields: RawObject
  /** It is the node's whole file: what it says beside its cohort's fields was there before, if the plan is true. */
  isWhole: boolean
}

/** Null: it cannot be read as what its method writes. */
export function writtenBy({
  method,
  content,
}: Pick<PlanStep, 'method' | 'content'>): Written | null {
  const written = parsed(content)
  if (written === null) return null
  switch (method) {
    case 'kubelet-file':
      return { fields: withoutKind(written), isWhole: true }
    case 'drop-in':
      return { fields: withoutKind(written), isWhole: false }
    case 'nodeadm':
      return { fields: ofNodeConfig(written), isWhole: false }
    case 'bottlerocket':
      return {
        fields: {
          ...ofSettings(written.back),
          ...ofSettings(written.set),
          ...others(written, ['back', 'set']),
        },
        isWhole: false,
      }
    case 'sync-file':
    case 'pull-image':
      return null
  }
}

/** The first of the cohort's leaves that the content does not say so; null: it says all of them. */
export function unwritten(fields: RawObject, { fields: written }: Written): string | null {
  const differs = ([path, value]: [string, unknown]) => {
    const found = valueAt(written, path) ?? null
    // Some settings of Bottlerocket are numbers as text.
    return String(found) !== String(value)
  }
  return leavesOf(fields).find(differs)?.[0] ?? null
}

const withoutKind = (content: RawObject): RawObject => others(content, ['apiVersion', 'kind'])

const others = (content: RawObject, known: readonly string[]): RawObject =>
  Object.fromEntries(Object.entries(content).filter(([key]) => !known.includes(key)))

/** A key beside the way to the kubelet's configuration is a field like any other, outside the named ones. */
function ofNodeConfig(content: RawObject): RawObject {
  const spec = mapOf(content.spec)
  const kubelet = mapOf(spec.kubelet)
  const config = mapOf(kubelet.config)
  return {
    ...config,
    ...others(kubelet, ['config']),
    ...others(spec, ['kubelet']),
    ...others(content, ['apiVersion', 'kind', 'spec']),
  }
}

const ofSettings = (settings: unknown): RawObject =>
  Object.fromEntries(
    Object.entries(mapOf(settings)).map(([setting, value]) => [
      Object.hasOwn(bottlerocketSettings, setting)
        ? (bottlerocketSettings[setting]?.[0] ?? setting)
        : setting,
      value,
    ]),
  )

/** JSON is YAML, too. */
function parsed(content: string): RawObject | null {
  try {
    const found: unknown = parse(content)
    return isRawObject(found) ? found : null
  } catch {
    return null
  }
}
