/** The order in which nodes are changed: one node of each cohort first, then growing groups. */

/** Facts of a node that decide its place in the order. */
export interface Candidate {
  /** `cluster/node`. */
  key: string
  cohort: string
  isReady: boolean
  hasPressure: boolean
  actsAtOnce: boolean
  singletons: number
  notReadyPods: number
  pods: number
}

/** Sorts the healthiest and least loaded nodes first. */
function byHealth(a: Candidate, b: Candidate): number {
  return (
    Number(b.isReady) - Number(a.isReady) ||
    Number(a.hasPressure) - Number(b.hasPressure) ||
    Number(a.actsAtOnce) - Number(b.actsAtOnce) ||
    a.singletons - b.singletons ||
    a.notReadyPods - b.notReadyPods ||
    a.pods - b.pods ||
    (a.key < b.key ? -1 : 1)
  )
}

/**
 * @param percents share of each cohort that is changed after the second wave, the third, …; the rest comes last
 * @returns no wave is empty
 */
export function wavesOf(candidates: readonly Candidate[], percents: readonly number[]): string[][] {
  const cohorts = [...Map.groupBy(candidates, ({ cohort }) => cohort)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const waves: string[][] = Array.from({ length: percents.length + 2 }, () => [])
  for (const [, members] of cohorts) {
    const keys = members.toSorted(byHealth).map(({ key }) => key)
    const ends = [
      1,
      ...percents.map(percent => Math.ceil((keys.length * percent) / 100)),
      keys.length,
    ]
    let from = 0
    for (const [index, end] of ends.entries()) {
      waves[index]?.push(...keys.slice(from, Math.max(from, end)))
      from = Math.max(from, end)
    }
  }
  return waves.filter(wave => wave.length > 0)
}
