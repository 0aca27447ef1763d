/** What rules know only from the node itself: open or possible through the API server, certain where the node was asked, too. */
import { describe, expect, it } from 'vitest'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { inNodegroup } from '#lab/nodes/placement.ts'
import { workloadPods } from '#lab/nodes/pod-profile.ts'
import { GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { fixedNodes } from '#lab/scenarios/scenario.ts'
import { scenario } from '#lab/test/support.ts'
import type { ReadMode } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type Answer, inspectDocuments, inspected, kubeletFile } from '#test/inspected.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'

type Confidence = 'certain' | 'likely' | 'possible' | 'unknown' | 'none'

interface Case {
  rule: string
  profile?: Partial<NodeProfile>
  change: (answer: Answer) => Answer
  /** `running`: by SSM alone, where root could read configz on the node. Mode `kubelet` reads what `proxy` reads. */
  found: Record<Exclude<ReadMode, 'kubelet'> | 'running', Confidence>
}

const objectOf = (value: unknown): RawObject => (isRawObject(value) ? value : {})
const withHost = (answer: Answer, host: RawObject): Answer => ({
  ...answer,
  host: { ...answer.host, ...host },
})
const withFlags = (answer: Answer, ...flags: string[]) => {
  const kubelet = objectOf(answer.host.kubelet)
  return withHost(answer, {
    kubelet: { ...kubelet, commandLine: ['/usr/bin/kubelet', `--config=${kubeletFile}`, ...flags] },
  })
}
const configurationOf = (answer: Answer): RawObject => {
  const { files } = objectOf(answer.host.kubelet)
  return objectOf(objectOf(Array.isArray(files) ? files[0] : null).content)
}
const withFile = (answer: Answer, fields: RawObject): Answer => {
  const content = { ...configurationOf(answer), ...fields }
  return withHost(answer, {
    kubelet: {
      ...objectOf(answer.host.kubelet),
      files: [{ path: kubeletFile, role: 'config', content }],
    },
  })
}
const images = ({ runtime }: Answer): RawObject[] =>
  Array.isArray(runtime?.images) ? runtime.images : []
const dead = (index: number) => ({
  id: `dead${index}`,
  metadata: { name: 'crashing', attempt: index },
  state: 'CONTAINER_EXITED',
})
const manyPods = Array.from({ length: 52 }, (_, index) =>
  workloadPods(`many-${index}`)
    .slice(0, 1)
    .map(pod => ({
      ...pod,
      containers: pod.containers.map(container => ({
        ...container,
        image: `registry.example.com/app-${index}:1`,
      })),
    })),
).flat()

const cases: Case[] = [
  {
    rule: 'unpinned-sandbox-image',
    change: answer => ({
      ...answer,
      runtime: {
        ...answer.runtime,
        images: images(answer).map(image => ({ ...image, pinned: false })),
      },
    }),
    found: { proxy: 'unknown', ssm: 'certain', both: 'certain', running: 'certain' },
  },
  {
    rule: 'dead-container-pile',
    change: answer => ({
      ...answer,
      runtime: {
        ...answer.runtime,
        containers: Array.from({ length: 60 }, (_, index) => dead(index)),
      },
    }),
    found: { proxy: 'unknown', ssm: 'certain', both: 'certain', running: 'certain' },
  },
  {
    rule: 'memory-cgroup-leak',
    change: answer =>
      withHost(answer, {
        kernel: {
          release: '4.14.355-275.572.amzn2.x86_64',
          cmdline: 'ro',
          cgroupVersion: 1,
          memoryCgroups: 30_000,
        },
      }),
    found: { proxy: 'none', ssm: 'certain', both: 'certain', running: 'certain' },
  },
  {
    rule: 'container-gc-flags-off-default',
    change: answer => withFlags(answer, '--maximum-dead-containers=0'),
    found: { proxy: 'unknown', ssm: 'certain', both: 'certain', running: 'certain' },
  },
  {
    // There may be images that the Node object does not name.
    rule: 'unreachable-gc-low-threshold',
    profile: { pods: manyPods, nodefs: { capacityBytes: 500 * GiB, usedPercent: 95 } },
    change: answer => answer,
    found: { proxy: 'unknown', ssm: 'likely', both: 'certain', running: 'certain' },
  },
  {
    rule: 'changed-not-restarted',
    change: answer =>
      withFile(answer, { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 }),
    found: { proxy: 'unknown', ssm: 'unknown', both: 'certain', running: 'certain' },
  },
  {
    // The flag stands in the place of what the file says; what runs is the same.
    rule: 'lost-on-the-way',
    change: answer =>
      withFlags(
        withFile(answer, { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 }),
        '--image-gc-high-threshold=85',
        '--image-gc-low-threshold=80',
      ),
    found: { proxy: 'unknown', ssm: 'likely', both: 'certain', running: 'certain' },
  },
]

const groupOf = (index: number) => `group-${index}`

/** By rule, on the node that is made for it. */
async function confidences(
  mode: ReadMode,
  isRunningTold: boolean,
): Promise<Record<string, Confidence>> {
  const nodes = cases.map(({ profile, change }, index) => {
    const ip = `10.8.0.${index + 1}`
    const node = profiledNode({
      ...inNodegroup(groupOf(index), {
        family: 'AL2023',
        version: '1.34.1',
        instanceType: 'm5.large',
        ip,
      }),
      nodefs: { capacityBytes: 100 * GiB, usedPercent: 40 },
      pods: workloadPods(ip),
      ...profile,
    })
    const told = (answer: Answer): Answer => ({
      ...change(answer),
      configz: isRunningTold ? { kubeletconfig: configurationOf(answer) } : null,
    })
    return [node.node('2026-11-21T00:00:00Z').metadata?.name ?? '', inspected(node, told)] as const
  })
  await labOf([scenario([{ nodes: fixedNodes(Object.fromEntries(nodes)) }])], {
    documents: inspectDocuments,
  })
  const timeoutsMs = { ...defaultPolicy.timeoutsMs, inspect: 5000 }
  const { document } = await auditLive({ policy: { timeoutsMs, modes: [{ match: {}, mode }] } })
  return Object.fromEntries(
    cases.map(({ rule }, index) => {
      const isOwn = (entry: { rule: string; subject: { name: string } }) =>
        entry.rule === rule && entry.subject.name === groupOf(index)
      const isOpen = document.unknowns.some(isOwn)
      return [rule, document.findings.find(isOwn)?.confidence ?? (isOpen ? 'unknown' : 'none')]
    }),
  )
}

describe('rules that the node itself makes certain', () => {
  const modes = ['proxy', 'ssm', 'both', 'running'] as const

  it.each(modes)('%s', async mode => {
    const found = await confidences(mode === 'running' ? 'ssm' : mode, mode === 'running')
    expect(found).toEqual(Object.fromEntries(cases.map(({ rule, found }) => [rule, found[mode]])))
  })
})
