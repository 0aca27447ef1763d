import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '#test/cli.ts'
import { fullNodes } from '#test/full-nodes.ts'
import { runCommand } from '#test/in-process.ts'
import { snapshotOf } from '#test/plan-fleet.ts'

const recorded = (name: string) =>
  JSON.parse(readFileSync(new URL(`../fixtures/real/${name}.json`, import.meta.url), 'utf8'))
const at = '2026-11-21T01:22:40Z'

interface Summary {
  node: {
    fs: { availableBytes: number }
    runtime: { imageFs: { availableBytes: number }; containerFs: { availableBytes: number } }
  }
}

/** A recorded node, as full as asked for. */
function node(name: string, availableBytes?: number): object {
  const summary = recorded('single-disk-stats-summary') as Summary
  const { fs, runtime } = summary.node
  if (availableBytes !== undefined)
    for (const filesystem of [fs, runtime.imageFs, runtime.containerFs])
      filesystem.availableBytes = availableBytes
  const object = recorded('single-disk-node')
  object.metadata.name = name
  const { images } = recorded('single-disk-cri-images')
  return {
    kind: 'Node',
    cluster: 'prod',
    at,
    node: object,
    configz: recorded('single-disk-configz'),
    summary,
    pods: recorded('single-disk-pods').items,
    runtime: { images },
  }
}

function snapshot(...lines: (object | string)[]): string {
  const path = join(temporaryFolder(), 'snapshot.ndjson')
  const header = { kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt: at }
  const all = [header, { kind: 'Cluster', cluster: 'prod' }, ...lines]
  writeFileSync(
    path,
    all.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  return path
}

const predict = (file: string, ...args: string[]) =>
  runCommand(['predict', '--snapshot', file, ...args])
async function predictJson(file: string, ...args: string[]) {
  const { code, stdout, stderr } = await predict(file, '--format', 'json', ...args)
  return { code, stderr, document: JSON.parse(stdout) }
}

describe('highwater predict --format json', () => {
  it('prints one document with every node, in the snapshot’s order', async () => {
    const { code, document, stderr } = await predictJson(snapshot(node('b'), node('a')))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(document.schema).toBe('highwater.prediction/1')
    expect(
      document.nodes.map(
        ({ cluster, node: name }: { cluster: string; node: string }) => `${cluster}/${name}`,
      ),
    ).toEqual(['prod/b', 'prod/a'])
    expect(Object.keys(document.nodes[0])).toEqual([
      'cluster',
      'node',
      'kubeletVersion',
      'at',
      'filesystems',
      'imageGC',
      'eviction',
      'containerGC',
      'localStorageEvictions',
      'oomScores',
      'allocatable',
      'nextStart',
      'ledger',
      'unknowns',
    ])
  })

  it('is cut to the nodes that are asked for, and exits with 2 where one is not there', async () => {
    const file = snapshot(node('a'), node('b'))
    expect((await predictJson(file, '--node', 'b')).document.nodes).toMatchObject([{ node: 'b' }])
    const { code, stderr, document } = await predictJson(file, '--node', 'b', '--node', 'c')
    expect({ code, nodes: document.nodes.length }).toEqual({ code: 2, nodes: 1 })
    expect(stderr).toContain('No node is named c')
  })

  it('goes on behind a broken line, and exits with 2: a node may be missing', async () => {
    const file = snapshot(node('a'), '{"kind":"Node"', node('b'))
    const { code, stderr, document } = await predictJson(file)
    expect({ code, nodes: document.nodes.length }).toEqual({ code: 2, nodes: 2 })
    expect(stderr).toContain('line 4')
    expect((await predictJson(file, '--node', 'a')).code).toBe(0)
  })

  it('of a snapshot without a node is an empty document, exit 2', async () => {
    const { code, document } = await predictJson(snapshot())
    expect({ code, document }).toEqual({
      code: 2,
      document: { schema: 'highwater.prediction/1', nodes: [] },
    })
  })

  it('tells image GC and eviction of a full node, and leaves open what cannot be seen', async () => {
    const { document } = await predictJson(snapshot(node('a', 300_000_000)))
    const [{ imageGC, eviction }] = document.nodes
    expect(imageGC).toMatchObject({ triggered: true, usagePercent: 93, bytesToFree: 528_735_488 })
    expect(eviction).toMatchObject({
      conditions: ['DiskPressure'],
      nodeReclaim: ['containers', 'images'],
    })
    expect(eviction.actsOn).toEqual(['nodefs.available', 'containerfs.available'])
    expect(eviction.victims).toEqual([
      { namespace: 'ip-10-99-0-61-ec2-internal', name: 'crashing', certainty: 'possible' },
    ])
    // The unused one, and those of the containers that have ended.
    expect(
      eviction.imageDeletions.map(({ certainty }: { certainty: string }) => certainty),
    ).toEqual(['possible', 'possible', 'possible'])
  })

  describe('--set', () => {
    const set = async (...changes: string[]) =>
      (
        await predictJson(
          snapshot(node('a', 2_000_000_000)),
          ...changes.flatMap(change => ['--set', change]),
        )
      ).document.nodes[0]

    it('replaces a field of the running configuration', async () => {
      const { imageGC, refusals } = await set(
        'imageGCHighThresholdPercent=50',
        'imageGCLowThresholdPercent=40',
      )
      expect(imageGC).toMatchObject({
        highThresholdPercent: 50,
        lowThresholdPercent: 40,
        triggered: true,
      })
      expect(refusals).toEqual([])
    })

    it('replaces one key of a map', async () => {
      const { eviction } = await set('evictionHard.nodefs.available=50%')
      expect(
        eviction.thresholds.map(
          ({ signal, value }: { signal: string; value: string }) => `${signal} ${value}`,
        ),
      ).toEqual(
        expect.arrayContaining([
          'memory.available 100Mi',
          'nodefs.available 50%',
          'nodefs.inodesFree 5%',
        ]),
      )
      expect(eviction.conditions).toEqual(['DiskPressure'])
    })

    it('takes a whole map away, and the defaults do not come back', async () => {
      expect((await set('evictionHard=null')).eviction.thresholds).toEqual([])
    })

    it('says what a kubelet would refuse', async () => {
      expect((await set('imageGCLowThresholdPercent=90')).refusals).toMatchSnapshot()
    })

    it('says what the capacity refuses only if the fields are valid, as the kubelet does', async () => {
      const reserved = 'kubeReserved.memory=900Ti'
      expect((await set(reserved)).refusals).toEqual([expect.stringContaining('reservation')])
      const { refusals } = await set(reserved, 'imageGCLowThresholdPercent=90')
      expect(refusals).toEqual((await set('imageGCLowThresholdPercent=90')).refusals)
    })
  })

  it('says first that the kubelet would exit with its files, and exits with 1', async () => {
    const path = '/etc/kubernetes/kubelet/config.json'
    const content = {
      ...recorded('single-disk-configz').kubeletconfig,
      ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
      imageGCLowThresholdPercent: 90,
    }
    const kubelet = {
      startedAt: '2026-11-01T00:00:00Z',
      commandLine: ['/usr/bin/kubelet', `--config=${path}`],
      files: [{ path, role: 'config', content }],
    }
    const file = snapshot({ ...node('a'), host: { schema: 'highwater.host/1', kubelet } })
    const { code, stdout } = await predict(file)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^prod \/ a: the kubelet would exit at its next start; until then: /)
    expect(stdout).toMatch(/Refused +the kubelet would exit at its next start, with its files:/)
  })

  it('does not know the minor 1.99', async () => {
    const { code, stderr } = await runCommand([
      ...['predict', '--snapshot', snapshot(node('a')), '--kubelet', '1.99'],
    ])
    expect(code).toBe(2)
    expect(stderr).toContain('1.29 to 1.37 are')
  })

  it('tells how a filling disk goes on', async () => {
    const { document } = await predictJson(snapshot(node('a')), '--fill', 'nodefs=10Mi/s')
    const [{ timeline }] = document.nodes
    expect(timeline.map(({ event }: { event: string }) => event)).toEqual(
      expect.arrayContaining(['imageGC', 'condition', 'evict', 'full']),
    )
    expect(timeline[0]).toMatchObject({ event: 'imageGC', atMs: 300_000 })
  })

  it('leaves out timelines that take too many steps, and names their nodes', {
    timeout: 60_000,
  }, async () => {
    const file = snapshotOf(fullNodes(6, 316, 0))
    const { code, stderr, document } = await predictJson(file, '--fill', 'nodefs=50Mi/s')
    const has = document.nodes.map(({ timeline }: { timeline: [] | null }) => timeline !== null)
    const [left, ...others] = has.flatMap((isThere: boolean, index: number) =>
      isThere ? [] : [index],
    )
    expect([left, others]).toEqual([expect.any(Number), []])
    expect(code).toBe(2)
    expect(stderr).toContain(`No timeline of n${left}: the nodes before took too many steps`)
  })

  it('answers for another moment, but for none before the node was read', async () => {
    const file = snapshot(node('a'))
    expect((await predictJson(file, '--at', '2026-11-21T09:00:00Z')).document.nodes[0].at).toBe(
      '2026-11-21T09:00:00Z',
    )
    const { code, stderr } = await predict(file, '--at', '2026-11-21T01:00:00Z')
    expect(code).toBe(2)
    expect(stderr).toContain('lies before 2026-11-21T01:22:40Z')
  })
})

describe('highwater predict', () => {
  it('tells a story that fits a terminal, of a full node', async () => {
    const { code, stdout } = await predict(
      snapshot(node('a', 300_000_000)),
      '--fill',
      'nodefs=10Mi/s',
      '--set',
      'imageGCHighThresholdPercent=90',
    )
    expect(code).toBe(0)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    for (const said of [
      'prod / a',
      'due: it starts at 90, which is above 89 % used',
      'MET  nodefs.available < 10%',
      'reports DiskPressure',
      'may evict ip-10-99-0-61-ec2-internal/crashing',
      '+00:00:00',
    ])
      expect(stdout).toContain(said)
  })

  it('says nothing of names that would move a terminal', async () => {
    const record = node('a') as { node: { metadata: { name: string } } }
    record.node.metadata.name = 'a\u001b[2Jb'
    expect((await predict(snapshot(record))).stdout).not.toContain('\u001b')
  })

  it.each([
    [['--set', 'imageGcHighThresholdPercent=1'], 'did you mean imageGCHighThresholdPercent?'],
    [['--fill', 'rootfs=1Mi/s'], 'A fill is written WHAT=QUANTITY/s'],
    [['--fill', 'nodefs=fast/s'], 'by no positive quantity'],
    [['--at', 'tomorrow'], 'is no time'],
  ])('%j is refused with a sentence, exit 2', async (args, message) => {
    const { code, stdout, stderr } = await predict(snapshot(node('a')), ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('    at ')
  })
})
