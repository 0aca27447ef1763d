/** A record keeps of pods and their statistics only what something reads: they are five sixths of a node's record. */
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

const metadata = 'pods.metadata'
const containers = 'pods.spec.containers'
const statuses = 'pods.status.containerStatuses'
/** Read by what this fleet does not need, or by what does not judge a node. */
const readElsewhere = {
  'the replay of the garbage collector': [
    ...['apiVersion', 'uid', 'blockOwnerDeletion'].map(
      name => `${metadata}.ownerReferences.${name}`,
    ),
    `${metadata}.creationTimestamp`,
  ],
  'selectors of PodDisruptionBudgets': ['job-name', 'k8s-app', 'app'].map(
    name => `${metadata}.labels.${name}`,
  ),
  'a drain, and pods that another system disrupts': [
    'pods.status.conditions',
    ...['type', 'status', 'reason', 'lastTransitionTime'].map(
      name => `pods.status.conditions.${name}`,
    ),
  ],
  'crash loops': ['exitCode', 'containerID'].map(name => `${statuses}.state.terminated.${name}`),
  'Guaranteed pods': ['memory', 'cpu'].map(name => `${containers}.resources.limits.${name}`),
  'what holds a full disk': ['', '.name', '.mountPath'].map(
    name => `${containers}.volumeMounts${name}`,
  ),
  'what holds scarce memory': ['stats.memory.rssBytes'],
  'startup probes that a plan makes run again': [`${statuses}.started`],
}

it('keeps no field of a pod or of its statistics that nothing reads', async () => {
  await labOf([fleet({ nodes: 10, podsPerNode: 20 })])
  const { signal } = new AbortController()
  const source = liveFleet({ policy: defaultPolicy, selection: everything, signal })
  const read = new Set<string>()
  const kept = new Set<string>()
  const judgement = openJudgement(rules, defaultPolicy)
  for await (const record of source) {
    if (record.kind !== 'Node') continue
    const { summary, pods } = record
    const parts = { pods, stats: summary?.pods ?? [] }
    for (const [name, part] of Object.entries(parts))
      for (const path of pathsIn(part, name)) kept.add(path)
    const watched = nodeInput({
      ...record,
      pods: recorded(pods, 'pods', read),
      summary: summary && { ...summary, pods: recorded(parts.stats, 'stats', read) },
    })
    judgement.take(watched, replay(watched, at))
  }
  judgement.close(at)
  expect(kept.size).toBeGreaterThan(40)
  const unread = new Set([...kept].filter(path => !read.has(path)))
  expect(unread).toEqual(new Set(Object.values(readElsewhere).flat()))
})
