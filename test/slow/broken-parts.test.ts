/** What the functions of a fan-out have left for each other, and nobody can read any more: it costs what it told of, with its name, and never the report. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { labOf } from '#test/lab-audit.ts'
import { fanOutHandlers, invoke, serviceEnvironment } from '#test/lambda.ts'
import { execute, type Functions } from '#test/state-machine.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 120_000 })

const tick = { source: 'highwater.schedule', scheduledTime: '2026-11-21T05:00:00Z' }
const run = '2026-11-21T05-00-00Z'
const policy = `
pace: { requestsPerSecond: 1000 }
fanOut: { aboveNodes: 10, nodesPerShard: 10 }
`

async function world() {
  const storeFolder = temporaryFolder()
  const clusters = [
    fleet({ nodes: 20, cluster: 'fleet-a', podsPerNode: 1 }),
    fleet({ nodes: 4, seed: 'b', cluster: 'fleet-b', podsPerNode: 1 }),
  ]
  await labOf(clusters, { storeFolder })
  Object.assign(process.env, serviceEnvironment)
  mkdirSync(join(storeFolder, 'highwater-lab'), { recursive: true })
  writeFileSync(join(storeFolder, 'highwater-lab', 'highwater.yaml'), policy)
  const inRun = (name: string) => join(storeFolder, 'highwater-lab/runs', run, name)
  const clusterNames = (): string[] =>
    JSON.parse(readFileSync(inRun('fan-out/run.json'), 'utf8')).clusters.map(
      ({ cluster }: { cluster: string }) => cluster,
    )
  const inFleetA = (part: string) =>
    inRun(`fan-out/clusters/${clusterNames().indexOf('fleet-a')}/${part}`)
  return {
    spoil(part: string, spoilt: (file: Buffer) => Buffer): void {
      writeFileSync(inFleetA(part), spoilt(readFileSync(inFleetA(part))))
    },
    write(part: string, text: string): void {
      mkdirSync(dirname(inFleetA(part)), { recursive: true })
      writeFileSync(inFleetA(part), text)
    },
    remove: (part: string) => rmSync(inFleetA(part)),
    snapshot: inRun('snapshot.ndjson.gz'),
    /** @param before what happens to the bucket just before that function is called, of AuditShard that step for `fleet-a` */
    async published(before: {
      function: string
      step?: 'judge'
      act: () => void
    }): Promise<FindingsDocument> {
      await invoke(tick, {
        HIGHWATER_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater',
      })
      let isDone = false
      const functions: Functions = {
        readObject: async (bucket, key) =>
          JSON.parse(readFileSync(join(storeFolder, bucket, key), 'utf8')),
        async invoke(name, event) {
          const { step, cluster = 0 } = event as { step?: string; cluster?: number }
          const isMeant =
            before.step === undefined ||
            (step === before.step && clusterNames()[cluster] === 'fleet-a')
          if (name === before.function && isMeant && !isDone) {
            isDone = true
            before.act()
          }
          return fanOutHandlers[name]!(event)
        },
      }
      expect((await execute({ run }, functions)).output).toEqual({ run, state: 'published' })
      return JSON.parse(readFileSync(inRun('findings.json'), 'utf8'))
    },
  }
}

const halved = (file: Buffer) => file.subarray(0, file.length / 2)
const reasonsOf = ({ notAudited }: FindingsDocument, isWhole: boolean) =>
  notAudited.filter(({ node }) => (node === null) === isWhole).map(({ reason }) => reason)
const coverages = ({ clusters }: FindingsDocument) =>
  clusters.map(({ name, coverage: { nodes, read, notRead } }) => ({ name, nodes, read, notRead }))
const unhurt = { name: 'fleet-b', nodes: 4, read: 4, notRead: 0 }

describe('a part that cannot be read any more', () => {
  it.each([
    ['halved', halved, 'the file breaks off here'],
    ['of other bytes', () => Buffer.from('no gzip at all'), 'it is no JSON'],
    ['empty', () => gzipSync(''), 'it is empty'],
  ])(
    'of a cluster that was lost, its description %s, costs no more than that: its nodes are named',
    async (_, spoilt, said) => {
      const here = await world()
      const document = await here.published({
        function: 'Publish',
        act() {
          here.remove('judged.ndjson.gz')
          here.spoil('cluster.ndjson.gz', spoilt)
        },
      })
      expect(coverages(document)).toEqual([
        { name: 'fleet-a', nodes: 20, read: 0, notRead: 20 },
        unhurt,
      ])
      const file = expect.stringMatching(
        new RegExp(`^cluster: .*fan-out/clusters/\\d/cluster.ndjson.gz is broken: .*${said}`),
      )
      expect(reasonsOf(document, true)).toContainEqual(file)
    },
  )

  it.each([
    ['halved', halved, 'is broken: .*the file breaks off here'],
    ['gone', null, 'is not there'],
  ])(
    'of a cluster that was lost, its list of a shard %s, costs the names in it',
    async (_, spoilt, said) => {
      const here = await world()
      const document = await here.published({
        function: 'Publish',
        act() {
          here.spoil('judged.ndjson.gz', halved)
          if (spoilt === null) here.remove('nodes/1.ndjson.gz')
          else here.spoil('nodes/1.ndjson.gz', spoilt)
        },
      })
      const [hurt, other] = coverages(document)
      expect(other).toEqual(unhurt)
      expect(hurt!.nodes).toBeGreaterThanOrEqual(10)
      expect(hurt).toMatchObject({ nodes: hurt!.notRead, read: 0 })
      expect(hurt!.nodes).toBeLessThan(20)
      const file = new RegExp(
        `^nodes: some that were listed are not known any more: .*fan-out/clusters/\\d/nodes/1.ndjson.gz ${said}`,
      )
      expect(reasonsOf(document, true)).toContainEqual(expect.stringMatching(file))
      expect(reasonsOf(document, false)[0]).toMatchSnapshot()
    },
  )

  it('of a shard that was to be read, its list, costs the shard; the others are read, and nothing is said of nodes that are gone', async () => {
    const here = await world()
    const document = await here.published({
      function: 'AuditShard',
      act: () => here.spoil('nodes/1.ndjson.gz', () => Buffer.from('{')),
    })
    const [hurt, other] = coverages(document)
    expect(other).toEqual(unhurt)
    expect(hurt!.nodes).toBeLessThan(20)
    expect(hurt).toMatchObject({ read: hurt!.nodes, notRead: 0 })
    expect(reasonsOf(document, true)).toEqual([
      expect.stringMatching(
        /^nodes: some that were listed are not known any more: .*nodes\/1.ndjson.gz is broken: line 1/,
      ),
    ])
  })

  it.each([
    ['halved', halved, 'the file breaks off here', 1],
    ['of other bytes', () => Buffer.from('no gzip at all'), 'it is no JSON', 0],
    ['empty', () => gzipSync(''), 'it is empty', 0],
  ])(
    'of a shard that was read, %s, costs what cannot be read of it; the others and the snapshot are whole',
    async (_, spoilt, said, least) => {
      const here = await world()
      const document = await here.published({
        function: 'AuditShard',
        step: 'judge',
        act: () => here.spoil('records/0.ndjson.gz', spoilt),
      })
      const [hurt, other] = coverages(document)
      expect(other).toEqual(unhurt)
      expect(hurt).toMatchObject({ name: 'fleet-a', nodes: 20, read: 20 - hurt!.notRead })
      expect(hurt!.read).toBeGreaterThanOrEqual(10 + least)
      expect(hurt!.notRead).toBeGreaterThan(0)
      expect(reasonsOf(document, true)).toEqual([])
      const reason = new RegExp(
        `what was read of it is not there any more: .*clusters/\\d/records/0.ndjson.gz is broken: .*${said}`,
      )
      expect(reasonsOf(document, false)).toEqual(
        Array.from({ length: hurt!.notRead }, () => expect.stringMatching(reason)),
      )
      const { stdout } = await inProcess([
        'audit',
        '--snapshot',
        here.snapshot,
        '--format',
        'json',
        '--out',
        temporaryFolder(),
      ])
      expect(coverages(JSON.parse(stdout))).toEqual([hurt, other])
    },
  )

  it('that would say why a cluster was lost costs the reason', async () => {
    const here = await world()
    const document = await here.published({
      function: 'Publish',
      act() {
        here.remove('judged.ndjson.gz')
        here.write('lost/cluster.json', '{"reason":"the fun')
      },
    })
    expect(coverages(document)).toEqual([
      { name: 'fleet-a', nodes: 20, read: 0, notRead: 20 },
      unhurt,
    ])
    const reason =
      /did not come to its end at any try: why is not known: .*fan-out\/clusters\/\d\/lost\/cluster.json is broken: /
    expect(reasonsOf(document, false)).toEqual(
      Array.from({ length: 20 }, () => expect.stringMatching(reason)),
    )
  })
})
