/** Lab nodes that really change: each document is sent by the real SDK, and what comes of it is read from the kubelet, through the API server. */
import { describe, expect, it, vi } from 'vitest'
import {
  type RemediationOptions,
  remediationNodes,
  remediationScenario,
} from '#lab/scenarios/remediation.ts'
import { askIn, get } from '#lab/test/support.ts'
import { labOf } from '#test/lab-audit.ts'
import { mainFileOf, send, sha256 } from '#test/lab-changes.ts'
import { WatchedNode } from '#test/watched-node.ts'

const nodes = new Map(remediationNodes().map(node => [node.key, node]))
const patience = { timeout: 50_000, interval: 50 }
const long = { timeout: 60_000 }

async function watched(key: string, options: RemediationOptions = {}): Promise<WatchedNode> {
  const lab = await labOf([remediationScenario({ nodes: 10, ...options })])
  return new WatchedNode(lab, nodes.get(key)!, askIn(lab))
}

describe.each([...Object.keys(mainFileOf), 'bottlerocket'])('a node of %s', family => {
  it(
    'runs with what its kubelet found when it was started anew, and with what was there after a rollback',
    long,
    async () => {
      const node = await watched(`shop/${family}/0`)
      const first = await node.configz()
      expect(first).toMatchObject({
        imageGCHighThresholdPercent: 85,
        imageGCLowThresholdPercent: 80,
      })
      const before = await node.ready()
      const change = await node.change()
      expect(await node.send(change, { Action: 'check' })).toMatchObject({ outcome: 'ready' })
      expect(await node.thresholds()).toEqual([85, 80])
      expect(await node.send(change)).toMatchObject({
        outcome: 'applied',
        newSha256: change.parameters.NewSha256,
      })
      const other = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
      expect(await node.configz()).toEqual(Object.assign({}, first, other))
      await vi.waitFor(
        async () =>
          expect(await node.ready()).toMatchObject({ status: 'True', reason: 'KubeletReady' }),
        patience,
      )
      expect((await node.ready())?.lastTransitionTime).not.toEqual(before?.lastTransitionTime)
      // A second command of the same run does nothing anew.
      expect(await node.send(change)).toMatchObject({ outcome: 'unchanged' })
      expect(await node.send(change, { Action: 'rollback' })).toMatchObject({ outcome: 'restored' })
      // Also where apiclient only sets.
      expect(await node.configz()).toEqual(first)
    },
  )

  it('puts back byte for byte what no kubelet takes', long, async () => {
    const node = await watched(`shop/${family}/0`)
    const change = await node.change(50, 70)
    const main = mainFileOf[family]
    const before = main === undefined ? null : node.file(main)
    const answer = await node.send(change)
    if (main === undefined) {
      // What the kubelet makes of it cannot be seen from the agent's container: whoever sent it has to look.
      expect(answer).toMatchObject({ outcome: 'applied' })
      expect(await node.thresholds()).toBe(503)
      return
    }
    expect(answer).toMatchObject({
      outcome: 'restored',
      reason: expect.stringMatching(/does not stay|not well in time/),
      kubelet: { active: true },
    })
    expect(node.file(main)).toBe(before)
    if (change.path !== main) expect(node.file(change.path ?? '')).toBeNull()
    expect(await node.thresholds()).toEqual([85, 80])
  })
})

describe('a node that was changed', () => {
  it(
    'shows it at the port of its kubelet, too, which is closed while that is down',
    long,
    async () => {
      const node = await watched('shop/al2/0', { nodes: 2, kubelets: true })
      const { address, port } = await portOf(node)
      const asked = async () => {
        const { ca, bearer } = await askIn(node.lab).of('shop')
        return get({ endpoint: `https://${address}:${port}`, ca }, '/configz', bearer)
      }
      expect(await node.send(await node.change())).toMatchObject({ outcome: 'applied' })
      expect((await asked()).json).toMatchObject({
        kubeletconfig: { imageGCHighThresholdPercent: 70 },
      })
      const off = await watched('shop/al2/0', {
        nodes: 2,
        kubelets: true,
        faults: { 'shop/al2/0': { change: { kind: 'never-up' } } },
      })
      expect(await off.send(await off.change())).toMatchObject({ outcome: 'broken' })
      const there = await portOf(off)
      const { ca, bearer } = await askIn(off.lab).of('shop')
      await expect(
        get({ endpoint: `https://${there.address}:${there.port}`, ca }, '/configz', bearer),
      ).rejects.toThrow(/hang up|ECONNRESET/)
    },
  )

  it(
    'takes a file for logrotate, which nothing starts anew, and none that logrotate would not',
    long,
    async () => {
      const node = await watched('shop/al2/0')
      const before = await node.ready()
      const text = '/var/log/app/*.log {\n  daily\n  rotate 5\n  maxsize 100M\n  missingok\n}\n'
      const sync = (content: string, run: string, action = 'apply') =>
        send(node.lab, node.node, 'Highwater-SyncFile', {
          Action: action,
          Run: run,
          OldSha256: 'absent',
          NewSha256: sha256(content),
          Content: Buffer.from(content).toString('base64'),
          Name: 'app',
        })
      expect(await sync(text.replace('daily', 'dayly'), 'run-with-a-slip')).toMatchObject({
        outcome: 'refused',
        reason: 'it says what no plan writes: line 2, dayly',
      })
      // One that an older logrotate does not know.
      expect(
        await sync(text.replace('daily', 'dateyesterday'), 'run-with-a-word-too-new'),
      ).toMatchObject({
        outcome: 'failed',
        reason: expect.stringMatching(/unknown option 'dateyesterday'/),
      })
      expect(await sync(text, 'run-of-a-test')).toMatchObject({ outcome: 'applied' })
      expect(node.file('/etc/logrotate.d/app')).toBe(text)
      expect(await sync(text, 'run-of-a-test', 'rollback')).toMatchObject({ outcome: 'restored' })
      expect(node.file('/etc/logrotate.d/app')).toBeNull()
      expect(await node.ready()).toEqual(before)
    },
  )

  it('leaves its pods out of their budget until they have been probed again', long, async () => {
    const node = await watched('shop/al2/0', { hasTightBudget: true })
    const budgets = async () => {
      const { json } = await node.ask('/apis/policy/v1/poddisruptionbudgets')
      return (
        json as { items: { metadata: { name: string }; status: Record<string, number> }[] }
      ).items.map(({ metadata, status }) => ({ name: metadata.name, ...status }))
    }
    const calm = await budgets()
    expect(calm).toMatchObject([
      { name: 'storefront', currentHealthy: 5, disruptionsAllowed: 3, expectedPods: 5 },
      { name: 'ledger', disruptionsAllowed: 0 },
    ])
    expect(await node.send(await node.change())).toMatchObject({ outcome: 'applied' })
    await vi.waitFor(async () => expect(await budgets()).toEqual(calm), patience)
    const probed = (await node.pods()).filter(({ metadata }) => metadata?.namespace === 'store')
    const startedAt = Date.parse((await node.ready())?.lastTransitionTime ?? '')
    for (const { status } of probed)
      expect(
        Date.parse(
          status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '',
        ),
      ).toBeGreaterThan(startedAt - 1)
  })
})

async function portOf(node: WatchedNode) {
  const { status } = await node.object()
  const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
  return { address, port: status?.daemonEndpoints?.kubeletEndpoint?.Port }
}
