import { describe, expect, it } from 'vitest'
import type { ReadDepth } from '#collect/modes.ts'
import { attachedInstancesMax } from '#facts/aws/cluster-resources.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import { everything, type NodeRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { liveFleet } from '#pipeline/audit/fleet.ts'
import { prune } from '#snapshot/prune.ts'
import { labOf } from '#test/lab-audit.ts'

const policy = {
  ...defaultPolicy,
  pace: { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 50 },
}
const ofCluster = (count: number, more: Partial<Scenario> = {}): Scenario =>
  scenario([{ name: 'c', nodes: nodes(count) }], more)

async function nodesRead(depth?: ReadDepth): Promise<NodeRecord[]> {
  const { signal } = new AbortController()
  const options = { policy, selection: everything, signal, ...(depth && { depth }) }
  const records = await Array.fromAsync(liveFleet(options))
  return records.flatMap(record => (record.kind === 'Node' ? [prune(record) as NodeRecord] : []))
}

const volumesRead = async (depth?: ReadDepth) =>
  (await nodesRead(depth)).map(({ volumes }) => volumes)

describe('the EBS volumes of nodes', () => {
  it('are read page by page, with as many instances in one question as a filter takes', {
    timeout: 60_000,
  }, async () => {
    const count = attachedInstancesMax + 1
    // Answers of kubelets would take most of the time.
    const access = { [labPrincipal]: auditorRights.filter(right => right !== 'get nodes/proxy') }
    const cluster = { name: 'c', nodes: nodes(count), access }
    const lab = await labOf([scenario([cluster], { ec2PageSize: 150 })])
    const volumes = await volumesRead()
    expect(volumes).toHaveLength(count)
    expect(new Set(volumes.map(one => one?.[0]?.VolumeId)).size).toBe(count)
    expect(volumes[0]).toEqual([
      {
        VolumeId: expect.stringMatching(/^vol-[0-9a-f]+$/),
        ...{ Size: 20, VolumeType: 'gp3', Iops: 3000, Device: '/dev/xvda' },
      },
    ])
    // Two pages of the first 200 instances, one of the last; and the two lists of unattached volumes.
    expect(lab.requests().routes.ec2).toMatchObject({ DescribeVolumes: 5 })
  })

  it('are not known where EC2 may not be asked, and not read where less is wanted', async () => {
    await labOf([ofCluster(2, { ec2Denied: ['ec2:DescribeVolumes'] })])
    const denied = await nodesRead()
    expect(denied.map(({ volumes }) => volumes)).toEqual([undefined, undefined])
    for (const { errors } of denied)
      expect(errors).toEqual([
        {
          what: 'volumes',
          message: expect.stringContaining('ec2:DescribeVolumes'),
          refusal: 'right',
        },
      ])
    await labOf([ofCluster(2)])
    expect(await volumesRead('summary')).toEqual([undefined, undefined])
  })
})
