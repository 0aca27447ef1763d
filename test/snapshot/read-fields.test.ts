/** A record keeps of the statistics of pods only what replay or a rule reads: they are a third of a node's record. */
import { expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { liveFleet } from '#pipeline/audit/fleet.ts'
import { replay } from '#replay/replay.ts'
import { nodeInput } from '#snapshot/input.ts'
import { labOf } from '#test/lab-audit.ts'

const at = '2026-11-21T00:00:00Z'

/** The value, which notes in `read` the paths of all fields that are read. */
function recorded<Value>(value: Value, path: string, read: Set<string>): Value {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key) {
      const inner = Reflect.get(target, key)
      if (typeof key === 'symbol' || (Array.isArray(target) && !/^\d+$/.test(key))) return inner
      const innerPath = Array.isArray(target) ? path : `${path}.${key}`
      read.add(innerPath)
      return recorded(inner, innerPath, read)
    },
  })
}

function pathsIn(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap(item => pathsIn(item, path))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    `${path}.${name}`,
    ...pathsIn(inner, `${path}.${name}`),
  ])
}

it('keeps no statistic of a pod that nothing reads', async () => {
  await labOf([fleet({ nodes: 10, podsPerNode: 20 })])
  const { signal } = new AbortController()
  const source = liveFleet({ policy: defaultPolicy, selection: everything, signal })
  const read = new Set<string>()
  const kept = new Set<string>()
  const judgement = openJudgement(rules, defaultPolicy)
  for await (const record of source) {
    if (record.kind !== 'Node') continue
    const input = nodeInput(record)
    const pods = input.summary?.pods ?? []
    for (const path of pathsIn(pods, 'pods')) kept.add(path)
    const watched = { ...input, summary: { ...input.summary, pods: recorded(pods, 'pods', read) } }
    judgement.take(watched, replay(watched, at))
  }
  judgement.close(at)
  expect(kept.size).toBeGreaterThan(10)
  // What holds the memory is asked only where memory is scarce.
  expect([...kept].filter(path => !read.has(path))).toEqual(['pods.memory.rssBytes'])
})
