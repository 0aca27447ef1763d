/**
 * The worst input of less than 1 MB that was found for each reader, and what a command costs that reads it. The goal is 10 s of CPU and 512 MB.
 * What a cluster answers is served by the lab.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { RawObject } from '#base/raw-object.ts'
import { startLab } from '#lab/lab.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import type { Severity } from '#model/finding.ts'
import { moreFormats } from '#model/format-id.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { digestOf, sha256 } from '#remediate/plan/canonical.ts'
import { parseBegunPlan, planText } from '#remediate/plan/file.ts'
import { fullNodes } from '#test/full-nodes.ts'
import { fleetNode, idleImage, readyPod } from '#test/plan-fleet.ts'
import { clusterResult, findingsDocument } from '#test/report-builder.ts'
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'
import { measuredProcess } from '../measured-process.ts'
import { packedProgram } from '../packed-program.ts'

const mostBytes = 1_000_000
const mostCpuMs = 10_000
const mostRssBytes = 512 * 2 ** 20
const takenAt = '2026-11-21T00:00:00Z'

/** The program runs on this Node. */
const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
}

const list = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index))
const repeated = (piece: string, length: number) => piece.repeat(length / piece.length)
const numbered = (length: number, piece: (index: number) => string) =>
  list(Math.floor(length / piece(10_000).length), piece).join('')

/** Random bytes in a field that no reader keeps. */
const padding = randomBytes(650_000).toString('base64')

/** Limits grow with the length of the file, so random bytes in a field that no reader keeps fill it up. */
function snapshot(records: readonly object[]): Buffer {
  const header = { kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt }
  const of = (padding: number) =>
    [{ ...header, padding: randomBytes(padding).toString('base64') }, ...records]
      .map(line => JSON.stringify(line))
      .join('\n')
  const { length } = gzipSync(of(0), { level: 9 })
  return gzipSync(of(Math.max(0, mostBytes - 4_000 - length)), { level: 9 })
}

const families = ['AL2023', 'Bottlerocket', 'AL2', 'Ubuntu'] as const
/** As many as a snapshot of this length may have. */
const mostNodes = 650
/** With it no kubelet would start again, so that each fix is checked several times. */
const brokenSettings = {
  evictionSoft: { 'nodefs.available': '1%' },
  ...{ imageMaximumGCAge: '1s', evictionPressureTransitionPeriod: '1s', registryPullQPS: 0 },
}
/** Nodes of which each has a group, a configuration and findings of its own. */
const unlikeNodes = (shift = 0, broken: RawObject | null = brokenSettings): NodeRecord[] =>
  list(mostNodes, index =>
    fleetNode({
      ...{ name: `n${index}`, nodegroup: `g${index}`, available: 3 },
      family: families[(index + shift) % families.length] ?? 'AL2023',
      minor: ['31', '33', '34'][index % 3] ?? '34',
      configz: {
        ...{ imageGCHighThresholdPercent: 99, imageGCLowThresholdPercent: 98 },
        evictionHard: {
          'nodefs.available': `${1 + ((index + shift) % 7)}%`,
          ...(broken !== null && { 'memory.available': '0' }),
        },
        ...{ containerLogMaxSize: '10Gi', maxPods: 1 + index },
        ...broken,
      },
      flags: ['--image-gc-high-threshold=90', '--cloud-provider=external'],
      images: list(8, image => idleImage(`registry/a${image}:1`, 1)),
      pods: list(6, pod => readyPod(`p${pod}`, `d${index}`, { image: `registry/a${pod}:1` })),
      record: { cluster: `c${index % 300}` },
    }),
  ).toSorted((a, b) => Number(a.cluster > b.cluster) - Number(a.cluster < b.cluster))
/** Nodes of one group and one cluster. */
const alikeNodes = (): NodeRecord[] =>
  unlikeNodes().map(({ node, ...record }) => ({
    ...record,
    cluster: 'prod',
    node: {
      ...node,
      metadata: { ...node.metadata, labels: { 'eks.amazonaws.com/nodegroup': 'general' } },
    },
  }))

/** Each budget covers each pod. */
const budgetsAndPods = (): object[] => {
  const labels = { a: 'b' }
  const budgets = list(40_000, index => ({
    metadata: { namespace: 'shop', name: `b${index}` },
    ...{ spec: { selector: { matchLabels: labels } }, status: { disruptionsAllowed: 1 } },
  }))
  const nodes = list(3, index => {
    const pods = list(1_000, pod => readyPod(`p${index}-${pod}`, `d${pod}`))
    const labelled = pods.map(pod => ({ ...pod, metadata: { ...pod.metadata, labels } }))
    return fleetNode({ name: `n${index}`, available: 3, pods: labelled as never })
  })
  const cluster = 'prod'
  return [
    { kind: 'Cluster', cluster, errors: [] },
    { kind: 'Objects', cluster, resource: 'poddisruptionbudgets.policy', items: budgets },
    ...nodes,
  ]
}

/** A document of findings, each with an unknown outcome on the same nodes. */
function findingsOf(severity: Severity): Buffer {
  const cluster = clusterResult('prod')
  const found = list(20_000, index => ({
    ...{ id: `${index}`, rule: 'eviction-due', cluster: cluster.name, severity, title: '' },
    ...{
      subject: { kind: 'Nodegroup', namespace: null, name: `g${index}` },
      confidence: 'certain',
    },
    ...{ nodes: { count: 2, sample: [] }, evidence: [], waived: null },
  }))
  const unknowns = found.map(({ rule, subject, nodes }) => ({
    ...{ rule, cluster: cluster.name, subject, nodes, reason: '' },
  }))
  const document = findingsDocument({ clusters: [cluster] })
  return gzipSync(JSON.stringify({ ...document, findings: found, unknowns, padding }))
}

const day = '2026-11-20'
const factsOfNode = JSON.stringify({
  ...{ node: 'NAME', at: `${day}T05:00:00Z`, runId: 'r', coverage: 'read', mode: 'proxy' },
  ...{ group: { kind: 'Nodegroup', namespace: null, name: 'w' }, amiFamily: 'AL2023' },
  ...{ kubeletVersion: null, instanceType: null, layout: null, nodefs: null, imagefs: null },
  ...{ imageGC: null, thresholds: null, fill: null, rules: [], missed: '', leftOut: 0 },
  ...{
    held: [],
    firstVictims: [],
    happened: [],
    rounds: [],
    beforeEvictions: [],
    imagesSince: null,
  },
  images: list(32, index => [`i${index}`, index, day]),
})
const trendOf = (cluster: string) =>
  JSON.stringify({
    ...{ schema: 'highwater.trend/1', cluster },
    points: list(2_000, index => ({
      ...{ day: new Date(index * 86_400_000).toISOString().slice(0, 10), runId: 'r', grade: 'D' },
      coverage: { nodes: 3, read: 3, partlyRead: 0, notRead: 0 },
      findings: { critical: 0, high: 9, medium: 12, low: 3, info: 0 },
      ...{ groups: [], imageGc: null, groupsLeftOut: 0 },
    })),
  })

/** A store of which each object is as long, unpacked, as its packed length admits. */
function storeIn(folder: string): void {
  const days = join(folder, 'history/nodes/prod')
  const trends = join(folder, 'history/trends')
  for (const each of [days, trends]) mkdirSync(each, { recursive: true })
  const lines = numbered(400_000, index => `${factsOfNode.replace('NAME', `n${index}`)}\n`)
  for (const index of list(20, each => each)) {
    const date = new Date(Date.parse(takenAt) - index * 86_400_000).toISOString().slice(0, 10)
    writeFileSync(join(days, `${date}.ndjson.gz`), gzipSync(lines))
    writeFileSync(join(trends, `c${index}.json.gz`), gzipSync(trendOf(`c${index}`)))
  }
}

interface Files {
  /** Writes a file. @returns its path */
  write(name: string, content: string | Buffer): string
  folder: string
  run(args: string[]): void
}

interface Worst {
  reader: string
  /** What makes the input the worst one. */
  input: string
  /** A row that measures a refusal instead of the work, or the other way round, fails. */
  exitCode: number
  /** What a refusal says. */
  says?: RegExp
  args(files: Files): { args: string[]; input: string }
}

const onSnapshot =
  (records: () => readonly object[], ...words: string[]): Worst['args'] =>
  ({ write }) => {
    const input = write('snapshot.ndjson.gz', snapshot(records()))
    return { args: [...words, '--snapshot', input], input }
  }
const onFile =
  (name: string, content: () => string | Buffer, ...words: string[]): Worst['args'] =>
  ({ write }) => {
    const input = write(name, content())
    return { args: [...words, input], input }
  }

/** A plan of many nodes, as the command line makes it. */
function planned({ write, run }: Files, count: number): string {
  const header = { kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt }
  const nodes = list(count, index => fleetNode({ name: `n${index}`, nodegroup: `g${index % 30}` }))
  const lines = [header, ...nodes].map(line => JSON.stringify(line))
  const path = write('plan.json', '')
  run([
    ...['plan', '--force', '--out', path, '--snapshot', write('nodes.ndjson', lines.join('\n'))],
    ...['--set', 'imageGCHighThresholdPercent=70', '--set', 'imageGCLowThresholdPercent=50'],
  ])
  return path
}
const approving = (path: string, digest: string) => ({
  args: ['approve', path, '--digest', digest, '--by', 'Ada'],
  input: path,
})
const contexts = (count: number) => `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: https://127.0.0.1:1}}]
users: [{name: u, user: {token: a}}]
contexts:
${list(count, index => `- {name: n${index}, context: {cluster: c, user: u}}\n`).join('')}`
const fill = ['--fill', 'nodefs=50Mi/s']

const worst: readonly Worst[] = [
  {
    reader: 'audit',
    input: `${mostNodes} nodes, each a group with findings of its own, 300 clusters`,
    exitCode: 0,
    args: onSnapshot(unlikeNodes, 'audit', '--out', 'out'),
  },
  {
    reader: 'audit --plan --store',
    input: `${mostNodes} nodes, each a group with a plan of its own, 300 clusters`,
    exitCode: 0,
    args: onSnapshot(
      () => unlikeNodes(0, null),
      ...['audit', '--out', 'out', '--plan', '--store', 'store'],
    ),
  },
  {
    reader: 'audit --plan --all-nodes, with each output',
    input: `${mostNodes} nodes, each a group with findings of its own, 300 clusters`,
    exitCode: 0,
    args: onSnapshot(
      unlikeNodes,
      ...['audit', '--out', 'out', '--plan', '--all-nodes', '--outputs', moreFormats.join(',')],
    ),
  },
  {
    reader: 'predict --fill',
    input: '111 nodes, each of 200 pods that are evicted one by one',
    exitCode: 2,
    args: onSnapshot(() => fullNodes(111, 200, 0), 'predict', ...fill),
  },
  {
    reader: 'predict --fill',
    input: `${mostNodes} nodes of 5 pods and 5 images`,
    exitCode: 2,
    args: onSnapshot(() => fullNodes(mostNodes, 5, 5), 'predict', '--format', 'json', ...fill),
  },
  {
    reader: 'predict --fill',
    input: '3 nodes of 12,500 pods',
    exitCode: 0,
    args: onSnapshot(() => fullNodes(3, 12_500, 0), 'predict', ...fill),
  },
  {
    reader: 'plan',
    input: `${mostNodes} nodes, each a group of its own`,
    exitCode: 0,
    args: onSnapshot(() => unlikeNodes(0, null), 'plan', '--out', 'plan.json'),
  },
  {
    reader: 'plan',
    input: '40,000 PodDisruptionBudgets of one label, beside 3,000 pods of it',
    exitCode: 0,
    args: onSnapshot(budgetsAndPods, 'plan', '--out', 'plan.json'),
  },
  {
    reader: 'diff',
    input: 'two of them, each setting changed',
    exitCode: 0,
    args({ write }) {
      const input = write('old.ndjson.gz', snapshot(unlikeNodes()))
      return { args: ['diff', input, write('new.ndjson.gz', snapshot(unlikeNodes(1)))], input }
    },
  },
  {
    reader: 'diff',
    input: 'two documents of 20,000 findings that name no node',
    exitCode: 0,
    args({ write }) {
      const input = write('old.json.gz', findingsOf('high'))
      return { args: ['diff', input, write('new.json.gz', findingsOf('low'))], input }
    },
  },
  {
    reader: 'tune',
    input: `${mostNodes} nodes of one group`,
    exitCode: 0,
    args: onSnapshot(alikeNodes, 'tune', '--group', 'general', ...fill),
  },
  {
    reader: 'tune',
    input: '111 nodes of 200 pods',
    exitCode: 0,
    args: onSnapshot(() => fullNodes(111, 200, 0), 'tune', '--group', 'workers', ...fill),
  },
  {
    reader: 'upgrade',
    input: `${mostNodes} nodes of one group`,
    exitCode: 1,
    args: onSnapshot(alikeNodes, 'upgrade', '--to', '1.37'),
  },
  {
    reader: 'gate',
    input: `30 configurations for ${mostNodes} nodes`,
    exitCode: 1,
    args({ write }) {
      const input = write('snapshot.ndjson.gz', snapshot(alikeNodes()))
      const file = write(
        'nodeconfig.yaml',
        list(
          30,
          index =>
            `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {imageGCHighThresholdPercent: ${60 + index}}}}\n`,
        ).join('---\n'),
      )
      return { args: ['gate', '--snapshot', input, '--group', 'general', file], input }
    },
  },
  {
    reader: 'approve',
    input: '700 nodes',
    exitCode: 0,
    args(files) {
      const path = planned(files, 700)
      return approving(path, JSON.parse(readFileSync(path, 'utf8')).digest)
    },
  },
  {
    reader: 'approve',
    input: '9 contents of 98,000 characters of YAML, with their digest',
    exitCode: 2,
    says: /would do something else/,
    args(files) {
      const path = planned(files, 9)
      const plan = parseBegunPlan(readFileSync(path, 'utf8'), path)
      const content = numbered(98_000, key => `k${key}: 1\n`)
      const forged = {
        ...plan,
        steps: plan.steps.map(step => ({
          ...step,
          method: 'nodeadm' as const,
          ...{ content, newSha256: sha256(content) },
        })),
      }
      const digest = digestOf(forged)
      writeFileSync(path, planText({ ...forged, digest, id: digest.slice(0, 16) }))
      return approving(path, digest)
    },
  },
  {
    reader: 'verify',
    input: '700 nodes',
    exitCode: 3,
    args(files) {
      const path = planned(files, 700)
      const now = new Date().toISOString()
      const later = readFileSync(join(files.folder, 'nodes.ndjson'), 'utf8')
      const after = files.write('after.ndjson', later.replaceAll(takenAt, now))
      return { args: ['verify', path, '--snapshot', after], input: path }
    },
  },
  {
    reader: 'apply',
    input: '330,000 steps that are no steps',
    exitCode: 2,
    says: /is no highwater.plan/,
    args: onFile(
      'plan.json',
      () => `{"schema":"highwater.plan/1","steps":[${repeated('{},', 990_000)}{}]}`,
      ...['apply', '--approval', 'approval.json'],
    ),
  },
  {
    reader: 'rollback',
    input: 'a run of 330,000 values without a seal',
    exitCode: 4,
    says: /has no valid seal/,
    args({ folder }) {
      const run = '0123456789abcdef'
      const path = join(folder, 'store/remediation/runs', run)
      mkdirSync(path, { recursive: true })
      const input = join(path, 'run.json')
      writeFileSync(input, `{"schema":"highwater.run/1","a":[${repeated('{},', 990_000)}{}]}`)
      return { args: ['rollback', run, '--store', join(folder, 'store')], input }
    },
  },
  {
    reader: 'policy',
    input: '15,000 keys that are unknown',
    exitCode: 2,
    says: /Unrecognized keys/,
    args: onFile(
      'p.yaml',
      () => numbered(255_000, key => `kkkkkkkkk${key}: 1\n`),
      'policy',
      'check',
    ),
  },
  {
    reader: 'policy',
    input: '9,000 waivers',
    exitCode: 2,
    says: /waivers/,
    args: onFile(
      'p.yaml',
      () => `waivers:\n${'- {rule: a, x: y}\n'.repeat(9_000)}`,
      'policy',
      'check',
    ),
  },
  {
    reader: 'audit --kubeconfig',
    input: '140,000 equal keys',
    exitCode: 2,
    says: /a key stands twice/,
    args: onFile(
      'config',
      () => `clusters: []\nx: {${repeated('k,', 280_000)}}\n`,
      ...['audit', '--out', 'out', '--kubeconfig'],
    ),
  },
  {
    reader: 'audit --kubeconfig',
    input: '61,000 keys',
    exitCode: 2,
    says: /more values than are read/,
    args: onFile(
      'config',
      () => numbered(990_000, key => `k${key}: 1\n`),
      ...['audit', '--out', 'out', '--kubeconfig'],
    ),
  },
  ...[1_000, 17_000].map(
    (count): Worst => ({
      reader: 'audit --kubeconfig',
      input: `${count} contexts`,
      exitCode: count === 1_000 ? 3 : 2,
      args: onFile(
        'config',
        () => contexts(count),
        ...['audit', '--out', 'out', '--all-contexts', '--kubeconfig'],
      ),
    }),
  ),
  {
    reader: 'history',
    input: '20 days and 20 trends, each 100 times as long as its gzip',
    exitCode: 0,
    args({ folder }) {
      storeIn(join(folder, 'store'))
      return {
        args: ['history', 'n1', '--days', '90', '--store', join(folder, 'store')],
        input: join(folder, 'store/history/nodes/prod', '2026-11-21.ndjson.gz'),
      }
    },
  },
  {
    reader: 'history',
    input: 'the same, of clusters',
    exitCode: 0,
    args({ folder }) {
      storeIn(join(folder, 'store'))
      return {
        args: ['history', '--days', '90', '--store', join(folder, 'store')],
        input: join(folder, 'store/history/trends', 'c1.json.gz'),
      }
    },
  },
  {
    reader: 'audit --store',
    input: 'the same, and a node',
    exitCode: 0,
    args({ folder, write }) {
      storeIn(join(folder, 'store'))
      const input = write('snapshot.ndjson.gz', snapshot([fleetNode({})]))
      return {
        args: [...['audit', '--out', 'out', '--snapshot', input], '--store', join(folder, 'store')],
        input,
      }
    },
  },
  {
    reader: 'baseline',
    input: '330,000 findings that are no findings',
    exitCode: 2,
    says: /is not as it should be/,
    args: onFile(
      'findings.json',
      () => `{"schema":"highwater.findings/1","findings":[${repeated('{},', 990_000)}{}]}`,
      ...['baseline', '--reason', 'a'],
    ),
  },
]

/** Random digits keep a text below the highest ratio of compression. */
const unpackable = `# ${randomBytes(2_600).toString('hex')}\n`
/** What a cluster says of itself: its node classes have user data that unpacks to one repeated text. */
const servedTexts: readonly [name: string, text: string][] = [
  ['closing braces', `#cloud-config\n${unpackable}${repeated('}', 240_000)}`],
  ['keys of YAML', `apiVersion: v1\n${numbered(240_000, key => `k${key}: 1\n`)}`],
  ['lists in lists', `#cloud-config\n${unpackable}bootcmd: ${repeated('[', 240_000)}`],
  ['heredocs', `#!/bin/bash\n${unpackable}${repeated('<<A\n\nA\n', 240_000)}`],
]

async function measuredUserData(program: string[], [name, text]: [string, string]): Promise<Row> {
  const packed = gzipSync(text).toString('base64')
  const [cluster] = incidents.clusters
  if (cluster === undefined) throw new Error('the scenario has no cluster')
  const classes = list(Math.floor(mostBytes / (packed.length + 200)), index => ({
    metadata: { name: `c${index}`, uid: `u${index}` },
    spec: { amiFamily: 'AL2023', userData: packed },
  })).slice(0, 2_000)
  const lab = await startLab([
    {
      ...incidents,
      clusters: [{ ...cluster, nodeClasses: { 'ec2nodeclasses.karpenter.k8s.aws': classes } }],
    },
  ])
  try {
    const measured = await measuredProcess(
      [...program, 'audit', '--out', 'out', '--cluster', cluster.name],
      { env: lab.environment, exitCodes: [3] },
    )
    const row = rowOf(`audit: user data of ${classes.length} node classes, ${name}`, measured)
    return { ...row, bodyBytes: classes.length * packed.length }
  } finally {
    await lab.close()
  }
}

/** The file that a function of a fan-out hands to the last one: each line has as many values as its length admits. */
function judgedFile(): Buffer {
  const values = list(320, index => ({ [`a${index}`]: {} }))
  const node = { identity: {}, prediction: { filesystems: {}, eviction: null }, values }
  const longer = randomBytes(720_000).toString('base64')
  const lines = [{ longer }, ...list(7_000, () => ({ ...node, details: {} }))]
  return gzipSync(lines.map(line => JSON.stringify(line)).join('\n'))
}
const source = (file: string) => JSON.stringify(pathToFileURL(join('src', file)).href)
const readJudgedScript = `
import { readFileSync } from 'node:fs'
import { keepInMemory } from ${source('base/keep.ts')}
import { openSharedParts } from ${source('judge/run/kept-prediction.ts')}
import { readJudged } from ${source('pipeline/fan-out/files.ts')}
const store = { location: '', read: async key => ({ body: readFileSync(key), version: '' }) }
await readJudged(store, process.argv[1], { share: openSharedParts(), keep: keepInMemory })
`

async function measuredJudged(): Promise<Row> {
  const content = judgedFile()
  const measured = await measuredProcess([process.execPath], {
    inFolder(folder) {
      const path = join(folder, 'judged.ndjson.gz')
      writeFileSync(path, content)
      return ['--input-type=module', '--eval', readJudgedScript, path]
    },
  })
  const row = rowOf('publish: a judged cluster of 7,000 nodes of 640 values', measured)
  return { ...row, bodyBytes: content.length }
}

const rowOf = (name: string, measured: Awaited<ReturnType<typeof measuredProcess>>): Row => ({
  ...{ name, nodes: 1, runs: 1, requests: 0, bodyBytes: 0 },
  ...measured,
})

export const limitsPart: Part = {
  name: 'limits',
  nodes: 1,

  targets: rows =>
    rows.flatMap(({ name, cpuMs, peakRssBytes }) =>
      cpuMs <= mostCpuMs && peakRssBytes <= mostRssBytes
        ? []
        : [
            {
              what: `${name}: at most ${mostCpuMs / 1000} s of CPU and ${mostRssBytes / 2 ** 20} MiB`,
              figure: `${(cpuMs / 1000).toFixed(1)} s, ${Math.round(peakRssBytes / 2 ** 20)} MiB`,
              isMet: false,
              otherwise: 'lower a limit in src/base/limits.ts',
            },
          ],
    ),

  async run(_nodes, say) {
    const program = packedProgram()
    const rows: Row[] = []
    for (const { reader, input, exitCode, says, args } of worst) {
      const folder = mkdtempSync(join(tmpdir(), 'highwater-limits-'))
      const write: Files['write'] = (name, content) => {
        writeFileSync(join(folder, name), content)
        return join(folder, name)
      }
      try {
        const run: Files['run'] = words => {
          const [file = '', ...before] = program
          execFileSync(file, [...before, ...words], { env: environment, stdio: 'ignore' })
        }
        const made = args({ folder, write, run })
        const measured = await measuredProcess([...program, ...made.args], {
          exitCodes: [exitCode],
          ...(says && { says }),
        })
        const row = rowOf(`${reader}: ${input}`, measured)
        rows.push({ ...row, bodyBytes: statSync(made.input).size })
        say(
          `${(row.cpuMs / 1000).toFixed(1)} s, ${Math.round(row.peakRssBytes / 2 ** 20)} MiB  ${row.name}`,
        )
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
    rows.push(await measuredJudged())
    for (const served of servedTexts) rows.push(await measuredUserData(program, served))
    return rows
  },
}
