import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { recorded } from '#lab/scenarios/recorded.ts'
import { labApprovalKey } from '#lab/world.ts'
import type { Approval, Plan } from '#model/plan.ts'
import { digestOf } from '#remediate/plan/canonical.ts'
import { parseBegunPlan, planText } from '#remediate/plan/file.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { labOf } from '#test/lab-audit.ts'
import {
  type FleetNode,
  fleetNode,
  hashOf,
  idleImage,
  mainFile,
  snapshotOf,
} from '#test/plan-fleet.ts'

const gc = ['--set', 'imageGCHighThresholdPercent=70', '--set', 'imageGCLowThresholdPercent=50']

/** Without a policy of whoever runs the tests. */
const plan = (nodes: FleetNode[], ...args: string[]) => planBy({}, nodes, ...args)

async function planBy(wanted: object, nodes: FleetNode[], ...args: string[]) {
  const folder = temporaryFolder()
  const out = join(folder, 'plan.json')
  const policy = join(folder, 'highwater.yaml')
  writeFileSync(policy, JSON.stringify(wanted))
  const run = await inProcess([
    'plan',
    '--snapshot',
    snapshotOf(nodes.map(fleetNode)),
    '--policy',
    policy,
    '--out',
    out,
    ...args,
  ])
  return { ...run, out, read: () => JSON.parse(readFileSync(out, 'utf8')) as Plan }
}

describe('highwater plan', () => {
  it('writes the plan and prints what a person has to know, with the exact command to approve it', async () => {
    const { code, stdout, stderr, out, read } = await plan(
      [{ name: 'a' }, { name: 'b' }, { name: 'c', family: 'Bottlerocket' }],
      ...gc,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { id, digest, steps } = read()
    expect(steps.map(({ node }) => node)).toEqual(['a', 'b', 'c'])
    expect(stdout).toContain(`Plan ${id}: 3 nodes to change`)
    expect(stdout).toContain('prod Nodegroup workers, AL2023, kubelet 1.34: 2 of 2 nodes')
    expect(stdout).toContain('set     imageGCHighThresholdPercent: 70')
    expect(stdout).toContain('in      /etc/eks/nodeadm.d/50-highwater.yaml')
    expect(stdout).toMatch(/effect {2}Today 0 of 2 nodes evict first/)
    expect(stdout).toMatch(/restart Each kubelet restarts/)
    expect(stdout).toContain('── nodeadm')
    expect(stdout).toContain(`highwater approve ${out} --digest ${digest} --by "YOUR NAME"`)
    expect(stdout).toContain('Nothing is changed by it. To approve exactly this, and to do it:')
    expect(stdout).toMatch(/highwater apply \S+ --approval \S+\.approval\.json --policy \S+\n/)
  })

  it('prints the very file with --format json', async () => {
    const { stdout, out } = await plan([{}], ...gc, '--format', 'json')
    expect(stdout).toBe(readFileSync(out, 'utf8'))
  })

  it('overwrites no plan without --force', async () => {
    const first = await plan([{}], ...gc)
    const before = readFileSync(first.out, 'utf8')
    const again = ['--out', first.out]
    const second = await plan([{ name: 'other' }], ...gc, ...again)
    expect(second).toMatchObject({ code: 2, stdout: '' })
    expect(second.stderr).toContain(`${first.out} exists, and may be an approved plan`)
    expect(readFileSync(first.out, 'utf8')).toBe(before)
    expect((await plan([{ name: 'other' }], ...gc, ...again, '--force')).code).toBe(0)
    expect(readFileSync(first.out, 'utf8')).not.toBe(before)
  })

  it('keeps a plan that does the same, as a command that stands twice in a report', async () => {
    const first = await plan([{}], ...gc)
    const made = parseBegunPlan(readFileSync(first.out, 'utf8'), first.out)
    const earlier = { ...made, createdAt: '2026-11-20T23:00:00Z' }
    const digest = digestOf(earlier)
    writeFileSync(first.out, planText({ ...earlier, digest, id: digest.slice(0, 16) }))
    const before = readFileSync(first.out, 'utf8')
    const { code, stdout, stderr } = await plan([{}], ...gc, '--out', first.out)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(digest)
    expect(readFileSync(first.out, 'utf8')).toBe(before)
  })

  it('groups what it refuses and never touches by reason, and ends with 3 where too little was read', async () => {
    const unread = { record: { host: null } }
    const nodes = [
      ...['a', 'b'].map(name => ({ name, ...unread })),
      { name: 'k', nodegroup: null, labels: { 'karpenter.sh/nodepool': 'x' } },
    ]
    const { code, stdout } = await plan(nodes, ...gc)
    expect(code).toBe(3)
    expect(stdout).toContain(
      "2 nodes: the node's files were not read (mode ssm or both) (prod/a, prod/b)",
    )
    expect(stdout).toMatch(/Never touched[^\n]*\n {2}1 node: Karpenter/)
    expect(stdout).toContain('nothing to approve')
  })

  it('cannot be moved by what stands in a snapshot', async () => {
    const { stdout } = await plan(
      [{ name: 'a\u001b[2J\nPlan approved', record: { host: null } }],
      ...gc,
    )
    expect(stdout).not.toContain('\u001b')
    expect(stdout).not.toContain('\nPlan approved')
  })

  it('says why a forged plan is refused, and shows nothing of it that would move a terminal', async () => {
    const { out } = await plan([{ name: 'a' }], ...gc)
    const forged = parseBegunPlan(readFileSync(out, 'utf8'), out)
    forged.steps[0]!.node = 'a\u001b[2J\u009b2J\u202e'
    forged.steps[0]!.cohort = 'none'
    forged.waves = [[`prod/${forged.steps[0]!.node}`]]
    const digest = digestOf(forged)
    writeFileSync(out, planText({ ...forged, digest, id: digest.slice(0, 16) }))
    const run = await inProcess(['approve', out, '--digest', digest, '--by', 'Ada'])
    expect(run).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('would do something else'),
    })
    expect(run.stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  })

  it.each<[string, string[], RegExp]>([
    [
      'a field that there is not',
      ['--set', 'imageGcHigh=70'],
      /No field of KubeletConfiguration is called imageGcHigh/,
    ],
    [
      'a field that no plan changes',
      ['--set', 'maxPods=200'],
      /maxPods is no field that a plan may change/,
    ],
    ['no number', ['--set', 'imageGCHighThresholdPercent=lots'], /takes a whole number, not lots/],
    [
      'low above high',
      ['--set', 'imageGCHighThresholdPercent=50'],
      /imageGCLowThresholdPercent \(--image-gc-low-threshold\) 80 must be less than/,
    ],
    ['a rule that there is not', ['--rule', 'no-such-rule'], /No rule is called "no-such-rule"/],
    ['a finding that there is not', ['--finding', '0123456789abcdef'], /No open finding/],
    ['a node that there is not', [...gc, '--node', 'nobody'], /No node is named nobody/],
  ])('refuses %s in one paragraph, and writes nothing', async (_, args, message) => {
    const { code, stderr, stdout, out } = await plan([{}], ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.trim()).not.toContain('\n')
    expect(existsSync(out)).toBe(false)
  })

  it('reads a live fleet, too: in mode proxy no file is known, so every node is refused, and it ends with 3', async () => {
    await labOf([recorded])
    const folder = temporaryFolder()
    const out = join(folder, 'plan.json')
    writeFileSync(join(folder, 'highwater.yaml'), '{}')
    const { code, stdout } = await inProcess([
      'plan',
      '--policy',
      join(folder, 'highwater.yaml'),
      '--out',
      out,
      '--set',
      'containerLogMaxFiles=4',
    ])
    const { refused, steps, snapshot } = JSON.parse(readFileSync(out, 'utf8')) as Plan
    expect({ code, steps }).toEqual({ code: 3, steps: [] })
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.every(({ why }) => why.includes('not read'))).toBe(true)
    expect(snapshot.account).toMatch(/^\d{12}$/)
    expect(stdout).toContain('nothing to approve')
  })

  it('shows whole what is sent to one node of a cohort, and in what the others differ', async () => {
    const file = (maxPods: number) =>
      ({
        family: 'AL2',
        file: { ...mainFile, readOnlyPort: 10255, maxPods },
        configz: { maxPods },
      }) as const
    const { stdout, read } = await plan(
      [
        { name: 'a', ...file(58) },
        { name: 'b', ...file(58) },
        { name: 'c', ...file(29) },
      ],
      ...gc,
    )
    const [first] = read().steps
    expect(stdout).toContain(
      `sends   on a, whole (SHA-256 ${first?.newSha256.slice(0, 12)}…), and the same on 1 more:`,
    )
    for (const line of first?.content.trimEnd().split('\n') ?? [])
      expect(stdout).toContain(`\n    ${line}\n`)
    expect(stdout).toContain('"readOnlyPort": 10255')
    expect(stdout).toContain('differs in maxPods; all')
  })

  it('plans what a rule found', async () => {
    const evictionHard = {
      'memory.available': '100Mi',
      'nodefs.available': '15%',
      'nodefs.inodesFree': '5%',
    }
    const sick = { file: { ...mainFile, evictionHard }, configz: { evictionHard } }
    const { code, read, stdout } = await plan([sick], '--rule', 'eviction-before-image-gc')
    expect(code).toBe(0)
    expect(read().cohorts[0]?.findings).toHaveLength(1)
    expect(stdout).toMatch(/for {5}findings [a-f0-9]{16}/)
  })
})

describe('highwater plan of other remedies', () => {
  const pause = 'eks/pause:3.10'
  const images = [
    idleImage('docker.io/library/a:1', 4),
    { ...idleImage(pause, 0), size: '300000', pinned: true },
  ]
  const host = { ...(fleetNode().host as object), containerd: { sandboxImage: pause } }

  it('prints how images are pruned, for how long, and what that costs', async () => {
    const { code, stdout, read } = await plan(
      [{ available: 28, images, record: { host } }],
      '--prune-images',
      '--to',
      '65',
    )
    expect(code).toBe(0)
    expect(read().steps[0]?.until).toMatchObject({ usedPercentAtMost: 65, imagesAtMost: 1 })
    expect(stdout).toContain('set     imageGCLowThresholdPercent: 65, for a while')
    expect(stdout).toMatch(/then\s+what\s+was\s+there\s+before\s+is\s+put\s+back/)
    expect(stdout).toContain('Each kubelet restarts twice')
  })

  it.each<[string, string[], RegExp]>([
    ['a target without pruning', ['--to', '60', ...gc], /it goes with --prune-images/],
    ['a target that is none', ['--prune-images', '--to', '99'], /from 1 to 98/],
    ['another change beside it', ['--prune-images', ...gc], /a plan of its own/],
  ])('refuses %s', async (_, args, message) => {
    const { code, stderr, out } = await plan([{}], ...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(existsSync(out)).toBe(false)
  })

  it('prints the whole of a log rotation file', async () => {
    const directives = (rotate: number) => ({
      patterns: ['/var/log/app/*.log'],
      daily: true,
      rotate,
    })
    const text = (rotate: number) => `/var/log/app/*.log {\n  daily\n  rotate ${rotate}\n}\n`
    const rotating = (rotate: number) => ({
      ...(fleetNode({ family: 'AL2' }).host as object),
      logrotate: [
        {
          path: '/etc/logrotate.d/app',
          sha256: hashOf(text(rotate)),
          directives: directives(rotate),
        },
      ],
    })
    const nodes = [5, 5, 50].map((rotate, index) => ({
      name: `n${index}`,
      family: 'AL2' as const,
      record: { host: rotating(rotate) },
    }))
    const { code, stdout } = await planBy(
      { logRotation: { '/etc/logrotate.d/app': { content: text(5) } } },
      nodes,
      '--rule',
      'log-rotation-drift',
    )
    expect(code).toBe(0)
    expect(stdout).toContain('Plan')
    expect(stdout).toMatch(/write {3}\/etc\/logrotate\.d\/app, whole/)
    expect(stdout).toContain('      rotate 5\n')
    expect(stdout).toContain('restart Nothing restarts')
  })
})

describe('highwater audit --plan', () => {
  it('makes a plan of all that can be fixed, beside the report, of the chosen nodes', async () => {
    const evictionHard = {
      'memory.available': '100Mi',
      'nodefs.available': '15%',
      'nodefs.inodesFree': '5%',
    }
    const sick = (name: string) =>
      fleetNode({ name, file: { ...mainFile, evictionHard }, configz: { evictionHard } })
    const folder = temporaryFolder()
    const policy = join(folder, 'highwater.yaml')
    writeFileSync(policy, '{}')
    const args = [
      'audit',
      '--snapshot',
      snapshotOf([sick('a'), sick('b')]),
      '--policy',
      policy,
      '--out',
      folder,
      '--node',
      'a',
    ]
    expect((await inProcess(args)).code).toBe(0)
    expect(existsSync(join(folder, 'plan.json'))).toBe(false)
    expect((await inProcess([...args, '--plan'])).code).toBe(0)
    const { steps, digest } = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as Plan
    expect(steps.map(({ node }) => node)).toEqual(['a'])
    for (const name of ['report.html', 'email.txt'])
      expect(readFileSync(join(folder, name), 'utf8')).toContain(digest)
  })
})

describe('highwater approve', () => {
  const approve = (file: string, ...args: string[]) => inProcess(['approve', file, ...args])

  it('writes the approval beside the plan, for a day unless said', async () => {
    const { out, read } = await plan([{}], ...gc)
    const { code, stdout, stderr } = await approve(
      out,
      '--digest',
      read().digest,
      '--by',
      'Ada Lovelace',
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const file = out.replace('.json', '.approval.json')
    const approval = JSON.parse(readFileSync(file, 'utf8')) as Approval
    expect(approval).toMatchObject({
      schema: 'highwater.approval/1',
      plan: read().digest,
      by: 'Ada Lovelace',
      identity: expect.stringMatching(/^\S+ \(uid \d+\) on \S+$/),
      seal: expect.stringMatching(/^[\w+/]{43}=$/),
      options: { allowActAtOnce: false },
    })
    expect(Date.parse(approval.until) - Date.parse(approval.at)).toBe(24 * 3_600_000)
    expect(stdout).toContain(file)
  })

  it.each(['a folder', 'a bucket'])(
    'keeps plan and approval in %s, too, where it is asked to',
    async kind => {
      const storeFolder = temporaryFolder()
      if (kind === 'a bucket') {
        await labOf([recorded], { storeFolder })
        vi.stubEnv('HIGHWATER_APPROVAL_KEY_ID', labApprovalKey)
        onTestFinished(() => void vi.unstubAllEnvs())
      }
      const { out, read } = await plan([{}], ...gc)
      const { digest } = read()
      const place = kind === 'a bucket' ? 's3://highwater-lab/eks' : storeFolder
      const { code, stdout, stderr } = await approve(
        out,
        '--digest',
        digest,
        '--by',
        'Ada Lovelace',
        '--store',
        place,
      )
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain(`Kept with its plan: ${place}/remediation/approvals/${digest}.json`)
      const folder = join(
        kind === 'a bucket' ? join(storeFolder, 'highwater-lab', 'eks') : storeFolder,
        'remediation',
      )
      expect(readFileSync(join(folder, 'approvals', `${digest}.json`), 'utf8')).toBe(
        readFileSync(out.replace('.json', '.approval.json'), 'utf8'),
      )
      expect(readFileSync(join(folder, 'plans', `${digest}.json`), 'utf8')).toBe(
        readFileSync(out, 'utf8'),
      )
    },
  )

  it.each<[string, (digest: string) => string[], RegExp]>([
    [
      'a person who calls himself policy',
      digest => ['--digest', digest, '--by', ' Policy '],
      /Only the policy approves/,
    ],
    [
      'a store that is none',
      digest => ['--digest', digest, '--by', 'Ada', '--store', 'ftp://x'],
      /"ftp:\/\/x" is no store/,
    ],
    ['a foreign digest', () => ['--digest', 'f'.repeat(64), '--by', 'Ada'], /for another plan/],
    [
      'an end in the past',
      digest => ['--digest', digest, '--by', 'Ada', '--until', '2020-01-01T00:00:00Z'],
      /expired at 2020/,
    ],
    ['no time', digest => ['--digest', digest, '--by', 'Ada', '--until', 'tomorrow'], /is no time/],
    ['no name', digest => ['--digest', digest], /--by/],
  ])('refuses %s', async (_, args, message) => {
    const { out, read } = await plan([{}], ...gc)
    const { code, stderr } = await approve(out, ...args(read().digest))
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(existsSync(out.replace('.json', '.approval.json'))).toBe(false)
  })

  it('refuses a plan that was changed, and a file that is none', async () => {
    const { out, read } = await plan([{}], ...gc)
    const { digest } = read()
    writeFileSync(out, readFileSync(out, 'utf8').replace('"unchanged": 0', '"unchanged": 1'))
    expect(await approve(out, '--digest', digest, '--by', 'Ada')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('was changed after'),
    })
    expect(await approve('/no/such/plan', '--digest', digest, '--by', 'Ada')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be read'),
    })
  })

  it('needs a word of its own for a plan that evicts at once, and the plan says it', async () => {
    const { out, read, stdout } = await plan(
      [{ available: 20 }],
      '--set',
      'evictionHard.nodefs.available=30%',
      '--allow-act-at-once',
    )
    const { digest } = read()
    expect(stdout).toContain('--allow-act-at-once')
    expect(await approve(out, '--digest', digest, '--by', 'Ada')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('evict at once'),
    })
    expect(
      await approve(out, '--digest', digest, '--by', 'Ada', '--allow-act-at-once'),
    ).toMatchObject({ code: 0 })
  })
})
