/** The five settings that `tune` compares, as changes of a node's running configuration. */

import { mapOf, type RawObject } from '#base/raw-object.ts'
import { amiDefaults } from '#facts/eks/ami-defaults.ts'
import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { withLowestImageGc } from '#judge/fixes/agreement.ts'
import { rules } from '#judge/rules/index.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { NodeIdentity } from '#model/input/node-identity.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type { ConfigurationChange } from '#model/plan/what-if.ts'
import type { Policy } from '#model/policy.ts'
import type { TuneSetting } from '#model/tune.ts'

const [high, low] = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const
const stricterBy = 10
const lowestHigh = 20

const tunedRules = rules.flatMap(rule =>
  rule.kind === 'node' && (rule.family === 'image-gc' || rule.family === 'eviction') ? [rule] : [],
)

/** Patch for a whole group: the lowest image-GC percentages, and every threshold that a rule adds or changes on one of its nodes. */
export function openRecommendation(policy: Policy) {
  let patch: RawObject = {}
  return {
    take(subject: NodeSubject): void {
      for (const rule of tunedRules) {
        const outcome = outcomeOf(rule, subject, policy)
        const config = outcome.state === 'fail' ? (outcome.failing.fix?.config ?? {}) : {}
        if (config[high] !== undefined) patch = { ...patch, ...lowestOf(patch, config) }
        const running = mapOf(subject.configuration?.evictionHard)
        const news = Object.entries(mapOf(config.evictionHard)).filter(
          ([signal, value]) => running[signal] !== value,
        )
        if (news.length > 0)
          patch = {
            ...patch,
            evictionHard: { ...Object.fromEntries(news), ...mapOf(patch.evictionHard) },
          }
      }
    },
    patch: (): RawObject => patch,
  }
}

function lowestOf(patch: RawObject, config: RawObject): RawObject {
  const { [high]: start, [low]: stop } = withLowestImageGc(config, [patch])
  return { [high]: start, [low]: stop }
}

/** @param recommended the group's patch */
export function settingsOf(
  { configuration }: NodeInput,
  { amiFamily, kubeletVersion, operatingSystem }: NodeIdentity,
  recommended: RawObject,
): Record<TuneSetting, ConfigurationChange[]> {
  const running = configuration?.fields ?? {}
  const upstream = evictionHardDefaults(kubeletVersion, operatingSystem)
  const defaultsWith = (evictionHard: unknown): ConfigurationChange[] => [
    { path: [high], value: configurationDefaults[high] },
    { path: [low], value: configurationDefaults[low] },
    { path: ['evictionHard'], value: evictionHard },
    ...unset,
  ]
  const start = Number(recommended[high] ?? running[high] ?? configurationDefaults[high])
  const stop = Number(recommended[low] ?? running[low] ?? configurationDefaults[low])
  const earlier = Math.max(lowestHigh, start - stricterBy)
  const stricter = { ...recommended, [high]: earlier, [low]: Math.min(stop, earlier - stricterBy) }
  return {
    today: [],
    vendor: defaultsWith(amiDefaults(amiFamily, kubeletVersion).evictionHard ?? upstream),
    upstream: defaultsWith(upstream),
    recommended: changesBy(recommended),
    stricter: changesBy(stricter),
  }
}

const unset = [
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionMinimumReclaim',
  'imageMaximumGCAge',
].map(field => ({ path: [field], value: undefined }))

/** A key of a map has its own change. */
export const changesBy = (patch: RawObject): ConfigurationChange[] =>
  Object.entries(patch).flatMap(([field, value]) =>
    field === 'evictionHard'
      ? Object.entries(mapOf(value)).map(([key, text]) => ({ path: [field, key], value: text }))
      : [{ path: [field], value }],
  )
