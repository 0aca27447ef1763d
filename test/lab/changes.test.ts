/** Lab nodes that really change: each document is sent by the real SDK, and what comes of it is read from the kubelet, through the API server. */
import { describe, expect, it, vi } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import {
  type RemediationNode,
  type RemediationOptions,
  remediationNodes,
  remediationScenario,
  successorOf,
} from '#lab/scenarios/remediation.ts'
import type { KubernetesNode, KubernetesPod } from '#model/kubernetes.ts'
import { labOf } from '#test/lab-audit.ts'
import { type Change, fileOf, imageGcAt, mainFileOf, send, sha256 } from '#test/lab-changes.ts'
import { describe as describeCluster, get, token } from './support.ts'

const families = ['al2', 'al2023', 'al2023-dropin', 'al2023-plain', 'bottlerocket']
const nodes = new Map(remediationNodes().map(node => [node.key, node]))
const nodeAt = (key: string): RemediationNode => nodes.get(key) ?? successorOf(key)
const patience = { timeout: 50_000, interval: 50 }

class Watched {
  readonly lab: Lab
  readonly node: RemediationNode
  constructor(lab: Lab, node: RemediationNode) {
    this.lab = lab
    this.node = node
  }
  async ask(path: string) {
    const { cluster } = this.node
    return get(await describeCluster(cluster), path, await token(this.lab, cluster))
  }
  async thresholds(): Promise<unknown[] | number> {
    const { status, json } = await this.ask(`/api/v1/nodes/${this.node.name}/proxy/configz`)
    if (status !== 200) return status
    const { kubeletconfig } = json as unknown as { kubeletconfig: Record<string, unknown> }
    return [kubeletconfig.imageGCHighThresholdPercent, kubeletconfig.imageGCLowThresholdPercent]
  }
  async object(): Promise<KubernetesNode> {
    return (await this.ask(`/api/v1/nodes/${this.node.name}`)).json as KubernetesNode
  }
  async ready() {
    return (await this.object()).status?.conditions?.find(({ type }) => type === 'Ready')
  }
  async pods(): Promise<KubernetesPod[]> {
    const { json } = await this.ask(`/api/v1/pods?fieldSelector=spec.nodeName%3D${this.node.name}`)
    return (json as unknown as { items: KubernetesPod[] }).items
  }
  /** The text of the main file, read as the inspection has it: from the node. */
  async change(high = 70, low = 50): Promise<Change> {
    const { nodegroup } = this.node
    const main = mainFileOf[nodegroup]
    if (main === undefined) return imageGcAt(nodegroup, high, low)
    // A first command makes the machine stand; it is refused.
    const probe = imageGcAt(nodegroup, high, low, '{}')
    await this.send({ ...probe, parameters: { ...probe.parameters, OldSha256: sha256('nobody has it'), Run: 'run-that-is-refused' } })
    return imageGcAt(nodegroup, high, low, fileOf(this.lab, this.node, main) ?? '')
  }
  send({ document, parameters }: Change, more: Record<string, string> = {}, timeoutMs?: number) {
    return send(this.lab, this.node, document, { ...parameters, ...more }, timeoutMs === undefined ? {} : { timeoutMs })
  }
}

async function watched(key: string, options: RemediationOptions = {}): Promise<Watched> {
  return new Watched(await labOf([remediationScenario({ nodes: 10, ...options })]), nodeAt(key))
}

describe.each(families)('a node of %s', family => {
  const key = `shop/${family}/0`

  it('serves the new values when its kubelet was started with them, and the old ones after a rollback', { timeout: 60_000 }, async () => {
    const node = await watched(key)
    expect(await node.thresholds()).toEqual([85, 80])
    const before = await node.object()
    const change = await node.change()
    expect(await node.send(change)).toMatchObject({ outcome: 'applied' })
    expect(await node.thresholds()).toEqual([70, 50])
    await vi.waitFor(async () => expect(await node.ready()).toMatchObject({ status: 'True', reason: 'KubeletReady' }), patience)
    expect((await node.ready())?.lastTransitionTime).not.toEqual(
      before.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime,
    )
    // A second command of the same run does nothing anew.
    expect(await node.send(change)).toMatchObject({ outcome: 'unchanged' })
    expect(await node.send(change, { Action: 'rollback' })).toMatchObject({ outcome: 'restored' })
    expect(await node.thresholds()).toEqual(family === 'bottlerocket' ? [70, 50] : [85, 80])
  })
})
