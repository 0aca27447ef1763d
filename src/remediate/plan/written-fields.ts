/** What a step would really write, read from its content and not from its cohort or its promise. */

import { ForeignTextError, parseYaml, TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import { mapOf } from '#model/input/config-value.ts'
import type { PlanMethod, PlanStep } from '#model/plan/plan.ts'
import { leavesOf, valueAt } from '#remediate/merge.ts'
import { parsedJson } from '#remediate/parsed-json.ts'

export interface Written {
  /** Fields of the kubelet's configuration; other parts of the content under their own names. */
  fields: RawObject
  /** The content is the node's whole file. If the plan is true, fields outside the cohort were there before. */
  isWhole: boolean
}

/** Returns null if the content cannot be read, or its method writes no kubelet field. */
export type ContentReader = (step: Pick<PlanStep, 'method' | 'content'>) => Written | null

/** Reads the contents of one plan: equal contents once, and all of them within one budget. */
export function contentReader(): ContentReader {
  const budget = new TextBudget(textLimits.plan)
  const read = new Map<string, Written | null>()
  return ({ method, content }) => {
    const key = `${method} ${content}`
    const known = read.get(key)
    if (known !== undefined) return known
    const written = writtenBy(method, parsedContent(method, content, budget))
    read.set(key, written)
    return written
  }
}

function writtenBy(method: PlanMethod, written: RawObject | null): Written | null {
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

/** The first of the cohort's fields that the content does not set to its value; null: none. */
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

/** Keys outside the kubelet's configuration count as fields, too, so no list of named fields covers them. */
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

/** A plan writes JSON, but for nodeadm. */
function parsedContent(method: PlanMethod, content: string, budget: TextBudget) {
  try {
    const found = method === 'nodeadm' ? parseYaml(content, budget) : parsedJson(content)
    return isRawObject(found) ? found : null
  } catch (error) {
    if (error instanceof ForeignTextError) return null
    throw error
  }
}
