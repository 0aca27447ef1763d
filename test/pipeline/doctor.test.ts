/** What the check-up says of a way that is blocked, an identity that is not known, agents that are lost. Rights one by one: test/e2e/rights.test.ts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import {
  type ClusterScenario,
  fixedNodes,
  type LabNode,
  type Scenario,
} from '#lab/scenarios/scenario.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import type { CheckState, ClusterCheckup } from '#model/checkup.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { eksTargets, kubeconfigTargets } from '#pipeline/audit/fleet.ts'
import { checkUp } from '#pipeline/doctor/doctor.ts'
import { fixesOf } from '#pipeline/doctor/fixes.ts'
import { applyDocuments, contentOf } from '#remediate/scripts/documents.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { inspectDocuments, inspected } from '#test/inspected.ts'
import { kubeconfigEndpoint } from '#test/kubeconfig-endpoint.ts'
import { labOf } from '#test/lab-audit.ts'
import { parseTemplate } from '#test/template.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 60_000 })

const optionsOf = (more: Partial<Policy> = {}, signal = new AbortController().signal) => ({
  policy: {
    ...defaultPolicy,
    pace: { ...defaultPolicy.pace, requestsPerSecond: 1000, ssmRequestsPerSecond: 1000 },
    timeoutsMs: { ...defaultPolicy.timeoutsMs, list: 1000, configz: 400, summary: 400 },
    ...more,
  },
  selection: everything,
  signal,
})

async function checkedUp(more: Partial<Policy> = {}): Promise<ClusterCheckup> {
  const [checkup] = await Array.fromAsync(checkUp(eksTargets(optionsOf(more)), optionsOf(more)))
  if (!checkup) throw new Error('no cluster was checked')
  return checkup
}

const cluster = (more: Partial<ClusterScenario>, world: Partial<Scenario> = {}) =>
  scenario([{ name: 'c', nodes: nodes(1), ...more }], world)
const ofState = ({ checks }: ClusterCheckup, ...states: CheckState[]) =>
  Object.fromEntries(
    checks.filter(({ state }) => states.includes(state)).map(({ what, detail }) => [what, detail]),
  )
const mode = (which: Policy['modes'][number]['mode']) => ({ modes: [{ match: {}, mode: which }] })

describe('the way to the API server', () => {
  it.each<[string, Partial<ClusterScenario>, RegExp]>([
    ['closed', { faults: { endpoint: 'closed-port' } }, /refused the connection/],
    [
      'unknown by name',
      { faults: { endpoint: 'unresolvable' } },
      /lab\.invalid does not resolve.*private endpoint/,
    ],
    [
      'with a certificate for another name',
      { faults: { certificate: 'other-host' } },
      /certificate .* is for another name/,
    ],
    [
      'with a certificate of another CA',
      { faults: { certificate: 'other-authority' } },
      /not signed by the cluster's CA/,
    ],
  ])('%s: unreachable, with the reason', async (_, more, reason) => {
    await labOf([cluster(more)])
    const checkup = await checkedUp()
    expect(checkup.state).toBe('unreachable')
    expect(ofState(checkup, 'failed', 'missing')).toEqual({
      endpoint: expect.stringMatching(reason),
    })
  })

  it.each([
    [{ endpointPublicAccess: false }, /The endpoint is private: only its VPC/],
    [
      { endpointPublicAccess: true, publicAccessCidrs: ['203.0.113.0/24'] },
      /open to 203\.0\.113\.0\/24 only/,
    ],
    [
      { endpointPublicAccess: true, publicAccessCidrs: ['0.0.0.0/0'] },
      /refused the connection: [^.]*$/,
    ],
  ])('says from where EKS lets it be reached: %j', async (resourcesVpcConfig, said) => {
    const endpoint = { server: 'https://127.0.0.1:1', authorization: async () => null }
    const record = {
      kind: 'Cluster' as const,
      cluster: 'c',
      eks: { status: 'ACTIVE', resourcesVpcConfig },
      errors: [],
    }
    const [checkup] = await Array.fromAsync(
      checkUp([{ record, endpoint, place: null }], optionsOf()),
    )
    expect(checkup?.checks.find(({ what }) => what === 'endpoint')?.detail).toMatch(said)
  })

  it('of a cluster that is not there yet', async () => {
    await labOf([cluster({ status: 'CREATING' })])
    const checkup = await checkedUp()
    expect(checkup.state).toBe('unreachable')
    expect(ofState(checkup, 'failed')).toEqual({
      'eks:DescribeCluster': expect.stringContaining('the cluster is CREATING'),
    })
  })

  it('ends at a server that does not know the identity: the access entry is there to paste', async () => {
    await labOf([cluster({ access: {} })])
    const checkup = await checkedUp()
    expect(checkup.state).toBe('missing')
    expect(ofState(checkup, 'missing', 'failed')).toEqual({
      token: expect.stringMatching(/401.*access entry/),
    })
    expect(checkup.fixes).toEqual([
      {
        target: expect.stringContaining('access entry'),
        text: `aws eks create-access-entry --cluster-name c --principal-arn ${labPrincipal} --kubernetes-groups highwater`,
      },
    ])
  })

  it('was not gone to its end before the deadline: said, not thrown', async () => {
    await labOf([cluster({})])
    const controller = new AbortController()
    const targets = await Array.fromAsync(eksTargets(optionsOf()))
    controller.abort(new Error('not reached before the deadline'))
    const [checkup] = await Array.fromAsync(checkUp(targets, optionsOf({}, controller.signal)))
    expect(checkup).toMatchObject({
      state: 'unreachable',
      checks: [{ what: 'endpoint', detail: 'not reached before the deadline' }],
    })
  })
})

describe('clusters of a kubeconfig', () => {
  async function endpoints() {
    const lab = await labOf([cluster({})])
    const file = join(temporaryFolder(), 'kubeconfig')
    writeFileSync(file, lab.kubeconfig)
    return [await kubeconfigEndpoint(file, null)]
  }

  it('need nothing of AWS in mode proxy', async () => {
    const targets = await kubeconfigTargets(await endpoints(), defaultPolicy)
    const [checkup] = await Array.fromAsync(checkUp(targets, optionsOf()))
    expect(checkup?.state).toBe('ok')
    expect(
      checkup?.checks.filter(({ what }) => what.includes(':') && !what.startsWith('node ')),
    ).toEqual([])
  })

  it.each([
    [30_000, 'ok', /agrees/],
    [180_000, 'note', /1[78]\d s ahead of/],
    [-180_000, 'note', /1[78]\d s behind/],
    [600_000, 'failed', /(59|60)\d s ahead of.*tokens are refused/],
  ] as const)('differ from a clock that is off by %d ms: %s', async (offMs, state, detail) => {
    const targets = await kubeconfigTargets(await endpoints(), defaultPolicy)
    // This machine's clock stands still here; the lab's server has Node's own, and goes on.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offMs })
    onTestFinished(() => void vi.useRealTimers())
    const [checkup] = await Array.fromAsync(checkUp(targets, optionsOf()))
    expect(checkup?.checks.find(({ what }) => what === 'clock')).toMatchObject({
      state,
      detail: expect.stringMatching(detail),
    })
  })
})

describe('one node, asked as an audit asks', () => {
  it('that does not answer differs from missing rights', async () => {
    await labOf([cluster({ nodes: nodes(0, { kind: 'down' }) })])
    const checkup = await checkedUp()
    expect(Object.values(ofState(checkup, 'failed'))).toEqual([
      expect.stringContaining('503'),
      expect.stringContaining('503'),
    ])
    expect(checkup).toMatchObject({ state: 'missing', fixes: [] })
  })

  it('of none: not checked', async () => {
    await labOf([cluster({ nodes: fixedNodes({}) })])
    expect(ofState(await checkedUp(), 'unchecked')['a node']).toMatchSnapshot()
  })
})

describe('mode ssm', () => {
  const source = nodes(4)
  const agents = (change: (node: LabNode, index: number) => LabNode) =>
    fixedNodes(
      Object.fromEntries(
        source.names().map((name, index) => [name, change(source.node(name)!, index)]),
      ),
    )
  const lost = (node: LabNode) =>
    inspected(node, answer => answer, { pingStatus: 'ConnectionLost' })
  const aged = (node: LabNode, lastPingMinutesAgo: number) =>
    inspected(node, answer => answer, { lastPingMinutesAgo })
  const windows = (node: LabNode) => inspected(node, answer => answer, { platform: 'Windows' })

  it('asks for each of the agents, on however many pages their nodes come', {
    timeout: 120_000,
  }, async () => {
    const many = nodes(610)
    const all = fixedNodes(
      Object.fromEntries(many.names().map(name => [name, inspected(many.node(name)!)])),
    )
    await labOf([cluster({ nodes: all })], { documents: inspectDocuments })
    const patient = { ...mode('ssm'), timeoutsMs: { ...defaultPolicy.timeoutsMs, list: 60_000 } }
    expect(
      ofState(await checkedUp(patient), 'ok', 'note', 'failed')['SSM agents'],
    ).toMatchSnapshot()
  })

  it('never sends a command, and says so', async () => {
    const lab = await labOf([cluster({ nodes: agents(node => inspected(node)) })], {
      documents: inspectDocuments,
    })
    const checkup = await checkedUp(mode('ssm'))
    expect(checkup.state).toBe('ok')
    expect(ofState(checkup, 'ok')['SSM agents']).toMatchSnapshot()
    expect(ofState(checkup, 'unchecked')['ssm:SendCommand']).toMatch(/not tried: it would run/)
    expect(Object.keys(lab.requests().routes.ssm ?? {}).toSorted()).toEqual([
      'DescribeDocument',
      'DescribeInstanceInformation',
      'GetCommandInvocation',
      'ListCommandInvocations',
    ])
  })

  it.each<[string, (node: LabNode, index: number) => LabNode, CheckState, RegExp]>([
    [
      'some',
      (node, index) => [node, lost(node)][index] ?? inspected(node),
      'note',
      /^SSM can ask 2 of 4 instances\. \S+ \(i-\w+\): SSM does not know the instance .*; \S+ \(i-\w+\): SSM has lost the connection/,
    ],
    [
      'all',
      node => node,
      'failed',
      /^SSM can ask 0 of 4 instances\. (?:.*? does not know the instance ){4}/,
    ],
    [
      'a silent one',
      (node, index) => (index === 0 ? aged(node, 500) : inspected(node)),
      'note',
      /can ask 3 of 4.*last heard 500 min ago/,
    ],
    [
      'Windows',
      (node, index) => (index === 0 ? windows(node) : inspected(node)),
      'note',
      /can ask 3 of 4.*knows it as Windows/,
    ],
  ])('tells how many agents are lost: %s', async (_, change, state, said) => {
    await labOf([cluster({ nodes: agents(change) })], { documents: inspectDocuments })
    expect(ofState(await checkedUp(mode('ssm')), state)['SSM agents']).toMatch(said)
  })

  it.each<[string, string, Partial<Scenario>, CheckState, string, RegExp]>([
    ['is there', 'highwater-lab', {}, 'note', 'inspectOutput', /it is there; .*s3:PutObject/],
    ['is not there', 'nobodys', {}, 'failed', 'inspectOutput', /nobodys/],
    [
      'may not be read',
      'highwater-lab',
      { s3: { denied: ['s3:GetObject'] } },
      'missing',
      's3:GetObject',
      /Grant s3:GetObject/,
    ],
    [
      'may not be listed',
      'highwater-lab',
      { s3: { denied: ['s3:ListBucket'] } },
      'missing',
      's3:ListBucket',
      /Grant s3:ListBucket/,
    ],
    [
      'may not be listed, so it is unknown',
      'highwater-lab',
      { s3: { denied: ['s3:ListBucket'] } },
      'unchecked',
      's3:GetObject',
      /not tried/,
    ],
  ])('asks for the bucket of long answers: it %s', async (_, bucket, more, state, what, said) => {
    await labOf([cluster({ nodes: agents(node => inspected(node)) }, more)], {
      documents: inspectDocuments,
    })
    const checkup = await checkedUp({
      ...mode('ssm'),
      inspectOutput: { bucket, prefix: 'answers' },
    })
    expect(
      ofState(checkup, state)[
        what === 'inspectOutput' ? `inspectOutput s3://${bucket}/answers` : what
      ],
    ).toMatch(said)
    expect(checkup.state).toBe(state === 'note' ? 'ok' : 'missing')
    const fixed = checkup.fixes.map(({ text }) => text).join()
    if (state === 'missing')
      expect(fixed).toContain(
        what === 's3:GetObject'
          ? 'arn:aws:s3:::highwater-lab/answers/*'
          : 'arn:aws:s3:::highwater-lab',
      )
  })

  it.each([
    ['there is none', [], 'missing', /there is none in us-east-1: deploy the stack/],
    [
      'it is another',
      [{ name: 'Highwater-Inspect', content: '{}' }],
      'failed',
      /version 1 .* is not the one of this highwater/,
    ],
  ] as const)('knows the document: %s', async (_, documents, state, said) => {
    await labOf([cluster({ nodes: agents(node => inspected(node)) })], { documents })
    expect(ofState(await checkedUp(mode('ssm')), state)['document Highwater-Inspect']).toMatch(said)
  })

  const applied = applyDocuments.map(document => ({
    name: document.name,
    content: contentOf(document),
  }))
  const kubeletConfig = 'document Highwater-ApplyKubeletConfig'
  it.each<[string, { name: string; content: string }[], CheckState, RegExp]>([
    ['are those of this highwater', applied, 'ok', /version 1 is the one/],
    [
      'are not there',
      [],
      'missing',
      /there is none in us-east-1: deploy the stack there with remediation on/,
    ],
    [
      'are others',
      applied.map(({ name }) => ({ name, content: '{}' })),
      'failed',
      /is not the one of this highwater/,
    ],
  ])(
    'knows, where plans are to be applied, whether the documents %s',
    async (_, documents, state, said) => {
      await labOf([cluster({ nodes: agents(node => inspected(node)) })], {
        documents: [...inspectDocuments, ...documents],
      })
      const options = { ...optionsOf(), isRemediating: true }
      const [checkup] = await Array.fromAsync(checkUp(eksTargets(options), options))
      if (checkup === undefined) throw new Error('no cluster was checked')
      expect(ofState(checkup, state)[kubeletConfig]).toMatch(said)
      // Also in mode proxy SSM has to be there for it.
      expect(checkup.checks.map(({ what }) => what)).toEqual(
        expect.arrayContaining(['ssm:SendCommand', 'document Highwater-Inspect']),
      )
      expect((await checkedUp()).checks.map(({ what }) => what)).not.toContain(kubeletConfig)
      const pasted = checkup.fixes.map(({ text }) => text)
      if (state === 'ok') expect(checkup.state).toBe('ok')
      else
        expect(pasted).toContain(
          "npx serverless deploy --region us-east-1 --param='remediation=on'",
        )
    },
  )
})

describe.runIf(process.platform === 'linux')('mode kubelet', () => {
  const role = 'arn:aws:iam::111122223333:role/highwater-kubelet'
  const narrow = ['get nodes/configz', 'get nodes/stats']
  const world = (rights: readonly string[] | null, roles = [{ arn: role }]) =>
    labOf([
      cluster(
        {
          kubelets: true,
          access: { [labPrincipal]: auditorRights, ...(rights && { [role]: rights }) },
        },
        { roles },
      ),
    ])
  const kubelet = { ...mode('kubelet'), kubelet: { roleArn: role, useOwnToken: false } }

  it('without an identity that kubelets may see', async () => {
    await world(narrow)
    const checkup = await checkedUp(mode('kubelet'))
    expect(ofState(checkup, 'missing')).toEqual({
      'kubelet.roleArn': expect.stringContaining('set kubelet.roleArn'),
    })
    expect(ofState(checkup, 'unchecked')['a node']).toContain('kubelet.roleArn is missing')
  })

  it('with a role that cannot be assumed: what to grant', async () => {
    await world(narrow, [])
    const checkup = await checkedUp(kubelet)
    expect(ofState(checkup, 'missing')).toEqual({
      'sts:AssumeRole': expect.stringContaining(`no token for ${role}`),
    })
    expect(JSON.parse(checkup.fixes[0]?.text ?? '').Statement).toEqual([
      { Effect: 'Allow', Action: ['sts:AssumeRole'], Resource: role },
    ])
  })

  it('… and what its trust has to say, in whoever asks', async () => {
    await world(narrow, [])
    const [, trust] = (await checkedUp(kubelet)).fixes
    expect(trust?.target).toContain(`trust policy of ${role}`)
    expect(JSON.parse(trust?.text ?? '').Statement).toEqual([
      { Effect: 'Allow', Principal: { AWS: labPrincipal }, Action: 'sts:AssumeRole' },
    ])
  })

  it('with a role that the cluster does not know: its access entry', async () => {
    await world(null)
    const checkup = await checkedUp(kubelet)
    expect(ofState(checkup, 'missing')).toEqual({
      token: expect.stringMatching(/highwater-kubelet.*401/),
    })
    expect(checkup.fixes.map(({ text }) => text)).toEqual([
      expect.stringContaining(`--principal-arn ${role} --kubernetes-groups highwater-kubelet`),
    ])
  })

  it('with a role that may do more than kubelets should see', async () => {
    await world([...narrow, 'get nodes/proxy'])
    const checkup = await checkedUp(kubelet)
    expect(checkup.state).toBe('ok')
    expect(ofState(checkup, 'note')).toEqual({
      'get nodes/proxy': expect.stringContaining('the owner of a node'),
    })
  })
})

describe('what to paste', () => {
  const patient = {
    mode: 'both' as const,
    policy: defaultPolicy,
    cluster: 'prod',
    account: { partition: 'aws', account: '111122223333', clusters: null },
    isByConfigMap: true,
    isRemediating: false,
    taker: null,
    member: { region: 'eu-west-1', roleArn: null, externalId: null },
    principals: { reader: 'arn:aws:iam::111122223333:role/highwater', kubelet: null },
  }
  const missing = (what: string) => ({ what, state: 'missing' as const, detail: '', without: null })

  it('is a line of aws-auth where a cluster has no access entries', () => {
    const [fix, ...more] = fixesOf(patient, { reader: [missing('token')], kubelet: [] })
    expect(more).toEqual([])
    expect(fix?.target).toContain('aws-auth')
    expect(parse(fix?.text ?? '')).toEqual([
      { rolearn: patient.principals.reader, username: 'highwater', groups: ['highwater'] },
    ])
  })

  it('is the stack where the account has no document', () => {
    const fixes = fixesOf(patient, { reader: [missing('document Highwater-Inspect')], kubelet: [] })
    expect(fixes.map(({ text }) => text)).toMatchSnapshot()
  })

  it('is the whole role: applied, it replaces the one that is there', () => {
    const narrow = {
      ...patient,
      policy: {
        ...defaultPolicy,
        clusterGarbage: { ...defaultPolicy.clusterGarbage, enabled: false },
      },
    }
    const [less] = fixesOf(narrow, { reader: [missing('list pods')], kubelet: [] })
    expect(less?.text).not.toContain('cronjobs')
    const [fix] = fixesOf(patient, { reader: [missing('list pods')], kubelet: [] })
    expect(fix?.text).toContain('cronjobs')
    for (const resource of ['nodes', 'pods', 'events', 'nodes/proxy', 'nodepools'])
      expect(fix?.text).toContain(resource)
  })

  it('is nothing where nothing is missing, whatever else failed', () => {
    expect(
      fixesOf(patient, { reader: [{ ...missing('list pods'), state: 'failed' }], kubelet: [] }),
    ).toEqual([])
  })
})

describe('an account that cannot be entered', () => {
  const member = 'arn:aws:iam::444455556666:role/audited'
  const account = { roleArn: null, externalId: null, regions: null }
  const entering = (externalId: string | null) => ({
    accounts: [account, { ...account, roleArn: member, externalId }],
  })
  const world = () => labOf([cluster({}, { roles: [{ arn: member, externalId: 'agreed-4711' }] })])

  it.each([
    ['wrong', 'ExternalId=wrong', /^the role \S+, made in account 444455556666$/],
    [null, 'ExternalId=EXTERNAL_ID', /; what you choose as external id goes into the policy/],
  ] as const)(
    'differs from one whose role may do too little: the right to take it, and what makes it; external id %j',
    async (id, given, target) => {
      await world()
      const [first, own] = await Array.fromAsync(
        checkUp(eksTargets(optionsOf(entering(id))), optionsOf(entering(id))),
      )
      expect(own?.state).toBe('ok')
      if (first === undefined) throw new Error('no account was checked')
      expect(first).toMatchObject({ cluster: '444455556666/us-east-1/*', state: 'missing' })
      expect(ofState(first, 'missing')).toEqual({
        'sts:AssumeRole': expect.stringMatching(/to trust this identity/),
      })
      const [right, role, ...others] = first.fixes
      expect(others).toEqual([])
      expect(right?.target).toBe(`an IAM policy of ${labPrincipal}`)
      expect(JSON.parse(right?.text ?? '').Statement).toEqual([
        { Effect: 'Allow', Action: ['sts:AssumeRole'], Resource: member },
      ])
      expect(role?.target).toMatch(target)
      for (const part of [given, 'RoleName=audited', 'RoleRegion=us-east-1', 'AuditRoleArn='])
        expect(role?.text).toContain(part)
    },
  )

  it('takes the template that it names, with the parameters that it gives', async () => {
    await world()
    const [first] = await Array.fromAsync(
      checkUp(eksTargets(optionsOf(entering('wrong'))), optionsOf(entering('wrong'))),
    )
    const text = first?.fixes[1]?.text ?? ''
    const [, command = ''] = /^highwater (.*) > member\.yaml$/m.exec(text) ?? []
    const { stdout, code } = await inProcess(command.split(' '))
    expect(code).toBe(0)
    const names = [...text.matchAll(/(\w+)=\S/g)].map(([, name]) => name)
    expect(Object.keys(parseTemplate(stdout).Parameters)).toEqual(expect.arrayContaining(names))
    expect(names).toContain('ExternalId')
  })
})
