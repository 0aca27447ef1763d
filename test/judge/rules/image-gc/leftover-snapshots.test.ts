import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { gibibyte } from '#base/units.ts'
import type { Failing } from '#judge/rule.ts'
import { leftoverSnapshots } from '#judge/rules/image-gc/leftover-snapshots.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { replayOf } from '#test/at-the-door.ts'
import { exampleSubject } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(leftoverSnapshots, {
  bad: { held: { 'leftover-snapshots': 10 } },
  good: { held: { 'leftover-snapshots': 9.9, 'not-explained': 30 } },
})

/** A node of 150 GiB that was read by the API alone. */
function nodeWith(images: number[], usedGiB: number, layerGiB: number | null): NodeRecord {
  const disk = {
    capacityBytes: 150 * gibibyte,
    availableBytes: (150 - 9) * gibibyte - usedGiB * gibibyte,
  }
  const rootfs = layerGiB === null ? {} : { usedBytes: layerGiB * gibibyte }
  return {
    kind: 'Node',
    cluster: 'prod',
    node: {
      metadata: { name: 'n' },
      status: { images: images.map((sizeBytes, i) => ({ names: [`a:${i}`], sizeBytes })) },
    },
    configz: { kubeletconfig: { nodeStatusMaxImages: 50 } },
    summary: {
      node: {
        fs: { ...disk, usedBytes: (usedGiB + 9) * gibibyte },
        runtime: { imageFs: { ...disk, usedBytes: usedGiB * gibibyte } },
      },
      pods: [{ podRef: { namespace: 'a', name: 'b' }, containers: [{ name: 'c', rootfs }] }],
    },
  } as unknown as NodeRecord
}

const leak = Array.from({ length: 40 }, () => Math.floor((10.1 * gibibyte) / 40))

function judged(record: NodeRecord, pods: RawObject[] = []) {
  const { ledger } = replayOf(record, '2026-11-21T00:00:00Z')
  const subject = { ...exampleSubject({}), ledger, node: record.node, pods }
  return [...leftoverSnapshots.judge(subject as never, {} as never)]
}

describe('a node read by the API alone', () => {
  it('has at least 78 GiB that 10.1 GiB of images cannot explain', () => {
    const [failing] = judged(nodeWith(leak, 114, 0))
    expect(failing).toMatchObject({ severity: 'high', confidence: 'likely' })
    expect((failing as { consequence: string }).consequence).toContain('At least 78.7 GiB')
  })

  it.each([
    ['containerd://2.1.4', 114, 'At least 78.7 GiB', 'high'],
    ['containerd://2.1.4', 60, 'At least 24.7 GiB', 'low'],
    ['containerd://2.1.4', 77, 'At least 41.7 GiB', 'medium'],
  ])('of %s, %i GiB used: %s, %s', (containerRuntimeVersion, used, least, severity) => {
    const record = nodeWith(leak, used, 0)
    record.node.status = { ...record.node.status, nodeInfo: { containerRuntimeVersion } }
    const [failing] = judged(record)
    expect(failing).toMatchObject({ severity, consequence: expect.stringContaining(least) })
  })

  it.each([
    ['images that unpack to all of it', nodeWith([33 * gibibyte], 114, 0)],
    ['a cut list of images', nodeWith([...leak, ...leak].slice(0, 50), 114, 0)],
    ['writable layers of running containers', nodeWith(leak, 114, 80)],
    ['writable layers that were not measured', nodeWith(leak, 114, null)],
    ['no list of images', nodeWith([], 114, 0)],
    ['a rest below the limit', nodeWith(leak, 40, 0)],
  ])('passes with %s', (_, record) => {
    if (record.node.status?.images?.length === 0) delete record.node.status.images
    expect(judged(record)).toEqual([])
  })

  it.each([
    [114, ['replace-node', 'upgrade-runtime']],
    [65, ['look-on-node']],
  ])('%i GiB used: its steps are %j', (used, ids) => {
    const [failing] = judged(nodeWith(leak, used, 0))
    expect(((failing as Failing).steps ?? []).map(({ id }) => id)).toEqual(ids)
  })

  it.each([
    ['containerd://2.1.4', true],
    ['cri-o://1.31.9', false],
  ])('of %s is judged: %s', (containerRuntimeVersion, isJudged) => {
    const node = { status: { nodeInfo: { containerRuntimeVersion } } }
    expect(leftoverSnapshots.appliesTo({ ...exampleSubject({}), node } as never)).toBe(isJudged)
  })

  it.each([{ terminated: { exitCode: 0 } }, { waiting: { reason: 'ContainerCreating' } }])(
    'is only possible with a container in state %o',
    state => {
      const pod = { status: { containerStatuses: [{ name: 'c', state }] } }
      expect(judged(nodeWith(leak, 114, 0), [pod])).toMatchObject([{ confidence: 'possible' }])
    },
  )
})
