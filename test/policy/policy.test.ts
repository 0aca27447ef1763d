import { describe, expect, it } from 'vitest'
import { defaultPolicy } from '#model/policy.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { parsePolicy } from '#policy/parse.ts'

describe('parsePolicy', () => {
  it.each(['', '# nothing decided yet\n', '{}'])(
    'gives every default for an empty policy: %j',
    text => {
      expect(parsePolicy(text, 'highwater.yaml', policyTerms)).toEqual(defaultPolicy)
    },
  )

  it.each([
    ['[{ regions: [eu-west-1, eu-west-1] }]', /accounts\.0\.regions: each region once/],
    [
      '[{ roleArn: null }, { roleArn: null }]',
      /accounts\.1: accounts\.0 is the same role in the caller’s own region: name it once/,
    ],
    [
      '[{ regions: [eu-west-1, us-east-1] }, { regions: [us-east-1] }]',
      /accounts\.1: accounts\.0 is the same role in us-east-1/,
    ],
  ])('refuses accounts that name a place twice: %s', (accounts, message) => {
    expect(() => parsePolicy(`accounts: ${accounts}`, 'highwater.yaml', policyTerms)).toThrow(
      message,
    )
  })

  it('takes a region twice where the roles are two', () => {
    const accounts =
      "[{ regions: [us-east-1] }, { roleArn: 'arn:aws:iam::111122223333:role/highwater', regions: [us-east-1] }]"
    expect(
      parsePolicy(`accounts: ${accounts}`, 'highwater.yaml', policyTerms).accounts,
    ).toHaveLength(2)
  })

  it('takes YAML with every key', () => {
    const policy = parsePolicy(
      `
accounts:
  - roleArn: arn:aws:iam::111122223333:role/highwater
    externalId: our-id
    regions: [eu-west-1, us-gov-west-1]
clusters: { names: [prod-*], tags: { team: shop } }
alertPercent: 75
assumedGrowthPercent: 3
severities: { image-gc-due: info }
waivers:
  - { rule: peer-drift, match: { cluster: prod }, until: 2026-12-31, reason: replaced in December }
pace: { requestsPerSecond: 20 }
modes:
  - match: { cluster: 'edge-*' }
    mode: ssm
  - mode: both
inspectOutput: { bucket: our-bucket, prefix: nodes/ }
timeoutsMs: { inspect: 60000 }
report:
  onlyOnChange: true
  owners: [{ name: payments, match: { tags: { team: pay* } }, recipients: [payments@example.com] }]
  unsubscribe: { url: 'https://lists.example.com/stop?list=a&b=c', oneClick: true }
logRotation:
  /etc/logrotate.d/app: { directives: { rotate: 5, size: 100M, copytruncate: true, compress: false } }
  /etc/logrotate.conf: { sha256: ${'a1'.repeat(32)} }
`,
      'highwater.yaml',
      policyTerms,
    )
    expect(policy).toMatchObject({
      accounts: [{ externalId: 'our-id', regions: ['eu-west-1', 'us-gov-west-1'] }],
      clusters: { names: ['prod-*'], tags: { team: 'shop' } },
      alertPercent: 75,
      severities: { 'image-gc-due': 'info' },
      waivers: [
        {
          rule: 'peer-drift',
          match: { cluster: 'prod' },
          until: '2026-12-31',
          reason: 'replaced in December',
        },
      ],
      pace: { requestsPerSecond: 20, concurrency: 20, clusters: 16, ssmRequestsPerSecond: 5 },
      modes: [
        { match: { cluster: 'edge-*' }, mode: 'ssm' },
        { match: {}, mode: 'both' },
      ],
      inspectOutput: { bucket: 'our-bucket', prefix: 'nodes/' },
      timeoutsMs: { list: 30_000, inspect: 60_000 },
      report: {
        recipients: null,
        onlyOnChange: true,
        owners: [
          {
            name: 'payments',
            match: { tags: { team: 'pay*' } },
            recipients: ['payments@example.com'],
            onlyOnChange: false,
          },
        ],
        unsubscribe: {
          mailto: null,
          url: 'https://lists.example.com/stop?list=a&b=c',
          oneClick: true,
        },
      },
      logRotation: {
        '/etc/logrotate.d/app': {
          sha256: null,
          content: null,
          directives: { rotate: 5, size: '100M', copytruncate: true, compress: false },
        },
        '/etc/logrotate.conf': { sha256: 'a1'.repeat(32), directives: {} },
      },
    })
  })

  it('takes one level of the team’s alert, or two', () => {
    const levels = (text: string) => {
      const { alertPercent, criticalAlertPercent } = parsePolicy(text, 'p.yaml', policyTerms)
      return [alertPercent, criticalAlertPercent]
    }
    expect(levels('alertPercent: { warning: 75, critical: 90 }')).toEqual([75, 90])
    expect(levels('alertPercent: 75')).toEqual([75, undefined])
    const isAssumed = (text: string) => parsePolicy(text, 'p.yaml', policyTerms).isAlertAssumed
    expect([isAssumed('alertPercent: 80'), isAssumed('')]).toEqual([undefined, true])
    expect(() => levels('alertPercent: { warning: 75, critical: 900 }')).toThrow(
      /p\.yaml:1:40: alertPercent\.critical: .*100/,
    )
  })

  it('names every mistake with its line', () => {
    const text =
      'alertPercent: 800\nwaivers:\n  - rule: peer-drift\n    until: tomorrow\n    reason: ""\nalertPrecent: 70\n'
    expect(() => parsePolicy(text, 'team.yaml', policyTerms)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(
          /team\.yaml:1:15: alertPercent: .*100[\s\S]*team\.yaml:4:12: waivers\.0\.until: a day[\s\S]*waivers\.0\.reason[\s\S]*alertPrecent/,
        ),
      }),
    )
  })

  it.each([
    ['maxPods', 1, 'auto.fields.0: Invalid option'],
    ['evictionHard', 0, 'auto.nodesPerDay: Too small'],
  ])(
    'takes for what is approved without a person only what a plan may change, and a limit: %s, %i',
    (field, nodes, reason) => {
      const text = `remediation: { auto: { fields: [${field}], clusters: ['*'], nodesPerDay: ${nodes} } }`
      expect(() => parsePolicy(text, 'team.yaml', policyTerms)).toThrow(
        new RegExp(`^team\\.yaml:1:\\d+: remediation\\.${reason}`),
      )
    },
  )

  it.each([
    ['requiredImages', '[IT]', '"*a*b*"', 'Too big'],
    ['criticalPods', '[IT]', '"*a*b*"', 'Too big'],
    ['reachableRegistries', '[IT]', '"*a*b*"', 'Too big'],
    ['requiredImages', '["IT"]', '*a', 'Too big'],
    ['logRotation', '{IT}', '"/aID": {}', 'at most 200 names'],
    ['requiredImageSources', '{IT}', '"ID*": h.example.com/a', 'at most 200 names'],
  ])('bounds %s: %s', (key, form, item, reason) => {
    const text = (count: number) => {
      const items = Array.from({ length: count }, (_, index) => item.replace('ID', String(index)))
      return `${key}: ${form.replace('IT', items.join(form.includes('"') ? '' : ', '))}`
    }
    expect(() => parsePolicy(text(200), 'team.yaml', policyTerms)).not.toThrow()
    expect(() => parsePolicy(text(300), 'team.yaml', policyTerms)).toThrow(reason)
  })

  it('bounds baseline', () => {
    const text = (count: number) =>
      `baseline: [${Array(count).fill('{ configuration: { maxPods: 29 } }').join(', ')}]`
    expect(() => parsePolicy(text(1_000), 'team.yaml', policyTerms)).not.toThrow()
    expect(() => parsePolicy(text(1_001), 'team.yaml', policyTerms)).toThrow('Too big')
  })

  it.each([
    ['logRotation: { app: {} }', 'app: Invalid key'],
    [
      'logRotation: { /etc/logrotate.d/app: { sha256: A1 } }',
      'a SHA-256 in lower-case hexadecimal',
    ],
    [
      'logRotation: { /etc/logrotate.d/app: { directives: { Rotate 5: true } } }',
      'Rotate 5: Invalid key',
    ],
  ])('refuses %s', (text, reason) => {
    expect(() => parsePolicy(text, 'team.yaml', policyTerms)).toThrow(
      new RegExp(`^team\\.yaml:.*logRotation.*${reason}`),
    )
  })

  it.each([
    [
      '{ owners: [{ name: Pay, match: {}, recipients: [a@example.com] }] }',
      'owners.0.name: up to 40 lower-case letters',
    ],
    [
      '{ owners: [{ name: ../up, match: {}, recipients: [a@example.com] }] }',
      'owners.0.name: up to 40 lower-case letters',
    ],
    ['{ owners: [{ name: pay, recipients: [a@example.com] }] }', 'owners.0.match: '],
    [
      '{ owners: [{ name: pay, match: { nodegroups: [x] }, recipients: [a@example.com] }] }',
      'owners.0.match: Unrecognized key: "nodegroups"',
    ],
    ['{ owners: [{ name: pay, match: {}, recipients: [] }] }', 'owners.0.recipients: '],
    [
      '{ owners: [{ name: pay, match: {}, recipients: ["a\\0@example.com"] }] }',
      'owners.0.recipients.0: an e-mail address',
    ],
    [
      '{ owners: [&one { name: pay, match: {}, recipients: [a@example.com] }, *one] }',
      'owners: each owner has a name of its own',
    ],
    [
      "{ unsubscribe: { url: 'http://lists.example.com' } }",
      'unsubscribe.url: an https:// address',
    ],
    [
      "{ unsubscribe: { url: 'https://lists.example.com/>,<mailto:x@example.com' } }",
      'unsubscribe.url: an https:// address',
    ],
    ['{ unsubscribe: { oneClick: true } }', 'unsubscribe.oneClick: one click needs a url'],
    ['{ unsubscribe: { mailto: nobody } }', 'unsubscribe.mailto: an e-mail address'],
    ['{ bouncesTo: nobody }', 'bouncesTo: an e-mail address'],
    ['{ bouncesTo: "a\\0@example.com" }', 'bouncesTo: an e-mail address'],
    ['{ bouncesTo: "a\\u3164@example.com" }', 'bouncesTo: an e-mail address'],
    ['{ bouncesTo: "a@ex\u0430mple.com" }', 'bouncesTo: an e-mail address'],
  ])('refuses the report %s', (report, reason) => {
    expect(() => parsePolicy(`report: ${report}`, 'team.yaml', policyTerms)).toThrow(
      `report.${reason}`,
    )
  })

  it('takes sources of images: whole references, or repositories that keep the tag of the name', () => {
    const digest = `mirror.example/b@sha256:${'a'.repeat(64)}`
    const text = `requiredImageSources: { 'quay.io/a/*': 'mirror.example:5000/a/b', quay.io/b:1: 'mirror.example/b:1', quay.io/c:1: '${digest}' }`
    expect(parsePolicy(text, 'team.yaml', policyTerms).requiredImageSources).toEqual({
      'quay.io/a/*': 'mirror.example:5000/a/b',
      'quay.io/b:1': 'mirror.example/b:1',
      'quay.io/c:1': digest,
    })
  })

  it.each([
    ["{ quay.io/b:1: 'mirror.example/b:1; reboot' }", 'a whole reference'],
    ['{ quay.io/b:1: --all }', 'a whole reference'],
    ['{ quay.io/b:1: b }', 'a whole reference'],
    ["{ 'quay.io/*': 'mirror.example/b:1' }", 'takes host/repository without a tag'],
  ])('refuses as sources of images %s', (sources, reason) => {
    const text = `requiredImageSources: ${sources}`
    expect(() => parsePolicy(text, 'team.yaml', policyTerms)).toThrow(
      new RegExp(`^team\\.yaml:.*requiredImageSources.*${reason}`),
    )
  })

  it('refuses rules that there are not: such a waiver would waive nothing, without a word', () => {
    const text =
      'severities: { image-gc-duee: info }\nwaivers:\n  - { rule: pear-drift, until: 2026-12-31, reason: x }\n'
    expect(() => parsePolicy(text, 'team.yaml', policyTerms)).toThrowErrorMatchingSnapshot()
  })

  it('takes mode kubelet only with somebody whose token kubelets may see', () => {
    const parsed = (kubelet: string) => () =>
      parsePolicy(`modes: [{ mode: kubelet }]\nkubelet: ${kubelet}\n`, 'team.yaml', policyTerms)
    const role = 'arn:aws:iam::111122223333:role/highwater-kubelet'
    expect(parsed('{}')).toThrowErrorMatchingSnapshot()
    expect(parsed(`{ roleArn: '${role}', useOwnToken: true }`)).toThrow(/not both/)
    expect(parsed(`{ roleArn: '${role}' }`)().kubelet).toEqual({
      roleArn: role,
      useOwnToken: false,
    })
    expect(parsed('{ useOwnToken: true }')().modes).toEqual([{ match: {}, mode: 'kubelet' }])
  })

  it('takes windows in which nodes may be changed, on every day unless said', () => {
    const text =
      "remediation: { windows: [{ from: '22:00', to: '04:00', timezone: Europe/Berlin }, { days: [sat], from: 00:00, to: 24:00, timezone: UTC }] }"
    expect(parsePolicy(text, 'team.yaml', policyTerms).remediation.windows).toEqual([
      {
        days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
        from: '22:00',
        to: '04:00',
        timezone: 'Europe/Berlin',
      },
      { days: ['sat'], from: '00:00', to: '24:00', timezone: 'UTC' },
    ])
  })

  it.each([
    ['{ from: 24:00, to: 04:00, timezone: UTC }', 'from: a time of day'],
    ['{ from: 9:00, to: 17:00, timezone: UTC }', 'from: a time of day'],
    ['{ from: 09:00, to: 24:01, timezone: UTC }', 'to: a time of day'],
    ['{ from: 09:00, to: 09:00, timezone: UTC }', 'to: a window ends later'],
    ['{ from: 09:00, to: 17:00, timezone: Berlin }', 'timezone: a time zone as Europe/Berlin'],
    ['{ from: 09:00, to: 17:00 }', 'timezone: '],
    ['{ days: [], from: 09:00, to: 17:00, timezone: UTC }', 'days: '],
    ['{ days: [Monday], from: 09:00, to: 17:00, timezone: UTC }', 'days.0: '],
  ])('refuses the window %s', (window, reason) => {
    expect(() =>
      parsePolicy(`remediation: { windows: [${window}] }`, 'team.yaml', policyTerms),
    ).toThrow(`remediation.windows.0.${reason}`)
  })

  it('names each value of a baseline with which no kubelet would start', () => {
    const text = `baseline:
  - configuration: { imageGCHighThresholdPercent: "70", imageGCLowThresholdPercent: [1], maxPods: x, containerLogMaxFiles: -3 }
  - configuration:
      featureGates: { Bogus: true, AllAlpha: "yes" }
      evictionHard: { nope: 3, memory.available: 5% }
      imageGcHigh: 70
`
    const mistakes = [
      'team.yaml:2:51: baseline.0.configuration.imageGCHighThresholdPercent: expected a whole number',
      'team.yaml:2:85: baseline.0.configuration.imageGCLowThresholdPercent: expected a whole number',
      'team.yaml:2:99: baseline.0.configuration.maxPods: expected a whole number',
      'team.yaml:2:124: baseline.0.configuration.containerLogMaxFiles: expected a number from 2',
      'team.yaml:4:46: baseline.1.configuration.featureGates.AllAlpha: expected true or false',
      'team.yaml:5:29: baseline.1.configuration.evictionHard.nope: expected text',
      'team.yaml:6:20: baseline.1.configuration.imageGcHigh: expected a KubeletConfiguration field',
    ]
    expect(() => parsePolicy(text, 'team.yaml', policyTerms)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(mistakes.join('\n')) }),
    )
  })

  it('takes null in a baseline for an unset field', () => {
    const text =
      'baseline: [{ configuration: { maxPods: null, evictionHard: { pid.available: null } } }]'
    expect(parsePolicy(text, 'team.yaml', policyTerms).baseline).toEqual([
      { match: {}, configuration: { maxPods: null, evictionHard: { 'pid.available': null } } },
    ])
  })

  const waiver =
    'waivers: [{ rule: peer-drift, until: 2026-12-31, reason: REASON, match: { kind: KIND } }]'
  it.each([
    [
      waiver.replace('REASON', '"  "').replace('KIND', 'Nodegroup'),
      /^team\.yaml:1:58: waivers\.0\.reason: .*in words/,
    ],
    [
      waiver.replace('REASON', 'x').replace('KIND', 'nodegroup'),
      /^team\.yaml:1:76: waivers\.0\.match\.kind: .*"Nodegroup"/,
    ],
    ['severities: { __proto__: low }', /^team\.yaml:1:15: severities\.__proto__: /],
    [
      'severities: { peer-drift: low, "__proto__": { info: low } }',
      /^team\.yaml:1:32: severities\.__proto__: /,
    ],
    ['pace:\n  __proto__: { clusters: 2 }\n', /^team\.yaml:2:3: pace\.__proto__: /],
    [
      'baseline:\n  - configuration:\n      evictionHard: { __proto__: 5% }\n',
      /^team\.yaml:3:23: baseline\.0\.configuration\.evictionHard\.__proto__: /,
    ],
    ['__proto__: {}', /^team\.yaml:1:1: __proto__: /],
  ])('refuses slips that would do nothing, without a word: %s', (text, message) => {
    expect(() => parsePolicy(text, 'team.yaml', policyTerms)).toThrow(message)
  })

  it('names mistakes beside a key that stands twice, in the order of the file', () => {
    const text = 'modes: []\nmodes: []\nwaivers:\n  - rule: peer-drfit\n    until: 2026-12-31\n'
    expect(() => parsePolicy(text, 'team.yaml', policyTerms)).toThrow(
      [
        'team.yaml:2:1: modes: Map keys must be unique',
        'team.yaml:4:5: waivers.0.reason: reason is missing',
        'team.yaml:4:11: waivers.0.rule: No such name. Did you mean peer-drift?',
      ].join('\n'),
    )
  })

  it('refuses a key that stands twice', () => {
    expect(() =>
      parsePolicy('pace:\n  clusters: 2\n  clusters: 3\n', 'team.yaml', policyTerms),
    ).toThrow('team.yaml:3:3: pace.clusters')
  })

  it.each<[string, string]>([
    ['keys', Array.from({ length: 30_000 }, (_, index) => `k${index.toString(36)}: 1`).join('\n')],
    ['keys that stand twice', 'a: 1\n'.repeat(50_000)],
    ['slips', `waivers: [${Array(60_000).fill('{}').join()}]`],
    ['YAML errors', 'a: b: c\n'.repeat(30_000)],
  ])('takes a moment and a page for very many %s', (_, text) => {
    const begun = process.cpuUsage()
    let message = ''
    try {
      parsePolicy(text, 'team.yaml', policyTerms)
    } catch (error) {
      message = String(error)
    }
    // In quadratic time the keys take half a minute.
    expect(process.cpuUsage(begun).user / 1e6).toBeLessThan(15)
    expect(message).toContain('team.yaml')
    expect(message.length).toBeLessThan(200_000)
  })

  it('says where the YAML itself is broken', () => {
    expect(() => parsePolicy('clusters: [prod', 'team.yaml', policyTerms)).toThrow(
      /^team\.yaml:1:\d+: /,
    )
  })
})
