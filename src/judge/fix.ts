/** Where a fix can go, EKS Auto Mode: nowhere but the disk's size; and how fixes on one group agree. */
import type { Family, Finding, Fix } from '#model/finding.ts'
import type { Failing } from './rule.ts'

/** Only `spec.ephemeralStorage` of the NodeClass is the user's on EKS Auto Mode (aws/containers-roadmap#2876). */
const autoModeSnippet = `# EKS Auto Mode fixes the kubelet's configuration; the disk's size is all that can be changed.
apiVersion: eks.amazonaws.com/v1
kind: NodeClass
spec:
  ephemeralStorage:
    size: # larger than now, for example 160Gi
`

/** No configuration: nothing could apply it. A failing that no configuration ends has no fix here either. */
export const autoModeFix = (failing: Failing): Fix => ({
  config: {},
  durable: failing.fix ? [{ target: 'auto-mode', snippet: autoModeSnippet }] : [],
  commands: [],
})

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
