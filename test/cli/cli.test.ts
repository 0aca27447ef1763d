import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { programFor } from '#cli/main.ts'
import { faults } from '#lab/scenarios/faults.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import type { Finding } from '#model/finding.ts'
import { type Run, temporaryFolder } from '#test/cli.ts'
import { editedNode } from '#test/edited-node.ts'
import { runCommand } from '#test/in-process.ts'
import { labOf } from '#test/lab-audit.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

const header = JSON.stringify({
  kind: 'Snapshot',
  schema: 'highwater.snapshot/1',
  takenAt: '2026-11-21T00:00:00Z',
  account: null,
  region: null,
})
const node = (name: string) =>
  JSON.stringify({ kind: 'Node', cluster: 'c', node: { metadata: { name } }, pods: [] })

/** A mistake is told in a few lines, never as a stack trace. */
function expectMistake({ code, stderr }: Run, expectedCode: number, message: RegExp): void {
  expect({ code, stderr }).toEqual({ code: expectedCode, stderr: expect.stringMatching(message) })
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(stderr.trim().split('\n').length).toBeLessThan(6)
}

describe('bad usage', () => {
  it.each<[string[], RegExp]>([
    [['audit', '--snapshto', 'x'], /unknown option '--snapshto'[\s\S]*--snapshot/],
    [['audti'], /unknown command 'audti'[\s\S]*audit/],
    [['audit', '--fail-on', 'awful'], /'awful' is invalid.*critical, high/],
    [['audit', '--format', 'pdf'], /'pdf' is invalid.*json/],
    [['audit', '--deadline', 'soon'], /'soon' is invalid. Write 90s/],
    [['audit', '--tag', 'team'], /key=value/],
    [['audit', '--region', 'bad region'], /written like eu-west-1/],
    [['audit', '--snapshot', ''], /It is empty/],
    [
      ['audit', '--context', 'x', '--tag', 'a=b'],
      /'--context <name>' cannot be used with .*'--tag/,
    ],
    [['audit', '--snapshot', 'none.ndjson'], /none\.ndjson: there is no such file/],
    [
      ['audit', '--snapshot', 'none.ndjson', '--region', 'eu-west-1'],
      /'--snapshot <file>' cannot be used with option '--region/,
    ],
    [['audit', '--policy', 'none.yaml'], /policy none\.yaml cannot be read/],
    [['audit', '--kubeconfig', 'none'], /none cannot be read: there is no such file/],
    [['audit', '--kubeconfig', 'x', '--cluster', 'y'], /'--kubeconfig <file>' cannot .*'--cluster/],
    [['audit', '--mode', 'psychic'], /'psychic' is invalid. Allowed choices are proxy, ssm, both/],
    [
      ['audit', '--snapshot', 'none.ndjson', '--mode', 'ssm'],
      /'--snapshot <file>' cannot be used with option '--mode/,
    ],
    [
      ['audit', '--kubeconfig', 'x', '--region', 'eu-west-1'],
      /--region chooses EKS clusters.*modes ssm and both/,
    ],
    [
      ['audit', '--kubeconfig', 'x', '--region', 'eu-west-1', '--mode', 'ssm'],
      /x cannot be read: there is no such file/,
    ],
    [['audit'], /No AWS region is set/],
    [['lab', '--scenario', 'heaven'], /'heaven' is invalid.*incidents/],
    [
      ['audit', '--skip-rule', 'pear-drift'],
      /There is no rule of this name\. Did you mean peer-drift\?/,
    ],
    [['audit', '--fail-on', 'new:high'], /needs --store/],
    [['audit', '--all-contexts', '--cluster', 'x'], /'--all-contexts' cannot .*'--cluster/],
  ])('highwater %j: exit 2', async (args, message) => {
    expectMistake(await runCommand(args), 2, message)
  })

  it('names the contexts that a kubeconfig has', async () => {
    const lab = await labOf([recorded])
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'config'), lab.kubeconfig)
    expectMistake(
      await runCommand(['audit', '--kubeconfig', 'config', '--context', 'staging'], { cwd }),
      2,
      /no context "staging"\. It has: recorded/,
    )
  })

  it('names the clusters that there are', async () => {
    const lab = await labOf([recorded])
    expectMistake(
      await runCommand(['audit', '--cluster', 'prod'], { env: lab.environment }),
      2,
      /No EKS cluster is named prod\. There are: recorded/,
    )
  })

  it('names a node that is not there, and leaves what an earlier audit wrote', async () => {
    const { environment } = await labOf([recorded])
    const cwd = temporaryFolder()
    await runCommand(['audit'], { cwd, env: environment })
    const before = readFileSync(join(cwd, 'highwater-out', 'report.html'), 'utf8')
    expectMistake(
      await runCommand(['audit', '--node', 'ip-1'], { cwd, env: environment }),
      2,
      /No node is named ip-1/,
    )
    expect(readFileSync(join(cwd, 'highwater-out', 'report.html'), 'utf8')).toBe(before)
    expect(
      readdirSync(join(cwd, 'highwater-out')).filter(name => name.endsWith('.partial')),
    ).toEqual([])
  })

  it('says that no cluster has the tags', async () => {
    const { environment } = await labOf([recorded])
    expectMistake(
      await runCommand(['audit', '--tag', 'team=none'], { env: environment }),
      2,
      /No EKS cluster has the tags team=none/,
    )
  })

  it('says every mistake in the policy', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'highwater.yaml'), 'alertPercent: 800\nwavers: []\n')
    expectMistake(
      await runCommand(['audit', '--region', 'eu-west-1'], { cwd }),
      2,
      /highwater\.yaml:1:15: alertPercent[\s\S]*wavers/,
    )
  })
})

describe('credentials', () => {
  it('that are missing: exit 4, and what to do', async () => {
    const { environment } = await labOf([recorded])
    const { AWS_ACCESS_KEY_ID: _id, AWS_SECRET_ACCESS_KEY: _secret, ...env } = environment
    expectMistake(
      await runCommand(['audit'], { env }),
      4,
      /no AWS credentials were found[\s\S]*log in/,
    )
  })

  it('that AWS does not accept: exit 4', async () => {
    const { environment } = await labOf([recorded])
    expectMistake(
      await runCommand(['audit'], { env: { ...environment, AWS_SECRET_ACCESS_KEY: 'wrong' } }),
      4,
      /AWS does not accept these credentials/,
    )
  })

  it('an endpoint that does not resolve: exit 4, with its name', async () => {
    const { environment } = await labOf([recorded])
    const env = {
      ...environment,
      AWS_ENDPOINT_URL_EKS: 'http://eks.invalid',
      AWS_MAX_ATTEMPTS: '1',
    }
    expectMistake(await runCommand(['audit'], { env }), 4, /eks\.invalid does not resolve/)
  })
})

describe('a saved snapshot', () => {
  async function auditOf(lines: string[], args: string[] = []) {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'in.ndjson'), lines.join('\n'))
    return { cwd, ...(await runCommand(['audit', '--snapshot', 'in.ndjson', ...args], { cwd })) }
  }

  it('with a broken line: the rest is audited, the line is named, exit 3', async () => {
    const { cwd, code, stdout } = await auditOf([header, '{"kind":"Node","clus', node('a')])
    expect(code).toBe(3)
    expect(stdout).toContain('line 2: it is no JSON')
    const findings = JSON.parse(readFileSync(join(cwd, 'highwater-out', 'findings.json'), 'utf8'))
    expect(findings.run.inputErrors).toEqual([expect.stringContaining('line 2')])
    expect(findings.clusters[0].coverage.nodes).toBe(1)
  })

  it('without one good node: exit 2', async () => {
    expect((await auditOf([header, 'nonsense'])).code).toBe(2)
    expect((await auditOf(['nonsense'])).code).toBe(2)
    expect((await auditOf([header])).code).toBe(2)
  })

  it('that lies where the report goes is read, not overwritten', async () => {
    const { environment } = await labOf([recorded])
    const cwd = temporaryFolder()
    await runCommand(['audit'], { cwd, env: environment })
    const path = join(cwd, 'highwater-out', 'snapshot.ndjson.gz')
    const before = readFileSync(path)
    const again = await runCommand(['audit', '--snapshot', 'highwater-out/snapshot.ndjson.gz'], {
      cwd,
    })
    expect(again.code).toBe(0)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('written by hand: what stands in the file on disk is judged as that kubelet would judge it at its next start', async () => {
    const refused = editedNode({ imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50 })
    const { code, stdout } = await auditOf(
      [header, JSON.stringify(refused)],
      ['--format', 'json', '--fail-on', 'critical'],
    )
    expect(code).toBe(1)
    const [finding] = JSON.parse(stdout).findings.filter(
      ({ rule }: { rule: string }) => rule === 'invalid-kubelet-configuration',
    )
    expect(finding).toMatchObject({
      severity: 'critical',
      cluster: 'prod',
      subject: { kind: 'Node', name: 'edited' },
    })
    expect(JSON.stringify(finding)).toContain('50 must be less than')
  })

  it('with one node twice: the first is audited, the second is named', async () => {
    const { cwd, code, stdout } = await auditOf([header, node('a'), node('a')])
    expect(code).toBe(3)
    expect(stdout.replace(/\s+/g, ' ')).toContain('the node a of cluster c comes a second time')
    const findings = JSON.parse(readFileSync(join(cwd, 'highwater-out', 'findings.json'), 'utf8'))
    expect(findings.clusters[0].coverage.nodes).toBe(1)
  })

  it('is cut to the selection', async () => {
    const { cwd, code } = await auditOf(
      [header, node('a'), node('b')],
      ['--node', 'b', '--fail-on-unread', 'node'],
    )
    expect(code).toBe(3)
    const findings = JSON.parse(readFileSync(join(cwd, 'highwater-out', 'findings.json'), 'utf8'))
    expect(findings.clusters[0].coverage.nodes).toBe(1)
  })
})

describe('the audit of a snapshot', () => {
  const audited = (...args: string[]) =>
    runCommand(['audit', '--snapshot', savedSnapshot([{ name: 'a' }, { name: 'b' }]), ...args], {
      cwd: temporaryFolder(),
    })

  it('with --quiet is the verdict, the report and the next command', async () => {
    const { stdout } = await audited('--quiet')
    const printed = stdout.trim().split('\n')
    expect(printed.length).toBeLessThanOrEqual(8)
    const headline = printed.findIndex(line => /^(?:Critical|High|Medium|Low|Info): /.test(line))
    // A node that evicts now or next stands above it.
    expect([0, 1]).toContain(headline)
    expect(stdout).toContain('Report:')
  })

  it('with -o table or wide is one row per node', async () => {
    for (const [format, columns] of [
      ['table', 8],
      ['wide', 13],
    ] as const) {
      const { stdout } = await audited('-o', format)
      const rows = stdout
        .trim()
        .split('\n')
        .map(row => row.split(/ {2,}/))
      expect(rows.map(row => row.length)).toEqual([columns, columns, columns])
      expect(rows.slice(1).map(([name]) => name)).toEqual(['a', 'b'])
    }
  })
})

describe('the program', () => {
  it('has an example and the exit codes in the help of each command', async () => {
    const { commands } = await programFor([])
    for (const name of commands.map(one => one.name())) {
      if (['policy', 'lab', 'complete', 'tick', 'help'].includes(name)) continue
      const { stdout } = await runCommand([name, '--help'])
      expect(stdout, name).toMatch(/Examples?:/)
      expect(stdout, name).toMatch(/Exit codes?:/)
      expect(Math.max(...stdout.split('\n').map(line => line.length)), name).toBeLessThan(130)
    }
  })
})

describe('a live audit', () => {
  it('of EKS: report, findings and snapshot, and a summary that fits a terminal', async () => {
    const { environment } = await labOf([recorded])
    const cwd = temporaryFolder()
    const { code, stdout } = await runCommand(['audit'], { cwd, env: environment })
    expect(code).toBe(0)
    for (const name of ['report.html', 'findings.json', 'snapshot.ndjson.gz'])
      expect(existsSync(join(cwd, 'highwater-out', name))).toBe(true)
    expect(stdout).toContain('recorded')
    // A command stays on one line, so that it can be copied.
    const isCommand = (line: string) => /^(?:Next:)? +(?:highwater|kubectl|aws) /.test(line)
    const [report, , next] = stdout.trim().split('\n').slice(-3)
    expect(report).toMatch(/^Report: +file:\/\/\/.*\/highwater-out\/report\.html$/)
    expect(isCommand(next!)).toBe(true)
    for (const line of stdout.split('\n').filter(text => !isCommand(text) && text !== report))
      expect(line.length).toBeLessThanOrEqual(80)
  })

  it('prints only the findings with --format json, and exits 1 with --fail-on', async () => {
    const { environment } = await labOf([recorded])
    const { code, stdout } = await runCommand(
      ['audit', '--format', 'json', '--fail-on', 'medium'],
      { env: environment },
    )
    expect(code).toBe(1)
    expect(JSON.parse(stdout).schema).toBe('highwater.findings/1')
  })

  it('by a kubeconfig finds the same as by EKS, but for nodegroups', async () => {
    const lab = await labOf([recorded])
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'config'), lab.kubeconfig)
    const args = ['audit', '--format', 'json']
    const eks = await runCommand(args, { env: lab.environment })
    const inFile = ['--kubeconfig', 'config', '--context', 'recorded']
    const kubeconfig = await runCommand([...args, ...inFile], { cwd })
    expect(kubeconfig.code).toBe(0)
    // Commands name the cluster as each reaches it.
    const found = ({ stdout }: Run) =>
      JSON.parse(stdout).findings.map((finding: Finding) => ({
        ...finding,
        steps: finding.steps.map(step => ({ ...step, commands: [] })),
      }))
    expect(found(kubeconfig)).toEqual(found(eks))
  })

  it('names what could not be read and exits 3', async () => {
    const { environment } = await labOf([faults, recorded])
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'highwater.yaml'), 'timeoutsMs: { configz: 300, summary: 300 }\n')
    const { code, stdout } = await runCommand(['audit'], { cwd, env: environment })
    expect(code).toBe(3)
    for (const cluster of faults.expect().notAudited)
      expect(stdout).toContain(`cluster ${cluster}: `)
  })

  it('collects what an audit of the file then judges alike', async () => {
    const { environment } = await labOf([incidents])
    const cwd = temporaryFolder()
    const collected = await runCommand(['collect', '--out', 'today.ndjson'], {
      cwd,
      env: environment,
    })
    expect(collected).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^\d+ nodes in today\.ndjson; \d+ requests failed/),
    })
    const saved = await runCommand(['audit', '--snapshot', 'today.ndjson', '--format', 'json'], {
      cwd,
    })
    expect(JSON.parse(saved.stdout).findings.length).toBeGreaterThan(3)
  })

  it('counts a request of collect once that was refused for many nodes', async () => {
    const { environment } = await labOf([
      scenario([{ name: 'c', nodes: nodes(3) }], { ec2Denied: ['ec2:DescribeVolumes'] }),
    ])
    const cwd = temporaryFolder()
    const { stdout } = await runCommand(['collect', '--out', 'c.ndjson'], { cwd, env: environment })
    // One for the volumes of the nodes, one for unattached volumes.
    expect(stdout).toBe('3 nodes in c.ndjson; 2 requests failed; the snapshot has the reasons\n')
  })

  it('leaves no secret of the world in anything it writes', async () => {
    const { environment } = await labOf([recorded, incidents])
    const cwd = temporaryFolder()
    const { stdout, stderr } = await runCommand(['collect', '--out', 'today.ndjson'], {
      cwd,
      env: environment,
    })
    const written = stdout + stderr + readFileSync(join(cwd, 'today.ndjson'), 'utf8')
    // What the secrets stand beside is there.
    for (const part of [
      '"resource":"events"',
      '"resource":"ec2nodeclasses.karpenter.k8s.aws"',
      '"launchTemplateName":"al2-tuned"',
    ])
      expect(written).toContain(part)
    expect(written).not.toContain('lab-secret')
    expect(written).not.toContain(environment.AWS_SECRET_ACCESS_KEY)
    expect(written).not.toContain('k8s-aws-v1.')
  })
})

describe('help', async () => {
  const { commands } = await programFor([])
  const isTooWide = (line: string) => line.length > 80

  it('fits 80 columns and exits 0', async () => {
    const { code, stdout } = await runCommand(['--help'])
    expect(code).toBe(0)
    expect(stdout.length).toBeGreaterThan(200)
    expect(stdout.split('\n').filter(isTooWide)).toEqual([])
  })

  it.each([...commands.map(command => command.name()), 'policy check'])(
    'of %s fits 80 columns, with an example and exit codes',
    async name => {
      const { code, stdout } = await runCommand([...name.split(' '), '--help'])
      expect(code).toBe(0)
      expect(stdout.split('\n').filter(isTooWide)).toEqual([])
      expect(stdout).toMatch(/^Examples?:\n {2}/m)
      expect(stdout).toContain('\nExit codes: 0 ')
    },
  )
})
