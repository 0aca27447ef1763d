/** The README's commands for clusters, snapshots, plans and the package: each one runs, in its order, in one folder beside a lab. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { startLab } from '#lab/lab.ts'
import { remediationScenario } from '#lab/scenarios/remediation.ts'
import { deployedDocuments } from '#pipeline/documents.ts'
import { highwater } from '#test/cli.ts'
import { shownCommands } from '#test/shown-commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'highwater-readme-'))
/** What the reader fills in. */
const values = new Map([
  ['prod', 'shop'],
  ['staging', 'shop'],
  ['~/.kube/config', 'kubeconfig'],
  ['yesterday.ndjson.gz', 'today.ndjson.gz'],
])
const commands = shownCommands('README.md').filter(
  ({ block, words }) => block !== null && words[0] === 'highwater',
)
/** 1: findings; 3: not all could be read, or some nodes were passed over. */
const fine = [0, 1, 3]

let environment: Record<string, string> = {}
const plan = () => JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'))

beforeAll(async () => {
  const lab = await startLab(remediationScenario({ nodes: 2 }), { documents: deployedDocuments() })
  environment = lab.environment
  writeFileSync(join(folder, 'kubeconfig'), lab.kubeconfig)
  return async () => {
    await lab.close()
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)

/** `--in-cluster` needs a pod: test/e2e/in-cluster.test.ts. */
it.each(commands.filter(({ words }) => !words.includes('--in-cluster')))(
  '$text',
  { timeout: 180_000 },
  async ({ words: [, ...words] }) => {
    const run = (args: string[]) => highwater(args, { cwd: folder, env: environment })
    if (words[0] === 'plan') {
      // No node of the lab breaks the rule of the example: the change is named instead.
      const percents = ['imageGCHighThresholdPercent=70', 'imageGCLowThresholdPercent=60']
      words.splice(words.indexOf('--rule'), 2, ...percents.flatMap(one => ['--set', one]))
    }
    if (words[0] === 'approve') values.set('DIGEST', plan().digest)
    if (words[0] === 'rollback') values.set('RUN', plan().id)
    const { code, stdout, stderr } = await run(words.map(word => values.get(word) ?? word))
    expect(fine, `${stdout}${stderr}`).toContain(code)
    if (words[0] === 'collect') {
      const { stdout: list } = await run(['predict', '--snapshot', 'today.ndjson.gz', '-o', 'json'])
      values.set('NODE', JSON.parse(list).nodes[0].node)
    }
  },
)
