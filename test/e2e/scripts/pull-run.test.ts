/** An image on its way from the policy to the node and back: planned, sent through the lab's SSM, done by the very script on a pretend node, verified. */

import '#test/short-waits.ts'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { inNodegroup } from '#lab/nodes/placement.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { instanceIdOf } from '#lab/nodes/random.ts'
import { fixedNodes } from '#lab/scenarios/scenario.ts'
import { enterLab, scenario } from '#lab/test/support.ts'
import type { NodeRecord } from '#model/input/record.ts'
import type { Plan } from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { verifyNode } from '#pipeline/remediation/run/verify.ts'
import { parsePlan } from '#remediate/plan/file.ts'
import { Applier } from '#remediate/run/apply.ts'
import { applyDocuments, contentOf } from '#remediate/scripts/documents.ts'
import { verifyBack } from '#remediate/verify/verify.ts'
import { inputOf } from '#test/at-the-door.ts'
import { ChangedNode } from '#test/changed-node.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { type Platform, platforms } from '#test/node-root.ts'
import { al2023 } from '#test/node-roots.ts'
import { fleetNode, readyPod, snapshotOf } from '#test/plan-fleet.ts'

vi.setConfig({ testTimeout: 120_000 })

const ip = '10.0.0.1'
const instanceId = instanceIdOf(ip)
const image = 'quay.io/platform/agent:1'
const source = `mirror.corp.example:5000/platform/agent@sha256:${'a'.repeat(64)}`
const managed = { 'io.cri-containerd.image': 'managed' }
const pin = { 'io.cri-containerd.pinned': 'pinned' }
const at = '2026-11-21T00:00:00Z'
type Images = Record<string, Record<string, string>>

let lab: Lab | null = null
let applier: Applier | null = null
afterEach(async () => {
  applier?.close()
  await lab?.close()
  applier = lab = null
})

function pretendNode(images: Images) {
  const root = al2023()
  const assetTag = { '/sys/devices/virtual/dmi/id/board_asset_tag': `${instanceId}\n` }
  const node = new ChangedNode(
    'Highwater-PullImage',
    { ...root, files: { ...root.files, ...assetTag } },
    platforms()[0] as Platform,
  )
  node.writeWorld('images.json', JSON.stringify(images))
  node.writeWorld('registry.json', JSON.stringify([source]))
  for (const program of ['ctr', 'crictl'])
    node.tool(
      program,
      `exec ${process.execPath} ${resolve('test/support/pretend/containerd.mjs')} ${node.world()} ${program} "$@"`,
    )
  return { node, images: () => JSON.parse(node.readWorld('images.json')) as Images }
}

/** As the inspection tells it. */
function recordOf(images: Images): NodeRecord {
  const pod = readyPod('web', 'web')
  const state = { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } }
  const status = { ...pod.status, containerStatuses: [{ name: 'app', image, ready: false, state }] }
  const told = Object.entries(images).map(([name, labels], index) => ({
    id: `sha256:${index}`,
    repoTags: [name],
    repoDigests: [],
    size: '1000',
    pinned: 'io.cri-containerd.pinned' in labels,
  }))
  const record = fleetNode({
    name: 'ip-10-0-0-1.eu-west-1.compute.internal',
    pods: [{ ...pod, status }] as NonNullable<NodeRecord['pods']>,
  })
  const spec = { ...record.node.spec, providerID: `aws:///eu-west-1a/${instanceId}` }
  return { ...record, node: { ...record.node, spec }, runtime: { images: told } }
}

async function planned(images: Images): Promise<{ plan: Plan; text: string }> {
  const folder = temporaryFolder()
  const [file, policy] = [join(folder, 'plan.json'), join(folder, 'highwater.yaml')]
  writeFileSync(policy, `requiredImageSources: { '${image}': '${source}' }\n`)
  const args = [
    'plan',
    '--snapshot',
    snapshotOf([recordOf(images)]),
    '--policy',
    policy,
    '--out',
    file,
    '--rule',
    'pull-failing-now',
  ]
  const { code, stdout, stderr } = await inProcess(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return { plan: parsePlan(await readFile(file, 'utf8'), file), text: stdout }
}

describe('an image that a pod waits for', () => {
  it.each<[string, Images]>([
    ['missing', { other: {} }],
    ['there, and not pinned', { [image]: managed }],
  ])('%s: is pulled by the plan, verified and taken back', async (_, before) => {
    const { plan, text } = await planned(before)
    expect(text.replace(/\s+/g, ' ')).toContain(`${image}, pinned; from ${source} if missing`)
    const [step] = plan.steps
    if (step === undefined) throw new Error('no step')
    const { node, images } = pretendNode(before)
    const profiled = profiledNode({
      ...inNodegroup('workers', {
        family: 'AL2023',
        version: '1.34.1',
        instanceType: 'm5.large',
        ip,
      }),
      nodefs: { capacityBytes: 2 ** 30, usedPercent: 10 },
      pods: [],
    })
    const run = async (_: string, environment: Readonly<Record<string, string>>) => {
      const { stdout, stderr, code } = await node.send({}, environment)
      return { stdout, stderr, exitCode: code ?? 1 }
    }
    const documents = applyDocuments.map(document => ({
      name: document.name,
      content: contentOf(document),
    }))
    lab = await enterLab(
      scenario([{ nodes: fixedNodes({ [ip]: { ...profiled, agent: { run } } }) }]),
      { documents },
    )
    const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = lab.environment
    applier = new Applier({
      ...{
        region: 'us-east-1',
        credentials: async () => ({
          accessKeyId: AWS_ACCESS_KEY_ID,
          secretAccessKey: AWS_SECRET_ACCESS_KEY,
        }),
      },
      ...{
        requestsPerSecond: 200,
        run: plan.id,
        timeoutSeconds: 240,
        answerTimeoutMs: 100_000,
        signal: new AbortController().signal,
      },
    })
    const seen = () =>
      verifyNode(step, inputOf(recordOf(images())), defaultPolicy, { at, readyPods: null })

    expect(seen()).toMatchObject({ state: 'not-yet' })
    expect(await applier.send(step, 'apply', () => undefined)).toMatchObject({
      kind: 'answer',
      answer: { outcome: 'applied' },
    })
    expect(images()).toMatchObject({ [image]: { ...managed, ...pin } })
    expect(seen()).toEqual({ state: 'verified' })
    expect(await applier.send(step, 'apply', () => undefined)).toMatchObject({
      kind: 'answer',
      answer: { outcome: 'unchanged' },
    })

    expect(await applier.send(step, 'rollback', () => undefined)).toMatchObject({
      kind: 'answer',
      answer: { outcome: 'restored' },
    })
    expect(images()).toEqual(before)
    expect(verifyBack(step, inputOf(recordOf(images())))).toEqual({ state: 'verified' })
    expect(node.readWorld('calls')).not.toContain('restart')
  })
})
