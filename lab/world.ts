/** The lab's state: clusters, principals, access keys and the secrets that go with them. */

import { randomBytes } from 'node:crypto'
import type { RawObject } from '#base/raw-object.ts'
import { nodeClasses } from '#facts/eks/node-classes.ts'
import { garbageResources } from '#facts/kubernetes/garbage-resources.ts'
import type { LabExecution } from '#lab/apis/sfn-execution.ts'
import type { Notice } from '#lab/apis/sns-notice.ts'
import { createS3, type WorldS3 } from './apis/s3/state.ts'
import { createSes, type WorldSes } from './apis/sesv2/state.ts'
import { createSsm, type LabDocument, type WorldSsm } from './apis/ssm/state.ts'
import { type CertificateAuthority, createAuthority } from './certificates.ts'
import { createMachines, type Machines } from './machines/machines.ts'
import { asTheyAre } from './nodes/as-they-are.ts'
import type {
  AlarmScenario,
  ClusterScenario,
  EventsScenario,
  KmsKeyScenario,
  LaunchTemplateScenario,
  RoleScenario,
  Scenario,
  SfnScenario,
  SnsScenario,
} from './scenarios/scenario.ts'

export const labAccount = '111122223333'
export const labRunKey = 'alias/highwater-runs'
export const labApprovalKey = 'alias/highwater-approvals'

/** The IAM user behind the lab's static credentials. */
export const labPrincipal = `arn:aws:iam::${labAccount}:user/highwater`

/** What an audit reads unless somebody wants more, in the words of RBAC. */
export const auditorRights: readonly string[] = [
  'get nodes',
  'list nodes',
  'get nodes/proxy',
  'list pods',
  'list events',
  'list poddisruptionbudgets.policy',
  ...nodeClasses.map(({ plural, group }) => `list ${plural}.${group}`),
  ...garbageResources.map(({ resource }) => `list ${resource}`),
  // By which an apply identifies the cluster.
  'list namespaces',
]

export interface Principal {
  /** As GetCallerIdentity says it: for a role its session, `arn:aws:sts::…:assumed-role/…`. */
  arn: string
  /** The IAM user or role itself: what a cluster maps. */
  identity: string
  userId: string
  account: string
  mayReadEks: boolean
}

export interface AccessKey {
  accessKeyId: string
  secretAccessKey: string
  /** Temporary credentials have both. */
  session: { token: string; expiresAtMs: number } | null
  principal: Principal
}

export interface WorldCluster {
  scenario: ClusterScenario
  region: string
  account: string
  authority: CertificateAuthority
  /** What DescribeCluster shows as `certificateAuthority.data`, before base64. */
  shownAuthorityPem: string
  /** Set when its server stands; null while the cluster is CREATING. */
  endpoint: string | null
  /** The API server's revision, and up to which one the history is compacted: older continue tokens have expired. */
  revision: number
  compactedRevision: number
  /** Requests still to be answered 429. */
  refusalsLeft: number
  /** Requests whose connection is still to be broken, once the time for that has come. */
  breaksLeft: number
}

export interface World {
  region: string
  /** "Now" in the bodies of generated nodes, RFC 3339. */
  at: string
  /** The world's clock in milliseconds: it begins at `at`, and signatures do not go by it. */
  now(): number
  eksPageSize: number
  /** EKS requests still to be throttled. */
  eksThrottlesLeft: number
  eksDenied: readonly string[]
  /** By name; the second of a name by `account/region/name`. */
  clusters: Map<string, WorldCluster>
  roles: Map<string, RoleScenario>
  keys: Map<string, AccessKey>
  /** The static token of the kubeconfig's user. */
  kubeconfigToken: string
  ec2: WorldEc2
  s3: WorldS3
  ses: WorldSes
  sns: { scenario: SnsScenario; notices: Notice[] }
  events: { scenario: EventsScenario; taken: RawObject[] }
  kms: readonly KmsKeyScenario[]
  sfn: SfnScenario & { executions: LabExecution[] }
  ssm: WorldSsm
  cloudwatch: { alarms: readonly AlarmScenario[]; denied: boolean }
  /** The nodes' own, for whatever runs on them. */
  machines: Machines
}

export interface WorldEc2 {
  launchTemplates: readonly LaunchTemplateScenario[]
  /** Items in a page. */
  pageSize: number
  /** By action, or everything. */
  denied: boolean | readonly string[]
}

export interface WorldOptions {
  region: string
  at: string
  /** Where objects are kept as files. Default: in memory. */
  storeFolder?: string
  /** Where mails are kept as files, beside memory. */
  mailFolder?: string
  /** What the account's SSM has of documents. Default: none. */
  documents?: readonly LabDocument[]
}

/** @throws Error when two scenarios have a cluster of the same name in one account and region. */
export function createWorld(
  scenarios: readonly Scenario[],
  { region, at, storeFolder, mailFolder, documents }: WorldOptions,
): World {
  const aheadMs = Date.parse(at) - Date.now()
  const machines = createMachines(aheadMs)
  const now = () => Date.now() + aheadMs
  const clusters = new Map<string, WorldCluster>()
  for (const scenario of scenarios.flatMap(each => each.clusters)) {
    const cluster = createCluster(
      { ...scenario, nodes: asTheyAre(scenario.nodes, machines, at, now) },
      region,
    )
    const others = [...clusters.values()].filter(other => other.scenario.name === scenario.name)
    if (others.some(other => other.account === cluster.account && other.region === cluster.region))
      throw new Error(`two scenarios have a cluster named ${scenario.name}`)
    clusters.set(
      others.length === 0 ? scenario.name : `${cluster.account}/${cluster.region}/${scenario.name}`,
      cluster,
    )
  }
  return {
    region,
    at,
    now,
    eksPageSize: Math.min(100, ...scenarios.map(scenario => scenario.eksPageSize ?? 100)),
    eksThrottlesLeft: scenarios.reduce(
      (sum, scenario) => sum + (scenario.eksThrottlesFirst ?? 0),
      0,
    ),
    eksDenied: scenarios.flatMap(scenario => scenario.eksDenied ?? []),
    clusters,
    roles: new Map(
      scenarios.flatMap(scenario => scenario.roles ?? []).map(role => [role.arn, role]),
    ),
    keys: new Map(),
    kubeconfigToken: randomBytes(24).toString('hex'),
    ec2: {
      launchTemplates: scenarios.flatMap(scenario => scenario.launchTemplates ?? []),
      pageSize: Math.min(200, ...scenarios.map(scenario => scenario.ec2PageSize ?? 200)),
      denied:
        scenarios.some(({ ec2Denied }) => ec2Denied === true) ||
        scenarios.flatMap(({ ec2Denied }) => (Array.isArray(ec2Denied) ? ec2Denied : [])),
    },
    s3: createS3(scenarios, storeFolder),
    ses: createSes(scenarios, mailFolder),
    sns: {
      scenario: Object.assign(
        { topics: ['reports'], denied: false, kmsDenied: false, down: false },
        ...scenarios.map(({ sns }) => sns),
      ),
      notices: [],
    },
    events: {
      scenario: Object.assign(
        { buses: ['default'], denied: false },
        ...scenarios.map(({ events }) => events),
      ),
      taken: [],
    },
    kms: scenarios.find(({ kms }) => kms !== undefined)?.kms ?? [
      { alias: labRunKey },
      { alias: labApprovalKey },
    ],
    sfn: Object.assign(
      { stateMachines: ['highwater'], denied: false, executions: [] },
      ...scenarios.map(({ sfn }) => sfn),
    ),
    cloudwatch: {
      alarms: scenarios.flatMap(scenario => scenario.alarms ?? []),
      denied: scenarios.some(scenario => scenario.alarmsDenied),
    },
    ssm: createSsm(scenarios, documents ?? [], machines, at),
    machines,
  }
}

function createCluster(scenario: ClusterScenario, region: string): WorldCluster {
  const authority = createAuthority('kubernetes')
  return {
    scenario,
    region: scenario.region ?? region,
    account: scenario.account ?? labAccount,
    authority,
    shownAuthorityPem:
      scenario.faults?.certificate === 'other-authority'
        ? createAuthority('kubernetes').certificatePem
        : authority.certificatePem,
    endpoint: null,
    revision: 1_000_000,
    compactedRevision: 0,
    refusalsLeft: scenario.faults?.tooManyRequests?.first ?? 0,
    breaksLeft: scenario.faults?.away?.requests ?? 0,
  }
}

/** New credentials of a principal; with a lifetime they are temporary and carry a session token. */
export function createKey(world: World, principal: Principal, lifetimeMs?: number): AccessKey {
  const letters = randomBytes(16)
    .map(byte => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charCodeAt(byte % 32))
    .toString()
  const key: AccessKey = {
    accessKeyId: `${lifetimeMs === undefined ? 'AKIA' : 'ASIA'}${letters}`,
    secretAccessKey: randomBytes(30).toString('base64'),
    session:
      lifetimeMs === undefined
        ? null
        : { token: randomBytes(150).toString('base64'), expiresAtMs: Date.now() + lifetimeMs },
    principal,
  }
  world.keys.set(key.accessKeyId, key)
  return key
}

export const staticPrincipal: Principal = {
  arn: labPrincipal,
  identity: labPrincipal,
  userId: 'AIDALABHIGHWATERUSER1',
  account: labAccount,
  mayReadEks: true,
}

/** The Kubernetes rights (`verb resource`) of an IAM user or role in a cluster; null when it is not mapped. */
export function rightsOf(cluster: WorldCluster, identity: string): readonly string[] | null {
  const access = cluster.scenario.access ?? { [labPrincipal]: auditorRights }
  return access[identity] ?? null
}
