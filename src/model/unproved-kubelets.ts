/** Kubelet minors whose replay was not compared with upstream's answers. */
const oldestProvedMinor = 29
const newestProvedMinor = 37

/** `1.27`, `1.28`: the unproved minors among the kubelets, sorted. */
export function unprovedMinors(kubeletVersions: readonly (string | null)[]): string[] {
  const minors = new Set(
    kubeletVersions.flatMap(version => Number(/^v?1\.(\d{1,3})\./.exec(version ?? '')?.[1] ?? [])),
  )
  return [...minors]
    .filter(minor => minor > 0 && (minor < oldestProvedMinor || minor > newestProvedMinor))
    .toSorted((a, b) => a - b)
    .map(minor => `1.${minor}`)
}
