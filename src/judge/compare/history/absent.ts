/**
 * Clusters of earlier runs that are not in this one. A cluster counts as deleted only if this run
 * enumerated the same place as the run that read it last. Otherwise its last known state is kept
 * and not compared.
 */

import { by } from '#base/text.ts'
import type { ComparedRun, Delta } from '#model/delta.ts'
import type { ClusterReading, RememberedRun } from '#model/history.ts'
import type { AbsentCluster } from '#model/report.ts'

/** @param forgetBefore clusters that were read before that day are no longer kept */
export function splitAbsent(
  previous: RememberedRun,
  now: ComparedRun,
  scope: string | null,
  forgetBefore: string,
) {
  const present = new Set(now.document.clusters.map(({ name }) => name))
  const readings = new Map(previous.readings.map(reading => [reading.cluster, reading]))
  const isWhole = !now.document.notAudited.some(({ cause }) => cause === 'clusters')
  const isGone = (cluster: string) =>
    isWhole && scope !== null && readings.get(cluster)?.scope === scope
  const isForgotten = (cluster: string) =>
    (readings.get(cluster)?.on ?? forgetBefore) < forgetBefore
  const known = knownClusters(previous).filter(cluster => !present.has(cluster) && !isGone(cluster))
  const absent = new Set(known.filter(cluster => !isForgotten(cluster)))
  const away = new Set(known)
  return {
    compared: partOf(previous, cluster => !away.has(cluster)),
    /** State of absent clusters that the next run must remember. Null: there is none. */
    absent: absent.size === 0 ? null : partOf(previous, cluster => absent.has(cluster)),
  }
}

const knownClusters = ({ document: { clusters, findings, waived } }: RememberedRun) => [
  ...new Set([
    ...clusters.map(({ name }) => name),
    ...[...findings, ...waived].map(({ cluster }) => cluster),
  ]),
]

/** A document with its entries of some clusters. */
export function documentPart<Document extends ComparedRun['document']>(
  document: Document,
  isOf: (cluster: string) => boolean,
): Document {
  const { clusters, findings, waived, unknowns, notAudited } = document
  return {
    ...document,
    clusters: clusters.filter(({ name }) => isOf(name)),
    findings: inClusters(findings, isOf),
    waived: inClusters(waived, isOf),
    unknowns: inClusters(unknowns, isOf),
    notAudited: inClusters(notAudited, isOf),
  }
}

const inClusters = <T extends { cluster: string }>(
  list: readonly T[],
  isOf: (cluster: string) => boolean,
) => list.filter(({ cluster }) => isOf(cluster))

const partOf = (run: RememberedRun, isOf: (cluster: string) => boolean): RememberedRun => ({
  ...run,
  document: documentPart(run.document, isOf),
  nodes: inClusters(run.nodes, isOf),
  ruleErrors: inClusters(run.ruleErrors, isOf),
  readings: inClusters(run.readings, isOf),
})

/** The state for the next run: this run's clusters, then the earlier state of clusters not in this run. */
export function withAbsent(run: Omit<RememberedRun, 'runId'>, absent: RememberedRun | null) {
  if (!absent) return run
  const { document } = absent
  return {
    ...run,
    document: {
      ...run.document,
      clusters: [...run.document.clusters, ...document.clusters],
      findings: [...run.document.findings, ...document.findings],
      waived: [...run.document.waived, ...document.waived],
      unknowns: [...run.document.unknowns, ...document.unknowns],
      notAudited: [...run.document.notAudited, ...document.notAudited],
    },
    nodes: [...run.nodes, ...absent.nodes],
    ruleErrors: [...run.ruleErrors, ...absent.ruleErrors],
    readings: [
      ...run.readings,
      ...absent.readings.map(reading => ({ ...reading, isCarried: true })),
    ],
  }
}

/** @param scope place that this run enumerated; a cluster missing from the same place is news */
export function absentClusters(
  absent: RememberedRun | null,
  previous: RememberedRun,
  scope: string | null,
): AbsentCluster[] {
  const inLast = new Set(
    previous.readings
      .filter(reading => reading.scope === scope && !reading.isCarried)
      .map(({ cluster }) => cluster),
  )
  return (absent?.document.clusters ?? []).map(({ name }) => ({
    cluster: name,
    severities: absent!.document.findings
      .filter(({ cluster }) => cluster === name)
      .map(({ severity }) => severity),
    isNew: scope !== null && inLast.has(name),
  }))
}

/**
 * If no earlier run has read a cluster, the start of its findings is unknown, unless the previous
 * run enumerated the same place.
 */
export function withUnknownStarts(
  delta: Delta,
  now: ComparedRun,
  previous: RememberedRun,
  scope: string | null,
): Delta {
  const known = new Set(knownClusters(previous))
  const hadSameScope = scope !== null && previous.readings.some(reading => reading.scope === scope)
  const strange = new Set(
    hadSameScope
      ? []
      : now.document.clusters.map(({ name }) => name).filter(name => !known.has(name)),
  )
  if (strange.size === 0) return delta
  const why = ['its cluster is met for the first time']
  return {
    ...delta,
    findings: delta.findings.map(finding =>
      finding.change === 'new' && strange.has(finding.cluster)
        ? { ...finding, change: 'newlySeen', why }
        : finding,
    ),
  }
}

export const readingsOf = (
  { document }: ComparedRun,
  scope: string | null,
  on: string,
): ClusterReading[] =>
  document.clusters
    .map(({ name: cluster }) => ({ cluster, scope, on, isCarried: false }))
    .toSorted(by(({ cluster }) => cluster))
