/** Confidence of a failing, and the source of its settings, from what is known of the node. */
import { featuresOf } from '#facts/kubelet/features.ts'
import type { Evidence } from '#model/finding.ts'
import type { JudgedNode } from './facts-of-nodes.ts'
import type { Need } from './node-subject.ts'
import { type Failing, line, type RuleOfNodes } from './rule.ts'

/** A failing is at most `likely` if it rests on another minor's facts or on an unread running configuration. Rules without needs rest on neither. */
export function asCertainAsFacts(
  { needs }: RuleOfNodes,
  { identity, isConfigurationOnDisk }: JudgedNode,
  failing: Failing,
): Failing {
  const isBorrowed = needs.length > 0 && !featuresOf(identity.kubeletVersion).exact
  // A rule that does not need a configuration may still have used it.
  const isUsed =
    needs.some(need => needsConfiguration[need]) ||
    failing.evidence.some(({ kind }) => kind === 'configz')
  const isOnDisk = isConfigurationOnDisk && isUsed
  const evidence = failing.evidence.map(entry => sourced(entry, isOnDisk))
  if (!isBorrowed && !isOnDisk) return { ...failing, evidence }
  return {
    ...failing,
    evidence,
    confidence: failing.confidence === 'possible' ? 'possible' : 'likely',
  }
}

function sourced(entry: Evidence, isOnDisk: boolean): Evidence {
  if (entry.kind !== 'configz') return entry
  return isOnDisk
    ? line('onDisk', `on disk ${entry.what}`, entry.value)
    : line('configz', `configz ${entry.what}`, entry.value)
}

const needsConfiguration: Readonly<Partial<Record<Need, true>>> = {
  configuration: true,
  imageGC: true,
  eviction: true,
  localStorageEvictions: true,
  allocatable: true,
}
