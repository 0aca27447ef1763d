/** Nodes whose numbers and texts are the extremes of what JSON can hold: an audit reports finite values only. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { fleetNode, idleImage, readyPod } from '#test/plan-fleet.ts'

const numbers = [0, -1, 1e308, -1e308, 5e-324, 2 ** 63, -(2 ** 63), 2 ** 53 + 2, 0.1, 1e21]
const texts = [
  ...['', '-1', '1e400', '0x10', `${'9'.repeat(400)}Ki`, '-5%', '1E', '\0', '__proto__'],
  ...['275760-09-13T00:00:00Z', '0001-01-01T00:00:00Z', '2026-02-30T00:00:00Z'],
]
/** Of JSON, as it is written. */
const inherited = '"__proto__":{"imageGCHighThresholdPercent":1,"polluted":1},'

/** Each value is replaced now and then, the same way at each run. */
function lyingParts(): (value: unknown) => unknown {
  let seed = 1
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const lie = (value: unknown): unknown => {
    if (typeof value === 'number') return next(5) < 2 ? numbers[next(numbers.length)] : value
    if (typeof value === 'string') return next(16) === 0 ? texts[next(texts.length)] : value
    if (Array.isArray(value)) return value.map(lie)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, lie(inner)]))
  }
  return lie
}

it('reports no infinite number, no name without a value and nothing inherited', async () => {
  const lie = lyingParts()
  const families = ['AL2023', 'Bottlerocket', 'AL2', 'Ubuntu'] as const
  const nodes = Array.from({ length: 60 }, (_, index) => {
    const { kind, cluster, node, ...parts } = fleetNode({
      ...{ name: `n${index}`, nodegroup: `g${index % 7}`, available: 3 },
      family: families[index % 4] ?? 'AL2023',
      configz: { imageGCHighThresholdPercent: 85 },
      images: Array.from({ length: 8 }, (__, image) => idleImage(`registry/a${image}:1`, 1)),
      pods: Array.from({ length: 6 }, (__, pod) =>
        readyPod(`p${pod}`, 'd', { image: `registry/a${pod}:1` }),
      ),
    })
    const status = lie(node.status)
    const line = JSON.stringify({ kind, cluster, node: { ...node, status }, ...Object(lie(parts)) })
    return line.replaceAll('"kubeletconfig":{', `"kubeletconfig":{${inherited}`)
  })
  const path = join(temporaryFolder(), 'snapshot.ndjson')
  const header = `{"kind":"Snapshot","schema":"highwater.snapshot/1","takenAt":"2026-11-21T00:00:00Z"}`
  writeFileSync(path, [header, ...nodes].join('\n'))
  const { stdout } = await inProcess([
    ...['audit', '--snapshot', path, '--format', 'json', '--out', temporaryFolder()],
  ])
  expect(stdout).toMatch(/"findings": \[\n\{/)
  expect(stdout).not.toMatch(/NaN|Infinity|undefined|\[object|"bytes":null|polluted/)
})
