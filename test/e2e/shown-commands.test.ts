/** Each highwater command that the README and docs/ show runs once, in their order, in one folder beside a lab. */
import '#test/short-waits.ts'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { startLab } from '#lab/lab.ts'
import { remediationScenario } from '#lab/scenarios/remediation.ts'
import { labApprovalKey, labRunKey } from '#lab/world.ts'
import { deployedDocuments } from '#pipeline/access/member-template.ts'
import { runCommand } from '#test/in-process.ts'
import { schemaErrors } from '#test/json-schema.ts'
import { type ShownCommand, shownCommands } from '#test/shown-commands.ts'
import { closedSchemas } from '#tools/schemas.ts'

const folder = mkdtempSync(join(tmpdir(), 'highwater-shown-'))
const bucket = 'highwater-shown'

/** Example names and placeholders of the documents, and their values in the lab. */
const values = new Map([
  ['prod', 'shop'],
  ['staging', 'shop'],
  ['stage', 'shop'],
  ['CLUSTER', 'shop'],
  ['~/.kube/config', 'kubeconfig'],
  ['yesterday.ndjson.gz', 'today.ndjson.gz'],
  ['snapshot.ndjson.gz', 'today.ndjson.gz'],
  ['general', 'al2'],
  ['s3://BUCKET/PREFIX', `s3://${bucket}/shown`],
  ['s3://our-bucket/highwater', `s3://${bucket}/shown`],
  ['my-bucket/reports', `${bucket}/shown`],
  ['MODE', 'both'],
  ['RULE', 'eviction-before-image-gc'],
  ['FILE', 'highwater.yaml'],
  ['ROLE_ARN', 'arn:aws:iam::111122223333:role/a'],
  ['AUDIT_ROLE_ARN', 'arn:aws:iam::111122223333:role/a'],
])

/** What cannot run here, and the test that runs it. */
const elsewhere: readonly [option: string, test: string][] = [
  ['--in-cluster', 'test/e2e/in-cluster.test.ts'], // needs a pod
]

/** Files of a pull request that `gate` reads. */
const changedFiles = {
  'nodeclass.yaml': 'nodeclass/spot.yaml',
  'user-data.sh': 'bootstrap-on-al2/legacy/user-data.sh',
}

/** A sentence may name a command without what it requires: its help is read. */
const incomplete = /required option|argument missing|missing required argument/

/** The words after `highwater`, also of `source <(highwater …)` and `npx --no -- highwater …`; null: another program. */
function argumentsOf({ words }: ShownCommand): string[] | null {
  const at = words.findIndex(word => /^(<\()?highwater$/.test(word))
  const isOurs = at === 0 || (at > 0 && ['source', 'npx'].includes(words[0] ?? ''))
  return isOurs ? words.slice(at + 1).map(word => word.replace(/\)$/, '')) : null
}
const commands = ['README.md', ...globSync('docs/**/*.md').toSorted()]
  .flatMap(shownCommands)
  .flatMap(command => {
    const words = argumentsOf(command)
    return words === null ? [] : [{ ...command, words }]
  })
  .filter(({ words }) => !elsewhere.some(([option]) => words.includes(option)))
/** Each once: the first of equal ones. */
const distinct = commands.filter(
  ({ words }, index) =>
    commands.findIndex(other => other.words.join(' ') === words.join(' ')) === index,
)

/** 1: findings; 3: not all could be read, or some nodes were passed over. */
const fine = [0, 1, 3]

let environment: Record<string, string> = {}
const planned = () => JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'))
const run = (args: string[]) => runCommand(args, { cwd: folder, env: environment })

beforeAll(async () => {
  const scenario = { ...remediationScenario({ nodes: 2 }), s3: { buckets: [bucket] } }
  const lab = await startLab(scenario, {
    documents: deployedDocuments(),
    storeFolder: join(folder, 'buckets'),
  })
  environment = {
    ...lab.environment,
    ...{ HIGHWATER_BUCKET: bucket, HIGHWATER_PREFIX: 'shown/' },
    ...{ XDG_CONFIG_HOME: join(folder, 'config') },
    ...{ HIGHWATER_RUN_KEY_ID: labRunKey, HIGHWATER_APPROVAL_KEY_ID: labApprovalKey },
  }
  writeFileSync(join(folder, 'kubeconfig'), lab.kubeconfig)
  const latest = join(folder, 'buckets', bucket, 'shown', 'latest')
  mkdirSync(latest, { recursive: true })
  writeFileSync(join(latest, 'report.html'), '')
  for (const [file, change] of Object.entries(changedFiles))
    copyFileSync(`test/pipeline/gate/changes/good/${change}`, join(folder, file))
  return async () => {
    await lab.close()
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)

it.each(distinct)('$file: $text', { timeout: 120_000 }, async ({ block, words: shown }) => {
  const words = [...shown]
  if (words[0] === 'plan') {
    // No node of the lab breaks the rule of the example: the change is named instead.
    const percents = ['imageGCHighThresholdPercent=70', 'imageGCLowThresholdPercent=60']
    const rule = words.indexOf('--rule')
    // The plan of a block is the one that later commands name.
    if (block === null) words.push('--out', 'inline.json')
    else rmSync(join(folder, 'plan.json'), { force: true })
    if (rule > 0) words.splice(rule, 2, ...percents.flatMap(one => ['--set', one]))
  }
  // No browser opens.
  if (words[0] === 'open') words.push('--print')
  if (words[0] === 'approve' && block !== null) values.set('DIGEST', planned().digest)
  if (words[0] === 'rollback') values.set('RUN', planned().id)
  const whole = await run(words.map(word => values.get(word) ?? word))
  const isName = block === null && incomplete.test(whole.stderr)
  const { code, stdout, stderr } = isName ? await run([words[0] ?? '', '--help']) : whole
  expect(fine, `${stdout}${stderr}`).toContain(code)
  if (words[0] === 'collect') {
    const { stdout: list } = await run(['predict', '--snapshot', 'today.ndjson.gz', '-o', 'json'])
    values.set('NODE', JSON.parse(list).nodes[0].node)
  }
})

it('open says of a report that is not there where it looked', async () => {
  const { code, stdout, stderr } = await run(['open', '2026', '--bucket', `${bucket}/shown`])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(`s3://${bucket}/shown/runs/2026/report.html is not there.`)
})

/** The documents of a file: the lines of a snapshot, else the JSON itself without its seal. */
function documentsIn(path: string): { schema?: string }[] {
  const bytes = readFileSync(path)
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  if (path.includes('.ndjson'))
    return text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  const { seal: _, ...document } = JSON.parse(text)
  return [document]
}

it('prints formats for programs', { timeout: 120_000 }, async () => {
  const node = values.get('NODE') ?? ''
  const printed: Record<string, string[]> = {
    diff: ['diff', 'today.ndjson.gz', 'highwater-out/snapshot.ndjson.gz'],
    doctor: ['doctor'],
    verification: ['verify', 'plan.json'],
    history: ['history', node, '--store', './history'],
  }
  for (const [name, args] of Object.entries(printed)) {
    const { stdout, stderr } = await run([...args, '-o', 'json'])
    expect(stdout, stderr).not.toBe('')
    writeFileSync(join(folder, `${name}.json`), stdout)
  }
})

it('each file of a published format that these commands wrote is as its schema says', () => {
  const errorsOf = Object.fromEntries(
    Object.entries(closedSchemas()).map(([name, schema]) => [name, schemaErrors({ ...schema })]),
  )
  const written = new Set<string>()
  const paths = globSync(['**/*.json', '**/*.json.gz', '**/*.ndjson.gz'], { cwd: folder })
  for (const path of paths)
    for (const document of documentsIn(join(folder, path))) {
      const isLine = path.endsWith('.ndjson.gz') && path.includes('snapshot')
      const name = isLine
        ? 'snapshot'
        : (/^highwater\.([a-z-]+)\/1$/.exec(document.schema ?? '')?.[1] ?? '')
      const errors = errorsOf[name]?.(document)
      if (errors === undefined) continue
      written.add(name)
      expect({ path, errors }).toEqual({ path, errors: [] })
    }
  expect([...written].sort()).toEqual([
    ...['approval', 'diff', 'doctor', 'findings', 'node-history', 'plan'],
    ...['remediation', 'snapshot', 'verification'],
  ])
})
