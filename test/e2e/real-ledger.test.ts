/** The ledger and the history of real kubelets, beside what `du`, `ctr` and the kubelet itself say. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, statfsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { execPath, stdout as output } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readAnswer, withDiskUse } from '#collect/inspect/answer.ts'
import type { DiskHolder, NodeLedger } from '#model/prediction.ts'
import { deployedDocuments } from '#pipeline/access/member-template.ts'
import { replayOf } from '#test/at-the-door.ts'
import { scriptNamed } from '#test/node-root.ts'
import {
  isLabPresent,
  kubectl,
  labRoot,
  minute,
  removeNode,
  run,
  script,
  startNode,
  startPod,
} from '#test/real-kubelet/real-lab.ts'

const isPresent = isLabPresent()
const overlay = `evictionHard: {memory.available: 10Mi, nodefs.available: 10%}
evictionPressureTransitionPeriod: 20s
imageGCHighThresholdPercent: 95
imageGCLowThresholdPercent: 90
`

describe.skipIf(!isPresent)('the ledger of a real kubelet', () => {
  const node = 'n10'
  const pods = ['ledger-volume', 'ledger-layer', 'ledger-log'] as const
  const disk = join(labRoot, 'nodes', node, 'disk')
  const du = async (folder: string) =>
    1024 * Number.parseInt((await run('du', ['-xsk', join(disk, folder)])).stdout, 10)
  afterAll(() => removeNode(node, ...pods), minute)

  it(
    'differs from du and ctr by less than 1 % of the disk in each line',
    async () => {
      await startNode(node, overlay)
      const [volume, layer, log] = pods
      await startPod(node, volume, ['disk', '/data/x', '150Mi'])
      await startPod(node, layer, ['disk', '/x', '60Mi'])
      await startPod(node, log, ['log', '20Mi'])
      await sleep(15_000)
      const ledger = await ledgerOf(node)
      const kubelet = await du('kubelet')
      const podVolumes = await du('kubelet/pods')
      const measured = {
        'pod-volumes': podVolumes,
        kubelet: kubelet - podVolumes,
        'container-logs': await du('pod-logs'),
        'image-content': await du('containerd/io.containerd.content.v1.content'),
        'other-runtime': await du('containerd/io.containerd.metadata.v1.bolt'),
        ...(await byContainerd(node)),
      }
      const { blocks, bfree, bavail, bsize } = statfsSync(disk)
      const [whole] = ledger.filesystems
      const capacityBytes = blocks * bsize
      const bytesOf = (...holders: DiskHolder[]) =>
        (whole?.lines ?? [])
          .filter(({ holder }) => holders.includes(holder))
          .reduce((sum, { bytes }) => sum + bytes, 0)
      const lines: Record<string, [measured: number, ledger: number]> = {
        used: [capacityBytes - bavail * bsize, whole?.usedBytes ?? 0],
        'reserved-blocks': [(bfree - bavail) * bsize, bytesOf('reserved-blocks')],
        'not-explained': [0, bytesOf('not-explained', 'unread')],
        images: [
          measured.images,
          bytesOf('images', 'images-in-use', 'images-unused', 'images-pinned'),
        ],
        'writable-layers': [
          measured.layers,
          bytesOf('writable-layers', 'dead-containers', 'leftover-snapshots'),
        ],
      }
      for (const holder of [
        'pod-volumes',
        'kubelet',
        'container-logs',
        'image-content',
        'other-runtime',
      ] as const)
        lines[holder] = [measured[holder], bytesOf(holder)]
      const percents = Object.entries(lines).map(
        ([line, [real, ours]]) =>
          [line, (100 * Math.abs(real - ours)) / capacityBytes, real, ours] as const,
      )
      for (const [line, percent, real, ours] of percents)
        output.write(`${line}: ${real} ${ours} ${percent.toFixed(3)} %\n`)
      expect(percents.filter(([, percent]) => percent >= 1)).toEqual([])
      // The pods wrote that much: no line is small because nothing is there.
      for (const holder of ['pod-volumes', 'container-logs', 'writable-layers'] as const)
        expect(lines[holder]?.[1]).toBeGreaterThan(0.01 * capacityBytes)
    },
    4 * minute,
  )
})

describe.skipIf(!isPresent)('holders made by hand on a real kubelet', () => {
  const node = 'n12'
  const [layer, log, open] = ['holder-layer', 'holder-log', 'holder-open'] as const
  const disk = join(labRoot, 'nodes', node, 'disk')
  const store = mkdtempSync(join(tmpdir(), 'highwater-'))
  const folder = join(disk, 'openebs/local')
  // One log stays one file.
  const settings = `${overlay}containerLogMaxSize: 200Mi\n`
  const du = async (path: string) =>
    1024 * Number.parseInt((await run('du', ['-xsk', path])).stdout, 10)
  const writeMiB = async (file: string, mib: number) => {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, randomBytes(mib * 2 ** 20), { flush: true })
  }
  /** The folder that a snapshot writes to. */
  const folderOf = async (key: string) => {
    const { stdout } = await ctr(node, 'snapshots', 'mounts', '/nowhere', key)
    return /upperdir=([^,\s]+)/.exec(stdout)?.[1] ?? /-t bind (\S+)/.exec(stdout)?.[1] ?? ''
  }
  const ofContainer = (name: string) => ({
    ...{ kind: 'container', namespace: 'default', pod: name, container: name, workload: null },
  })
  const deletePod = (name: string) => kubectl('delete', 'pod', name, '--now')
  const available = () => {
    const { bavail, bsize } = statfsSync(disk)
    return bavail * bsize
  }
  /** The largest first: each holds the disk once those before it are gone. */
  let made: {
    holder: DiskHolder
    bytes: number
    owner: object | null
    place: string | null
    steps: string[]
    /** In the mail. */
    told: string[]
    /** What the step says, if its shown command cannot do it here, or is for a person to judge. */
    remove?: () => Promise<unknown>
  }[]

  beforeAll(async () => {
    await startNode(node, settings)
    await startPod(node, layer, ['disk', '/x', '130Mi'])
    await startPod(node, log, ['log', '80Mi'])
    const openBytes = await startWithOpenFile(node, open, 140)
    await ctr(node, 'snapshots', 'prepare', 'leaked', '')
    const leaked = await folderOf('leaked')
    await writeMiB(join(leaked, 'data'), 170)
    await writeMiB(join(folder, 'pvc-1/data'), 200)
    // containerd and the kubelet measure layers and logs from time to time.
    await sleep(30_000)
    const fields = '{.status.containerStatuses[0].containerID}'
    const { stdout: id } = await kubectl('get', 'pod', layer, '-o', `jsonpath=${fields}`)
    const logs = (await readdir(join(disk, 'pod-logs'))).find(name => name.includes(log)) ?? ''
    made = [
      {
        holder: 'unknown-folder',
        bytes: await du(folder),
        owner: null,
        place: folder,
        steps: ['delete-place'],
        told: ['folders outside pods and images', `look into ${folder}`],
        remove: () => rm(dirname(folder), { recursive: true }),
      },
      {
        holder: 'leftover-snapshots',
        bytes: await du(leaked),
        owner: null,
        place: join(disk, 'containerd'),
        steps: ['replace-node', 'upgrade-runtime'],
        told: ['leftover snapshots of containerd', 'replace the node'],
        remove: () => ctr(node, 'snapshots', 'rm', 'leaked'),
      },
      {
        holder: 'deleted-open-files',
        bytes: openBytes,
        owner: { kind: 'process', command: 'sh', namespace: 'default', pod: open },
        place: null,
        steps: ['end-pod'],
        told: ['deleted files that are still open', `delete Pod default/${open}`],
      },
      {
        holder: 'writable-layers',
        bytes: await du(await folderOf(id.replace('containerd://', ''))),
        owner: ofContainer(layer),
        place: null,
        // No pod of the disk could request what it holds.
        steps: ['move-to-volume'],
        told: [
          'writable layers of containers',
          `have Pod default/${layer}, container ${layer} write`,
        ],
        remove: () => deletePod(layer),
      },
      {
        holder: 'container-logs',
        bytes: await du(join(disk, 'pod-logs', logs, log)),
        owner: ofContainer(log),
        place: null,
        steps: ['end-pod', 'set-fields'],
        told: ['container logs', `delete Pod default/${log}`],
      },
    ]
  }, 4 * minute)
  afterAll(() => removeNode(node, layer, log, open), minute)

  it(
    'have the right owner and place, within 1 % of du',
    async () => {
      const { parts } = await ledgerOf(node)
      for (const { holder, bytes, owner, place } of made) {
        const part = parts.find(one => one.holder === holder)
        output.write(
          `${holder}: ${bytes} ${part?.lowBytes} ${JSON.stringify(part?.owner)} ${part?.place}\n`,
        )
        expect(part).toMatchObject({ holder, ...(owner === null ? { owner } : {}) })
        if (owner !== null) expect(part?.owner).toMatchObject(owner)
        if (place !== null) expect(part?.place).toContain(place)
        expect(Math.abs((part?.lowBytes ?? 0) - bytes) / bytes).toBeLessThan(0.01)
      }
    },
    2 * minute,
  )

  it(
    'are causes of an audit by SSM and its mail, and end by the step that is shown',
    async () => {
      await createDocuments()
      const gone: DiskHolder[] = []
      for (const { holder, bytes, owner, place, steps, told, remove } of made) {
        // The kubelet measures the disk from time to time.
        await sleep(15_000)
        const { causes, mail } = await auditOf(node, join(store, holder))
        const found = causes.find(({ rule }) => rule === 'disk-nearly-full')
        expect(found?.cause).toMatchObject({ holder, ...(owner === null ? { owner } : {}) })
        if (owner !== null) expect(found?.cause.owner).toMatchObject(owner)
        if (place !== null) expect(found?.cause.place).toContain(place)
        const low = found?.cause.amount?.low ?? 0
        output.write(`${holder}: du ${bytes}, cause ${low}\n`)
        expect(Math.abs(low - bytes) / bytes).toBeLessThan(0.01)
        // Those of the second holder stand behind.
        const ids = found?.steps.map(({ action }) => action.id) ?? []
        expect(ids.slice(0, steps.length)).toEqual(steps)
        for (const text of told) expect(mail).toContain(text)
        expect(holdersOf(causes).filter(one => gone.includes(one))).toEqual([])
        const before = available()
        const shown = found?.steps[0]?.commands ?? []
        expect(shown.length).toBeGreaterThan(0)
        const results = await Promise.all(shown.map(one => runShown(node, one)))
        for (const [index, { command, effect }] of shown.entries())
          output.write(`${holder}: ${command} (${effect}): ${results[index]}\n`)
        // Who only reads, or has no group of instances, leaves the rest to a person.
        expect(shown.some(({ effect }) => effect === 'changes')).toBe(remove === undefined)
        await remove?.()
        await expect
          .poll(available, { timeout: minute, interval: 1000 })
          .toBeGreaterThan(before + 0.9 * bytes)
        gone.push(holder)
      }
      const { causes } = await auditOf(node, join(store, 'end'))
      expect(holdersOf(causes).filter(one => gone.includes(one))).toEqual([])
    },
    8 * minute,
  )
})

/** A pod whose shell, the machine's, alone holds a deleted file open. @returns the bytes of the file on the disk */
async function startWithOpenFile(node: string, name: string, mib: number): Promise<number> {
  const image = '127.0.0.1:15000/workload:v1'
  const writes = `exec 3>/data/gone; head -c ${mib}M /dev/urandom >&3; sync /data/gone`
  const command = `PATH=/host/bin; ${writes}; stat -c %b /data/gone; rm /data/gone; while :; do sleep 5 3>&-; done`
  const fromHost = { host: '/usr', lib: '/usr/lib', lib64: '/usr/lib64' }
  const names = Object.keys(fromHost)
  const volumeMounts = ['data', ...names].map(mount => ({ name: mount, mountPath: `/${mount}` }))
  const spec = {
    nodeName: node,
    containers: [{ name, image, command: ['/host/bin/sh', '-c', command], volumeMounts }],
    volumes: [
      { name: 'data', emptyDir: {} },
      ...Object.entries(fromHost).map(([volume, path]) => ({ name: volume, hostPath: { path } })),
    ],
    terminationGracePeriodSeconds: 5,
  }
  await kubectl('run', name, `--image=${image}`, `--overrides=${JSON.stringify({ spec })}`)
  const read = async () => Number(/^\d+$/m.exec((await kubectl('logs', name)).stdout)![0])
  return 512 * (await vi.waitFor(read, { timeout: minute, interval: 1000 }))
}

/** The documents of this build, in the lab's account. */
async function createDocuments(): Promise<void> {
  const program = `import { CreateDocumentCommand, DeleteDocumentCommand, SSMClient } from '@aws-sdk/client-ssm'
import { json } from 'node:stream/consumers'
const ssm = new SSMClient({})
for (const { name: Name, content: Content } of await json(process.stdin)) {
  await ssm.send(new DeleteDocumentCommand({ Name })).catch(() => {})
  await ssm.send(new CreateDocumentCommand({ Name, Content, DocumentType: 'Command', DocumentFormat: 'JSON' }))
}`
  const args = [execPath, '--input-type=module', '-e', program]
  await script('in', args, JSON.stringify(deployedDocuments()))
}

interface FoundCause {
  rule: string
  cause: { holder?: DiskHolder; owner?: object; place?: string; amount?: { low: number } }
  steps: { action: { id: string }; commands: { command: string; effect: string }[] }[]
}

const holdersOf = (causes: FoundCause[]) => causes.flatMap(({ cause }) => cause.holder ?? [])

/** Runs a shown command. A session of Systems Manager runs on the node as a command of it. @returns its first line, or why it cannot run here */
async function runShown(node: string, { command }: { command: string }): Promise<string> {
  if (command.includes('terminate-instance')) return 'not run: the lab has no Auto Scaling group'
  const [, parameters] = /--parameters '(.+)'$/.exec(command) ?? []
  const { stdout } =
    parameters === undefined
      ? await script('in', ['sh', '-c', command.replace(/ --context \S+/, '')])
      : await script(
          'ssm-exec.sh',
          [instanceOf(node)],
          asRootOf(node, JSON.parse(parameters.replaceAll("'\\''", "'")).command[0]),
        )
  expect(stdout.trim()).not.toBe('')
  return stdout.trim().split('\n')[0] ?? ''
}

/** The lab has no ssm-user: it runs everything as root, and without sudo. Its nodes have a containerd each. */
const asRootOf = (node: string, command: string) =>
  command
    .replaceAll('sudo ', '')
    .replaceAll('/run/containerd/', `${join(labRoot, 'nodes', node, 'state')}/`)

const instanceOf = (node: string) => `i-${Number(node.slice(1)).toString(16).padStart(17, '0')}`

/** What a person reads of an audit in mode both, on a disk that is as small as its use: the holders made by hand would fill no real disk. */
async function auditOf(node: string, out: string): Promise<{ causes: FoundCause[]; mail: string }> {
  const audit = (...args: string[]) =>
    // Its exit code says what it found.
    script('in', [execPath, resolve('bin/highwater.mjs'), 'audit', ...args, '--out', out]).catch(
      ({ code }) => expect(code).toBe(3),
    )
  await audit('--cluster', 'c1', '--node', node, '--mode', 'both')
  const whole = gunzipSync(await readFile(join(out, 'snapshot.ndjson.gz'))).toString()
  const small = `${out}.ndjson`
  await writeFile(small, whole.trimEnd().split('\n').map(onSmallDisk).join('\n'))
  await audit('--snapshot', small)
  const { causes } = JSON.parse(await readFile(join(out, 'findings.json'), 'utf8'))
  const mail = (await readFile(join(out, 'email.txt'), 'utf8')).replace(/\s+/g, ' ')
  return { causes, mail }
}

/** Share of the small disk that is used: image GC and eviction are near. */
const smallUsed = 0.88

interface SizedDisk {
  capacityBytes: number
  availableBytes: number
}

/** A record of a snapshot, with a disk that is used to this share. Everything else is as it was read. */
function onSmallDisk(line: string): string {
  const record = JSON.parse(line)
  if (record.kind !== 'Node') return line
  const { fs, runtime } = record.summary.node
  const { capacityBytes, availableBytes } = fs as SizedDisk
  const less = capacityBytes - Math.ceil((capacityBytes - availableBytes) / smallUsed)
  const disks: SizedDisk[] = [fs, runtime.imageFs, runtime.containerFs, ...record.host.filesystems]
  for (const one of disks) {
    one.capacityBytes -= less
    one.availableBytes -= less
  }
  record.node.status.capacity['ephemeral-storage'] = `${capacityBytes - less}`
  return JSON.stringify(record)
}

/** By the node's own script, and by what its kubelet and its API server say. */
async function ledgerOf(node: string): Promise<NodeLedger> {
  const instance = instanceOf(node)
  const answerOf = async (document: string) => {
    const { stdout } = await script('ssm-exec.sh', [instance], scriptNamed(document))
    const answer = readAnswer(stdout, instance)
    if (!answer.isKnown) throw new Error(answer.reason)
    return answer
  }
  const disks = await answerOf('Highwater-InspectDisks')
  const { host, runtime, at } = withDiskUse(await answerOf('Highwater-Inspect'), disks)
  const read = JSON.parse((await script('lab.py', ['snapshot', node])).stdout)
  const { configz, statsSummary: summary, node: object, pods } = read
  const record = { kind: 'Node', cluster: 'real', at, mode: 'both', errors: [] }
  const { ledger } = replayOf(
    { ...record, ...{ node: object, configz, summary, pods, host, runtime } },
    String(at),
  )
  if (ledger === null) throw new Error('there is no ledger')
  return ledger
}

const ctr = (node: string, ...command: string[]) =>
  run(join(labRoot, 'bin/containerd2/ctr'), [
    ...['-a', join(labRoot, 'nodes', node, 'containerd.sock'), '-n', 'k8s.io'],
    ...command,
  ])

/** Committed snapshots are layers of images; active ones are those of containers. */
async function byContainerd(node: string): Promise<{ images: number; layers: number }> {
  const rows = async (...command: string[]) => {
    const { stdout } = await ctr(node, 'snapshots', ...command)
    return stdout
      .trim()
      .split('\n')
      .slice(1)
      .map(line => line.trim().split(/\s+/))
  }
  const kinds = new Map((await rows('ls')).map(row => [row[0], row.at(-1)]))
  const sizes = { images: 0, layers: 0 }
  for (const [key, bytes] of await rows('usage', '-b'))
    sizes[kinds.get(key) === 'Committed' ? 'images' : 'layers'] += Number(bytes)
  return sizes
}

describe.skipIf(!isPresent)('the history of a real kubelet', () => {
  const node = 'n11'
  const pods = ['history-large', 'history-small'] as const
  const store = mkdtempSync(join(tmpdir(), 'highwater-'))
  const program = [execPath, resolve('bin/highwater.mjs')]
  const audit = () =>
    script('in', [...program, 'audit', '--store', store, '--out', join(store, 'out')])
  // Its exit code says what it found.
  const audited = () => audit().catch(({ code }) => expect(code).toBe(3))
  const evictions = async () =>
    (await kubectl('get', 'events', '-A', '--field-selector', ofLarge, '-o', 'name')).stdout.trim()
  const ofLarge = `reason=Evicted,involvedObject.name=${pods[0]}`
  afterAll(() => removeNode(node, ...pods), minute)

  it(
    'explains an eviction two runs later, when its event is gone',
    async () => {
      await startNode(node, overlay)
      const [large, small] = pods
      await startPod(node, large, ['disk', '/data/x', '150Mi'])
      await startPod(node, small, ['disk', '/data/x', '40Mi'])
      // The kubelet measures volumes once a minute.
      await sleep(70_000)
      await audited()
      await script('node.sh', ['fill', node, '93'])
      await expect.poll(evictions, { timeout: minute, interval: 1000 }).not.toBe('')
      await audited()
      await kubectl('delete', 'pod', large, '--now', '--ignore-not-found')
      await kubectl('delete', 'events', '-A', '--field-selector', ofLarge)
      await script('node.sh', ['fill', node, '0'])
      await audited()
      await audited()
      expect(await evictions()).toBe('')
      const [command = '', ...args] = program
      const { stdout } = await run(command, [...args, 'history', node, '--store', store])
      const said = stdout.replace(/\s+/g, ' ')
      expect(said).toContain(
        `evicted default/${large}: The node was low on resource: ephemeral-storage.`,
      )
      expect(said).toMatch(/eviction memory\.available<10Mi, nodefs\.available<10%/)
      expect(said).toContain('disk held by volumes of pods (emptyDir) 190.0 MiB')
      expect(said).toContain(
        `first victims for ephemeral-storage: default/${large}, default/${small} (this pod is number 1)`,
      )
    },
    5 * minute,
  )
})
