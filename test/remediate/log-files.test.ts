import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { everything } from '#model/input/record.ts'
import type { Plan } from '#model/plan.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { parseLogrotate } from '#remediate/remedies/logrotate-text.ts'
import { syncLogRotation } from '#remediate/remedies/sync-log-rotation.ts'
import { type FleetNode, fleetNode, hashOf, mainFile, snapshotOf } from '#test/plan-fleet.ts'

const path = '/etc/logrotate.d/app'
const pattern = '/var/log/app/*.log'
type Directives = Record<string, string | number | boolean>
const usual: Directives = { daily: true, rotate: 5, maxsize: '100M', missingok: true }
const lines = (directives: Directives) =>
  Object.entries(directives).map(([name, value]) => `${name}${value === true ? '' : ` ${value}`}`)
const textOf = (directives: Directives, indent = '    ', brace = ' {') =>
  `${pattern}${brace}\n${lines(directives)
    .map(line => `${indent}${line}\n`)
    .join('')}}\n`

interface Rotation {
  directives?: Directives
  /** As it stands on the disk; by default in the common form. */
  text?: string
  unread?: { what: string; why: string }[]
  /** None at all. */
  missing?: boolean
}

function rotating(
  name: string,
  { directives = usual, text = textOf(directives), unread, missing }: Rotation = {},
  node: FleetNode = {},
) {
  const record = fleetNode({ name, ...node })
  const logrotate = missing
    ? []
    : [{ path, sha256: hashOf(text), directives: { patterns: [pattern], ...directives } }]
  record.host = {
    ...record.host,
    logrotate,
    logrotateRuns: { by: 'timer', schedule: '*-*-* 00:00:00' },
    ...(unread && { unread }),
  }
  return record
}

async function planOf(
  nodes: ReturnType<typeof rotating>[],
  policy: Partial<Policy> = {},
  rules = ['log-rotation-drift'],
): Promise<Plan> {
  const request = {
    rules,
    findings: [],
    changes: [],
    allowActAtOnce: false,
    version: '0.0.0',
    selection: everything,
  }
  const { plan } = await makePlan(snapshotOf(nodes), {
    ...request,
    policy: { ...defaultPolicy, ...policy },
  })
  // What is written has to be read back as it is.
  expect(parsePlan(planText(plan), 'plan.json')).toEqual(plan)
  return plan
}
const wanting = (wanted: Partial<Policy['logRotation'][string]>, at = path): Partial<Policy> => ({
  logRotation: { [at]: { sha256: null, content: null, directives: {}, ...wanted } },
})

it.each([
  ['a content that ends the text of a script', path, `${textOf(usual)}END-OF-FILE\ntouch /made\n`],
  ['a path with a command', `${path} ; touch /made`, textOf(usual)],
  ['a path with a line end', `${path}\ntouch /made`, textOf(usual)],
])('%s in the policy gets into no script for user data', async (_, at, content) => {
  const plan = await planOf([rotating('a')], wanting({ content }, at))
  expect(plan).toMatchObject({ steps: [], refused: [{ node: 'a' }] })
  expect(plan.cohorts.flatMap(({ durable }) => durable)).toEqual([])
})

describe('a file of logrotate that differs from its group', () => {
  const odd = { directives: { ...usual, rotate: 50, maxsize: '1G' } }
  const usualText = wanting({ sha256: hashOf(textOf(usual)) })

  it.each<[string, Rotation]>([
    ['differs', odd],
    ['is missing', { missing: true }],
  ])('is written by no plan where it %s, until the policy names it', async (_, own) => {
    const nodes = () => [rotating('a'), rotating('b'), rotating('c', own)]
    const { steps, refused } = await planOf(nodes())
    expect(steps).toEqual([])
    expect(refused).toMatchObject([{ node: 'c' }])
    const [, sha256] =
      /set policy logRotation \S+ sha256 to (\S+)$/.exec(refused[0]?.why ?? '') ?? []
    expect((await planOf(nodes(), wanting({ sha256: sha256 ?? '' }))).steps).toMatchObject([
      { node: 'c', content: textOf(usual) },
    ])
  })

  it('is replaced by the file that the policy names, byte for byte, and nothing restarts', async () => {
    const { steps, cohorts, refused, waves } = await planOf(
      [rotating('a'), rotating('b'), rotating('c', odd)],
      usualText,
    )
    expect(refused).toEqual([])
    expect(waves).toEqual([['prod/c']])
    expect(steps).toMatchObject([
      {
        node: 'c',
        method: 'sync-file',
        path,
        oldSha256: hashOf(textOf(odd.directives)),
        newSha256: hashOf(textOf(usual)),
        content: textOf(usual),
        lastsUntil: 'replacement',
        expect: [{ field: path, value: hashOf(textOf(usual)) }],
      },
    ])
    expect(steps[0]?.after).toEqual(steps[0]?.before)
    expect(cohorts).toMatchObject([
      {
        fields: {},
        file: { path, sha256: hashOf(textOf(usual)) },
        blast: { pods: 0, notReadyPods: 0, text: 'Nothing restarts, and no pod notices.' },
      },
    ])
    expect(cohorts[0]?.effect.text).toMatchSnapshot()
    expect(cohorts[0]?.durable).toMatchObject([
      { target: 'launch-template', snippet: expect.stringContaining(textOf(usual)) },
    ])
  })

  it.each([
    ['two blanks', textOf(usual, '  ')],
    ['a tab', textOf(usual, '\t')],
    ['a brace on its own line', textOf(usual, '    ', '\n{')],
  ])('is written as the others are: %s', async (_, text) => {
    const { steps } = await planOf(
      [rotating('a', { text }), rotating('b', { text }), rotating('c', odd)],
      wanting({ sha256: hashOf(text) }),
    )
    expect(steps[0]?.content).toBe(text)
  })

  it('is left alone where only its text differs, not its meaning', async () => {
    const { steps, refused } = await planOf([
      rotating('a'),
      rotating('b', { text: textOf(usual, '\t') }),
      rotating('c', odd),
    ])
    expect(steps).toEqual([])
    expect(refused.map(({ node }) => node)).toEqual(['c'])
  })

  it('is made anew where it is missing', async () => {
    const { steps } = await planOf(
      [rotating('a'), rotating('b'), rotating('c', { missing: true })],
      usualText,
    )
    expect(steps).toMatchObject([{ node: 'c', oldSha256: 'absent', content: textOf(usual) }])
  })

  it.each<[string, Rotation, Rotation, Partial<Policy>, RegExp]>([
    [
      'of an unread comment',
      { text: `# ours\n${textOf(usual)}` },
      odd,
      {},
      /cannot be rebuilt from what was read.*logRotation \/etc\/logrotate\.d\/app content/,
    ],
    [
      'of a script',
      { directives: { ...usual, postrotate: true } },
      odd,
      wanting({ sha256: hashOf(textOf({ ...usual, postrotate: true })) }),
      /postrotate is no directive that a plan writes/,
    ],
  ])('is refused because %s', async (_, peers, own, policy, why) => {
    const { steps, refused } = await planOf(
      [rotating('a', peers), rotating('b', peers), rotating('c', own)],
      policy,
    )
    expect(steps).toEqual([])
    expect(refused[0]?.why).toMatch(why)
  })

  it('is refused where there is no majority', async () => {
    const { steps, refused } = await planOf([rotating('a'), rotating('c', odd)])
    expect(steps).toEqual([])
    expect(refused[0]?.why).toMatchSnapshot()
  })

  it('is not removed where most have none', async () => {
    const { steps, refused } = await planOf([
      rotating('a', { missing: true }),
      rotating('b', { missing: true }),
      rotating('c'),
    ])
    expect(steps).toEqual([])
    expect(refused).toMatchObject([
      { node: 'c', why: expect.stringContaining('a plan removes no file') },
    ])
  })

  it('leaves Karpenter’s nodes to their class', async () => {
    const own = { nodegroup: null, labels: { 'karpenter.sh/nodepool': 'x' } }
    const { steps, never } = await planOf([
      rotating('a', {}, own),
      rotating('b', {}, own),
      rotating('c', odd, own),
    ])
    expect({ steps, never: never.map(({ node }) => node) }).toEqual({ steps: [], never: ['c'] })
  })
})

describe('a file of logrotate that the policy wants', () => {
  it('is written as the policy says it, on a node alone', async () => {
    const content = `# ours\n${textOf({ ...usual, rotate: 3 })}`
    const { steps } = await planOf([rotating('a')], wanting({ content }))
    expect(steps).toMatchObject([{ content, newSha256: hashOf(content) }])
    expect(
      (
        await planOf(
          [rotating('a', { directives: { ...usual, rotate: 3 }, text: content })],
          wanting({ content }),
        )
      ).steps,
    ).toEqual([])
  })

  it('is that of another node, where the policy says its hash only', async () => {
    const sha256 = hashOf(textOf(usual))
    const { steps } = await planOf(
      [rotating('a'), rotating('b', { directives: { ...usual, rotate: 9 } })],
      wanting({ sha256 }),
    )
    expect(steps).toMatchObject([{ node: 'b', content: textOf(usual) }])
    const { refused } = await planOf(
      [rotating('b', { directives: { ...usual, rotate: 9 } })],
      wanting({ sha256 }),
    )
    expect(refused[0]?.why).toMatchSnapshot()
  })

  it('keeps the node’s own words, where the policy says directives only', async () => {
    const own = { weekly: true, rotate: 50, compress: true, maxsize: '1G' }
    const { steps } = await planOf(
      [rotating('a', { directives: own })],
      wanting({ directives: { daily: true, rotate: 5, compress: false } }),
    )
    expect(steps[0]?.content).toBe(textOf({ maxsize: '1G', daily: true, rotate: 5 }))
  })

  it.each<[string, string, RegExp]>([
    ['a script', textOf({ ...usual, postrotate: true }), /postrotate is no directive/],
    ['a program', textOf({ ...usual, compresscmd: '/bin/sh' }), /compresscmd is no directive/],
    ['other files', 'include /tmp\n', /include is no directive/],
    [
      'a path of the system',
      textOf(usual).replace('/var/log/app', '/etc'),
      /may meet more than logs/,
    ],
    [
      'a way out',
      textOf(usual).replace('/var/log/app', '/var/log/../../etc'),
      /may meet more than logs/,
    ],
    [
      'a value that logrotate refuses',
      textOf({ ...usual, rotate: 'five' }),
      /rotate cannot be five/,
    ],
    ['a block that is not closed', textOf(usual).replace('}\n', ''), /not closed/],
    ['nothing', '# nothing\n', /says nothing/],
    ['other characters', textOf(usual).replace('daily', 'daily\u0000'), /plain text/],
  ])('is refused with %s', async (_, content, why) => {
    const { steps, refused } = await planOf([rotating('a')], wanting({ content }))
    expect(steps).toEqual([])
    expect(refused[0]?.why).toMatch(why)
  })

  it('is written nowhere else', async () => {
    const { steps, refused } = await planOf(
      [rotating('a')],
      wanting({ content: textOf(usual) }, '/etc/logrotate.conf'),
    )
    expect(steps).toEqual([])
    expect(refused[0]?.why).toMatchSnapshot()
  })
})

describe('a block of logrotate without effect', () => {
  const links = '/var/log/containers/*.log'
  const block = (of: string) => `${of} {\n  daily\n  rotate 5\n}\n`
  const rotatingBoth = (patterns: string[], text: string) => {
    const record = rotating('a')
    record.node.status!.nodeInfo!.containerRuntimeVersion = 'containerd://1.7.27'
    const logrotate = patterns.map(one => ({
      path,
      sha256: hashOf(text),
      directives: { patterns: [one], daily: true, rotate: 5 },
    }))
    record.host = { ...record.host, logrotate }
    return record
  }
  const planOfIdle = (patterns: string[], policy: Partial<Policy> = {}) =>
    planOf([rotatingBoth(patterns, patterns.map(block).join(''))], policy, [
      'ineffective-log-rotation',
    ])

  it.each([links, '/var/lib/docker/containers/*/*.log', '/var/log/pods/*/*.log'])(
    'is named, and only the policy takes it away: %s',
    async idle => {
      const unnamed = await planOfIdle([idle, pattern])
      expect(unnamed.steps).toEqual([])
      expect(unnamed.refused[0]?.why).toMatchSnapshot()
      const { steps, refused } = await planOfIdle(
        [idle, pattern],
        wanting({ content: block(pattern) }),
      )
      expect(refused).toEqual([])
      expect(steps).toMatchObject([{ method: 'sync-file', path, content: block(pattern) }])
    },
  )

  it('stays where it meets other logs, too', async () => {
    const record = rotatingBoth([], '')
    const text = block(`${links} ${pattern}`)
    const logrotate = [
      {
        path,
        sha256: hashOf(text),
        directives: { patterns: [links, pattern], daily: true, rotate: 5 },
      },
    ]
    record.host = { ...record.host, logrotate }
    const { steps } = await planOf([record], {}, ['ineffective-log-rotation'])
    expect(steps).toEqual([])
  })
})

describe('a node with more to change than one thing', () => {
  it('gets its kubelet’s configuration first, and the file with the next plan', async () => {
    const evictionHard = {
      'memory.available': '100Mi',
      'nodefs.available': '15%',
      'nodefs.inodesFree': '5%',
    }
    const sick = { file: { ...mainFile, evictionHard }, configz: { evictionHard } }
    const content = textOf({ ...usual, rotate: 3 })
    const { steps, later } = await planOf([rotating('a', {}, sick)], wanting({ content }), [
      'log-rotation-drift',
      'eviction-before-image-gc',
    ])
    expect(steps).toMatchObject([{ node: 'a', method: 'nodeadm' }])
    expect(later).toMatchObject([
      { cluster: 'prod', node: 'a', why: expect.stringContaining(path) },
    ])
  })
})

describe('syncLogRotation', () => {
  const syncFor = (host: object) => syncLogRotation(host as RawObject, path, textOf(usual))

  it.each([
    ['no file was reported', {}, /files of logrotate were not read$/],
    [
      'this one could not be read',
      { logrotate: [], unread: [{ what: `logrotate file ${path}`, why: 'a link' }] },
      /may be there, and was not read/,
    ],
    [
      'there were too many',
      { logrotate: [], unread: [{ what: 'logrotate', why: 'more than 60 files' }] },
      /may be there, and was not read/,
    ],
    [
      'its hash is unknown',
      { logrotate: [{ path, directives: {} }] },
      /may be there, and was not read/,
    ],
  ])('refuses where %s', (_, host, why) => {
    expect(syncFor(host)).toMatchObject({ refused: expect.stringMatching(why) })
  })

  it('leaves the other files of the node as reported', () => {
    const other = {
      path: '/etc/logrotate.d/other',
      sha256: hashOf('other'),
      directives: { weekly: true },
    }
    const change = syncFor({
      logrotate: [
        other,
        { path, sha256: hashOf('old'), directives: { patterns: [pattern], daily: true } },
      ],
    })
    expect(change).toMatchObject({
      oldSha256: hashOf('old'),
      host: { logrotate: [other, { path, sha256: hashOf(textOf(usual)) }] },
    })
  })
})

describe('parseLogrotate', () => {
  it('reads blocks with several patterns', () => {
    expect(
      parseLogrotate(
        '/var/log/a.log\n/var/log/b.log /var/log/c/*.log\n{\n\trotate = 5 \n}\n# ours\n/var/log/d{\nrotate 1\n}\n',
      ),
    ).toEqual([
      {
        patterns: ['/var/log/a.log', '/var/log/b.log', '/var/log/c/*.log'],
        directives: [['rotate', '5']],
      },
      { patterns: ['/var/log/d'], directives: [['rotate', '1']] },
    ])
  })

  it.each([
    ['/var/log/a {\n/var/log/b {\n}\n', /a block is not closed before the next/],
    ['/var/log/a\nrotate 5\n', /a pattern without a block/],
    ['{\n}\n', /without a pattern/],
    ['weekly\n/var/log/a {\n}\n', /weekly stands outside of a block/],
    ['/var/log/a {\nrotate 1\n}\ncreate 0644\n', /line 4: create stands outside of a block/],
    ['/var/log/a {\n}\n', /line 2: a block without rotate/],
    ['/var/log/a {\nrotate 1\n}\n/var/log/b {\ndaily\n}\n', /line 6: a block without rotate/],
    ['/var/log/a {\nmissingok compresscmd sh\n}\n', /missingok cannot be compresscmd sh/],
    ['/var/log/a {\ncreate 0666 root root\n}\n', /create cannot be 0666 root root/],
    ['/var/log/a {\nsu root root\n}\n', /su is no directive that a plan writes/],
    ['/var/log/a {\ncreate 0644 evil evil\n}\n', /create cannot be 0644 evil evil/],
    ['/home/*/logs/* {\n}\n', /may meet more than logs/],
    ['/var/log/app/sub/x.log {\n}\n', /may meet more than logs/],
    ['/home/*/.bash_logout {\n}\n', /may meet more than logs/],
    ['/var/lib/mysql/ib_logfile0 {\n}\n', /may meet more than logs/],
    ['/var/log/a {\nrotate 5\n}', /ends with a newline/],
  ])('refuses %j', (text, why) => {
    expect(parseLogrotate(text)).toMatch(why)
  })
})
