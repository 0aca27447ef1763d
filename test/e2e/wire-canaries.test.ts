/** No secret that a server answers reaches an output of a live run: canaries at the wire, looked for in all that is written. */

import '#test/short-waits.ts'
import { createSocket } from 'node:dgram'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { moreFormats } from '#model/format-id.ts'
import { Canaries, canariesIn } from '#test/canaries.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { inspectDocuments, withAgents } from '#test/inspected.ts'
import { labOf } from '#test/lab-audit.ts'
import { invoke, written } from '#test/lambda.ts'
import { RemediationLab } from '#test/remediation-lab.ts'
import { textsBelow } from '#test/texts.ts'
import { webhookServer } from '#test/webhook-server.ts'
import { tapWire, type Wire } from '#test/wire.ts'

const generous = { timeout: 240_000 }

/** Fields without which a client does not find the next answer. */
const keptFields = new Set(
  `name namespace uid generateName nodeName claimName volumeName nodegroupName clusterName cluster clusters nodegroups podSandboxId sha256
   certificateAuthority data kind apiVersion version groupVersion resourceVersion continue endpoint arn roleArn issuer
   nextToken NextToken CommandId InstanceId Status StatusDetails PingStatus PlatformType AgentVersion LastPingDateTime
   StandardOutputContent StandardOutputUrl Content Hash DocumentVersion id providerID status`.split(
    /\s+/,
  ),
)

const pace = { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 100 }

const refused = [
  /^eks GET \/clusters\/incidents\/node-groups\/general/,
  /^kubernetes GET \/api\/v1\/events/,
  /^kubernetes GET \/apis\/(?:storage|batch)/,
  /^kubernetes GET \/api\/v1\/nodes\/[^/]*1-[26]\d[^/]*\/proxy\/stats/,
  /^kubernetes GET \/api\/v1\/nodes\/[^/]*1-3\d[^/]*\/proxy\/configz/,
]

const planter = () => new Canaries(field => keptFields.has(field))

/** Raw user data and node scripts with canaries. */
function scenarioWith(canaries: Canaries): Scenario {
  const userData = (name: string) =>
    Buffer.from(
      `#!/bin/bash\nexport DB_PASSWORD=${canaries.next(name)}\nmysql -p'${canaries.next(name)}'\n/etc/eks/bootstrap.sh c --kubelet-extra-args '--max-pods=20 --node-labels=a=b,token=${canaries.next(name)}'\n`,
    ).toString('base64')
  const inspected = withAgents(incidents, answer => {
    const unread = Array.isArray(answer.host.unread) ? answer.host.unread : []
    const why = { what: 'kernel', why: canaries.next('ssm unread') }
    const logLines = [`E1118 kubelet.go:1] failed ${canaries.next('ssm log')}`]
    return { ...answer, host: { ...answer.host, logLines, unread: [...unread, why] } }
  })
  const launchTemplates = (incidents.launchTemplates ?? []).map(template => ({
    ...template,
    versions: template.versions.map(one => ({ ...one, userData: userData(template.id) })),
  }))
  return { ...inspected, launchTemplates }
}

interface Secrets {
  canaries: Canaries
  wire: Wire
  lab: Pick<Lab, 'environment'>
  /** Beside canaries and credentials. */
  more?: readonly string[]
}

/** Every output that holds a secret. An output without text fails the test. */
function leaksIn(
  outputs: readonly (readonly [string, string])[],
  { canaries, wire, lab, more = [] }: Secrets,
): string[] {
  for (const [name, text] of outputs) expect(text.length, name).toBeGreaterThan(0)
  const { AWS_SECRET_ACCESS_KEY: key = '' } = lab.environment
  expect(key.length).toBeGreaterThan(10)
  expect(wire.sent.size).toBeGreaterThan(5)
  const credentials = [...wire.sent, key, ...more].flatMap(secret => [
    secret,
    Buffer.from(secret).toString('base64').slice(0, -4),
  ])
  return outputs.flatMap(([name, text]) => [
    ...canariesIn(text).map(canary => `${name}: ${canary} of ${canaries.pathOf(canary)}`),
    ...credentials.filter(secret => text.includes(secret)).map(secret => `${name}: sent ${secret}`),
  ])
}

/** Programs have secrets in their environment. */
function plantEnvironment(canaries: Canaries): void {
  for (const name of ['DB_PASSWORD', 'GITHUB_TOKEN', 'AWS_SESSION_NOTE'])
    vi.stubEnv(name, canaries.next(`environment ${name}`))
  onTestFinished(() => void vi.unstubAllEnvs())
}

const policyOf = (more: object = {}) => ({
  modes: [{ match: {}, mode: 'both' }],
  pace,
  timeoutsMs: { inspect: 5000 },
  ...more,
})

it(
  'the commands of the terminal repeat no secret of a server, a policy or the environment',
  generous,
  async () => {
    const canaries = planter()
    const lab = await labOf([scenarioWith(canaries)], { documents: inspectDocuments })
    plantEnvironment(canaries)
    const wire = tapWire(canaries, { refused, every: 13 })
    const folder = temporaryFolder()
    const at = (name: string) => join(folder, name)
    const externalId = 'external-id-of-members'
    const accounts = [
      { roleArn: null },
      { roleArn: 'arn:aws:iam::444455556666:role/highwater', externalId },
    ]
    // JSON is YAML.
    writeFileSync(at('policy.yaml'), JSON.stringify(policyOf({ accounts })))
    writeFileSync(
      at('unknown.yaml'),
      `report:\n  smtpPassword: ${JSON.stringify(canaries.next('policy'))}\n`,
    )
    writeFileSync(
      at('broken.yaml'),
      `report: {\n  password: "${canaries.next('policy')}"\n token: [\n`,
    )
    const outputs = ['--outputs', moreFormats.join(','), '--all-nodes', '--plan']
    const audit = ['audit', '--policy', at('policy.yaml'), '--store', at('out/store')]
    const runs: Record<string, string[]> = {
      audit: [...audit, '--out', at('out/first'), ...outputs],
      again: [...audit, '--out', at('out/second'), '--format', 'markdown'],
      collect: ['collect', '--policy', at('policy.yaml'), '--out', at('out/collected.ndjson.gz')],
      doctor: ['doctor', '--policy', at('policy.yaml')],
      history: ['history', '--store', at('out/store')],
      unknown: ['audit', '--policy', at('unknown.yaml')],
      broken: ['audit', '--policy', at('broken.yaml')],
    }
    const printed: [string, string][] = []
    for (const [name, args] of Object.entries(runs)) {
      const { stdout, stderr } = await inProcess(args)
      printed.push([`${name} printed`, stdout + stderr])
    }
    const all = [...printed, ...textsBelow(at('out'))]
    expect(leaksIn(all, { canaries, wire, lab })).toEqual([])
    // Doctor prints the command that makes the role; no other output has its external id.
    const withExternalId = all.filter(([, text]) => text.includes(externalId))
    expect(withExternalId.map(([name]) => name)).toEqual(['doctor printed'])
    expect(all.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        '/first/report.html',
        '/first/findings.sarif',
        '/first/findings.ocsf.json',
        '/collected.ndjson.gz',
      ]),
    )
    for (const what of ['eks', 'kubernetes', 'ssm', 'ec2'])
      expect([...wire.changed.keys()]).toContain(`${what} planted`)
    for (const what of ['eks', 'kubernetes'])
      expect([...wire.changed.keys()]).toContain(`${what} refused`)
    expect(canaries.count).toBeGreaterThan(400)
    expect(canaries.isComplete).toBe(true)
    expect(all.filter(([, text]) => text.includes('(removed)')).length).toBeGreaterThan(5)
  },
)

it(
  'the function writes no secret to its bucket, its mails, its log or its traces',
  generous,
  async () => {
    const canaries = planter()
    const storeFolder = temporaryFolder()
    const lab = await labOf([scenarioWith(canaries)], { documents: inspectDocuments, storeFolder })
    plantEnvironment(canaries)
    const bucket = join(storeFolder, 'highwater-lab')
    mkdirSync(bucket, { recursive: true })
    const policy = policyOf({})
    writeFileSync(join(bucket, 'highwater.yaml'), JSON.stringify(policy))
    const [path, key, token] = ['CANARY99990pq', 'CANARY99991/rs', 'CANARY99992']
    const query = `key=${encodeURIComponent(key)}&token=${token}`
    const { url, bodies } = await webhookServer([
      {
        status: 404,
        body: `no POST /services/${path}?${query}: ${key} ${btoa(token)} ${encodeURIComponent(query)} ${canaries.next('webhook')}`,
        headers: { location: `https://localhost/${path}?${query}`, 'x-echo': token },
      },
    ])
    const daemon = createSocket('udp4')
    const traces: string[] = []
    daemon.on('message', message => traces.push(message.toString()))
    await new Promise<void>(bound => daemon.bind(0, '127.0.0.1', bound))
    onTestFinished(() => void daemon.close())
    const wire = tapWire(canaries, {
      refused: [...refused, /^ec2 /, /^ssm .*SendCommand/],
      every: 13,
    })

    const { text, outcome } = await written(() =>
      invoke(
        { source: 'highwater.schedule', scheduledTime: '2026-11-21T05:00:00Z' },
        {
          POWERTOOLS_LOG_LEVEL: 'DEBUG',
          POWERTOOLS_METRICS_DISABLED: 'false',
          HIGHWATER_WEBHOOK_HOSTS: 'localhost',
          HIGHWATER_WEBHOOK_URL: `${new URL(url).origin}/services/${path}?${query}`,
          AWS_XRAY_DAEMON_ADDRESS: `127.0.0.1:${(daemon.address() as AddressInfo).port}`,
          _X_AMZN_TRACE_ID:
            'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1',
        },
      ),
    )
    await vi.waitFor(() => expect(traces.length).toBeGreaterThan(4), { timeout: 20_000 })
    const answered = JSON.stringify(outcome, (_, value) =>
      value instanceof Error ? `${value.message} ${JSON.stringify(value)}` : value,
    )
    const all: [string, string][] = [
      ['log', text],
      ['answer', answered],
      [
        'mails',
        lab
          .mails()
          .map(mail => JSON.stringify(mail))
          .join('\n'),
      ],
      ['webhook', bodies.join('\n')],
      ['traces', traces.join('\n')],
      ...textsBelow(bucket),
    ]
    expect(leaksIn(all, { canaries, wire, lab, more: [path, key, token] })).toEqual([])
    expect(text).toContain('the webhook at localhost')
    expect(all.map(([name]) => name).join()).toMatch(/report\.html.*|snapshot\.ndjson\.gz/)
    for (const what of ['eks', 'kubernetes', 'ssm', 'ec2'])
      expect([...wire.changed.keys()]).toContain(`${what} refused`)
  },
)

it(
  'a remediation run writes no secret to its plan, its journal or the terminal',
  generous,
  async () => {
    const canaries = planter()
    const fleet = await RemediationLab.start({ nodes: 1 }, { wavePercents: [100] }, args =>
      inProcess(args),
    )
    onTestFinished(() => fleet.close())
    for (const [name, value] of Object.entries(fleet.lab.environment)) vi.stubEnv(name, value)
    plantEnvironment(canaries)
    // No canary in the texts that decide: hidden fields, and refusals of what a change can do without.
    const wire = tapWire(canaries, {
      refused: [/^kubernetes GET \/api\/v1\/events/, /^ec2 /],
      every: 1e9,
    })
    const planned = await fleet.plan()
    const approved = await fleet.approve(planned.plan)
    const applied = await fleet.apply()
    const printed = [planned.said, approved, applied].map(
      ({ stdout, stderr }, index) => [`command ${index} printed`, stdout + stderr] as const,
    )
    const all = [...printed, ...textsBelow(fleet.at())]
    expect(leaksIn(all, { canaries, wire, lab: fleet.lab })).toEqual([])
    expect(all.map(([name]) => name).join()).toMatch(/remediation\/runs\/\w+\/report\.json/)
    expect(applied.stdout).toMatch(/"state": ?"verified"/)
    expect(canaries.count).toBeGreaterThan(50)
  },
)
