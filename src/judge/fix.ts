/** How fixes on one group agree, where they go so that they last, and how to see that they have arrived. */
import { kubeletPath } from '#facts/kubelet/endpoints.ts'
import type { Family, Finding, Fix } from '#model/finding.ts'
import { durableFixes, type Proposal } from './durable/durable.ts'
import { durableTargets } from './durable/index.ts'

type Config = Fix['config']

/** Families whose fixes move image GC to where it is sound; that of an invalid file puts back what the file was meant to say. */
const soundFamilies: readonly Family[] = ['image-gc', 'eviction']

const highOf = ({ imageGCHighThresholdPercent: high }: Config): number => (typeof high === 'number' ? high : Number.POSITIVE_INFINITY)

/**
 * A fix whose image-GC percentages are the lowest of `all`, where it sets them. Rules propose the highest that is sound for a node, so the
 * lowest is sound for every one.
 */
export function withGentlestImageGc(config: Config, all: readonly Config[], family: Family): Config {
  if (!soundFamilies.includes(family) || highOf(config) === Number.POSITIVE_INFINITY) return config
  const lowest = [config, ...all].reduce((a, b) => (highOf(b) < highOf(a) ? b : a))
  const { imageGCHighThresholdPercent, imageGCLowThresholdPercent } = lowest
  return { ...config, imageGCHighThresholdPercent, imageGCLowThresholdPercent }
}

/** One nodegroup has one configuration: findings on it must not propose different image-GC percentages. */
export function agreeOnImageGc(findings: readonly Finding[]): void {
  const sound = findings.filter(({ family }) => soundFamilies.includes(family))
  const groups = Map.groupBy(sound, ({ cluster, subject }) => JSON.stringify([cluster, subject.kind, subject.namespace, subject.name]))
  for (const group of groups.values()) {
    const configs = group.map(({ fix }) => fix.config)
    for (const { fix, family } of group) fix.config = withGentlestImageGc(fix.config, configs, family)
  }
}

/**
 * The finding's fix with its texts for where the nodes came from, and a look at one of them. Call it when fixes have agreed.
 * @param proposals what the finding's rule proposes, those of most nodes first
 */
export function makeLasting({ fix, family, subject, nodes }: Finding, proposals: readonly Proposal[]): void {
  const [main] = proposals
  if (main === undefined || Object.keys(main.config).length === 0) return
  const agreed = proposals.map(({ origin, config }) => ({ origin, config: withGentlestImageGc(config, [fix.config], family) }))
  fix.durable = durableFixes(durableTargets, subject, agreed)
  if (Object.keys(fix.config).length > 0) fix.commands = nodes.sample.filter(isDnsName).slice(0, 1).map(showConfigz)
}

const isDnsName = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name)
const showConfigz = (node: string): string => `kubectl get --raw ${kubeletPath.configz(node)}`
