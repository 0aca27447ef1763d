/** Every right of every mode taken away by itself: the audit goes on and names the gap, and the check-up names the right. */
import { describe, expect, it } from 'vitest'
import type { InsightScenario, S3Action, Scenario } from '#lab/scenarios/scenario.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import type { ClusterCheckup } from '#model/checkup.ts'
import { everything, type ReadMode, readModes } from '#model/input/record.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { awsRights, kubernetesRights } from '#pipeline/access/permissions.ts'
import { eksTargets } from '#pipeline/audit/fleet.ts'
import { checkUp } from '#pipeline/doctor/doctor.ts'
import { type Answer, inspectDocuments, withAgents } from '#test/inspected.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'
import { isSlow } from '#test/slow.ts'

const role = 'arn:aws:iam::111122223333:role/highwater-kubelet'
const modes = readModes.filter(mode => mode !== 'kubelet' || process.platform === 'linux')
const answers = { bucket: 'highwater-lab', prefix: 'nodes' }
/** How a cluster is read, and whether its nodes put long answers into a bucket. */
interface Reading {
  mode: ReadMode
  output: Policy['inspectOutput']
}
const readings: Reading[] = [
  ...modes.map(mode => ({ mode, output: null })),
  ...modes
    .filter(mode => mode === 'ssm' || mode === 'both')
    .map(mode => ({ mode, output: answers })),
]

const policyOf = ({ mode, output }: Reading): Policy => ({
  ...defaultPolicy,
  inspectOutput: output,
  modes: [{ match: {}, mode }],
  kubelet: { roleArn: mode === 'kubelet' ? role : null, useOwnToken: false },
  pace: { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 1000 },
  timeoutsMs: { ...defaultPolicy.timeoutsMs, inspect: 1500 },
})

const insight: InsightScenario = {
  id: '0a11ab00-0000-0000-0000-000000000001',
  name: 'Kubelet version skew',
  kubernetesVersion: '1.35',
  insightStatus: { status: 'WARNING', reason: '1 node is behind.' },
  description: 'Checks the versions of kubelets.',
  recommendation: 'Update the nodes.',
}

/** A cluster with all that is ever asked for, where every right of the mode is granted but one. */
function world({ mode, output }: Reading, without: string | null): Scenario {
  const has = (rights: readonly { right: string }[]) =>
    rights.map(({ right }) => right).filter(right => right !== without)
  const launchTemplate = { id: 'lt-0a11ab00000000009', name: 'workers', version: '1' }
  const group = {
    name: 'general',
    amiType: 'AL2023_x86_64_STANDARD',
    version: '1.34',
    releaseVersion: '1.34.1-20261103',
  }
  const cluster = {
    name: 'prod',
    nodes: nodes(2),
    nodegroups: [{ ...group, instanceTypes: ['m6i.large'], desiredSize: 2, launchTemplate }],
    insights: [insight],
    nodeClasses: {
      'nodepools.karpenter.sh': [],
      'ec2nodeclasses.karpenter.k8s.aws': [],
      'nodeclasses.eks.amazonaws.com': [],
    },
    kubelets: mode === 'kubelet',
    access: {
      [labPrincipal]: has(kubernetesRights(mode, 'reader')),
      [role]: has(kubernetesRights(mode, 'kubelet')),
    },
  }
  const isOf = (service: string) => without?.startsWith(`${service}:`) === true
  return withAgents(
    scenario([cluster], {
      roles: without === 'sts:AssumeRole' ? [] : [{ arn: role }],
      launchTemplates: [{ ...launchTemplate, versions: [{ number: 1 }] }],
      eksDenied: without !== null && isOf('eks') ? [without] : [],
      ec2Denied: without !== null && isOf('ec2') ? [without] : [],
      ssm: { denied: without !== null && isOf('ssm') ? [without] : [] },
      s3: { denied: isOf('s3') ? s3Denied(without) : [] },
    }),
    output === null ? answer => answer : long,
  )
}

/** More than SSM keeps. */
const long = (answer: Answer) => JSON.stringify({ ...answer, padding: 'x'.repeat(40_000) })

/** Who may not list a bucket misses it only where an answer is not there. */
const s3Denied = (right: string | null): S3Action[] => {
  if (right === 's3:ListBucket') return ['s3:ListBucket', 's3:PutObject']
  return right === 's3:GetObject' ? ['s3:GetObject'] : []
}

const options = (reading: Reading) => ({
  policy: policyOf(reading),
  selection: everything,
  signal: new AbortController().signal,
})

async function checkedUp(reading: Reading): Promise<ClusterCheckup> {
  const [checkup] = await Array.fromAsync(checkUp(eksTargets(options(reading)), options(reading)))
  if (!checkup) throw new Error('no cluster was checked')
  return checkup
}

/** Those that a reading asks for; with long answers, those that these need besides. */
function rightsOf({ mode, output }: Reading): string[] {
  const aws = awsRights(mode, output).map(({ right }) => right)
  if (output !== null) {
    const short = new Set(awsRights(mode).map(({ right }) => right))
    return aws.filter(right => !short.has(right))
  }
  const kubernetes = (['reader', 'kubelet'] as const).flatMap(who => kubernetesRights(mode, who))
  return [...aws, ...kubernetes.map(({ right }) => right)]
}

/** Of the readings that need a right one, in turn, so that each reading has its share; `npm run test:slow` takes all. */
function turnOf(right: string): Reading | undefined {
  const needing = readings.filter(reading => rightsOf(reading).includes(right))
  return needing[[...everyRight].indexOf(right) % needing.length]
}
const everyRight = new Set(readings.flatMap(rightsOf))

const missingOf = ({ checks }: ClusterCheckup) =>
  checks.filter(({ state }) => state === 'missing').map(({ what }) => what)
const failedOf = ({ checks }: ClusterCheckup) =>
  checks.filter(({ state }) => state === 'failed').map(({ what, detail }) => `${what}: ${detail}`)

it('the lab’s auditor has what mode proxy needs', () => {
  for (const { right } of kubernetesRights('proxy', 'reader'))
    expect(auditorRights).toContain(right)
})

describe.each(readings)('mode $mode, long answers in $output', reading => {
  const { mode, output } = reading

  it('with every right: all is well, and nothing is missing', async () => {
    await labOf([world(reading, null)], { documents: inspectDocuments })
    const checkup = await checkedUp(reading)
    expect({
      missing: missingOf(checkup),
      failed: failedOf(checkup),
      fixes: checkup.fixes,
    }).toEqual({ missing: [], failed: [], fixes: [] })
    expect(checkup.state).toBe('ok')
  })

  it('asks AWS for nothing that is not among its rights', async () => {
    const lab = await labOf([world(reading, null)], { documents: inspectDocuments })
    await auditLive({ policy: policyOf(reading) })
    const { routes } = lab.requests()
    const asked = ['eks', 'ec2', 'ssm', 's3', 'sts'].flatMap(api =>
      Object.keys(routes[api] ?? {}).map(route => `${api}:${route}`),
    )
    const granted = new Set(awsRights(mode, output).map(({ right }) => right))
    // Source: AWS STS API reference: who asks who he is needs no permission.
    expect(asked.filter(action => !granted.has(action))).toEqual(['sts:GetCallerIdentity'])
  })

  it.each(rightsOf(reading).filter(right => isSlow || turnOf(right) === reading))(
    'without %s',
    { timeout: 20_000 },
    async right => {
      const lab = await labOf([world(reading, right)], { documents: inspectDocuments })
      if (right === 'eks:ListClusters') {
        for (const run of [
          () => auditLive({ policy: policyOf(reading) }),
          () => checkedUp(reading),
        ])
          await expect(run()).rejects.toThrow(`Grant ${right}`)
        return
      }
      const checkup = await checkedUp(reading)
      expect(lab.requests().routes.ssm?.SendCommand).toBeUndefined()
      if (right === 'ssm:SendCommand')
        expect(checkup.checks).toContainEqual(
          expect.objectContaining({ what: right, state: 'unchecked' }),
        )
      else {
        expect(missingOf(checkup)).toEqual([right])
        expect(checkup.checks.find(({ what }) => what === right)?.without).toMatch(/\w{4}/)
        expect(checkup.fixes.map(({ text }) => text).join('\n')).toContain(
          right.includes(':') ? right : right.replace(/^\w+ |\..*/g, ''),
        )
        expect(checkup.state).toBe('missing')
      }
      const {
        document,
        nodes: audited,
        ruleErrors,
      } = await auditLive({ policy: policyOf(reading) })
      expect(ruleErrors).toEqual([])
      expect(JSON.stringify([document, audited.map(({ errors }) => errors)])).toContain(
        refusal(right),
      )
    },
  )
})

/** In the words of who refuses; a kubelet's are translated into the right. */
function refusal(right: string): string {
  const [verb, resource = ''] = right.split(' ')
  if (resource === '' || /configz|stats/.test(resource)) return right
  return `cannot ${verb} resource \\"${resource.replace(/\..*/, '')}\\"`
}
