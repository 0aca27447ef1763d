/** Starts the lab: EKS, EC2, STS, S3, SES, SNS, SSM and one API server a cluster, on free ports of 127.0.0.1. */

import type { RawObject } from '#base/raw-object.ts'
import type { EndedStatus, LabExecution } from '#lab/apis/sfn-execution.ts'
import type { Notice } from '#lab/apis/sns-notice.ts'
import { cloudwatchApi } from './apis/cloudwatch.ts'
import { ec2Api } from './apis/ec2.ts'
import { eksApi } from './apis/eks.ts'
import { eventsApi } from './apis/events.ts'
import { kmsApi } from './apis/kms.ts'
import { kubernetesApi } from './apis/kubernetes.ts'
import { s3Api } from './apis/s3.ts'
import type { Mail } from './apis/sesv2/mailbox.ts'
import { sesApi } from './apis/sesv2.ts'
import { sfnApi } from './apis/sfn.ts'
import { snsApi } from './apis/sns.ts'
import type { LabDocument } from './apis/ssm/state.ts'
import { ssmApi } from './apis/ssm.ts'
import { stsApi } from './apis/sts.ts'
import { createAuthority, issueServing } from './certificates.ts'
import { kubeconfig } from './kubeconfig.ts'
import { standUpKubelets } from './kubelets.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { type Served, serve } from './server.ts'
import { createTally, type Requests, type Tally } from './tally.ts'
import { createKey, createWorld, staticPrincipal, type World, type WorldCluster } from './world.ts'

export interface LabOptions {
  /** Default `us-east-1`. */
  region?: string
  /** RFC 3339: "now" in the bodies of generated nodes. Default: when the lab starts. Signatures go by the real clock. */
  at?: string
  /** S3's objects are kept there as files, `<bucket>/<key>`, and found again by the next lab. Default: in memory. */
  storeFolder?: string
  /** Each mail becomes a folder of openable files there. Default: none. */
  mailFolder?: string
  /** What the account's SSM has of documents. Default: none. */
  documents?: readonly LabDocument[]
}

/** What SSM was told to run. */
export interface SentCommand {
  document: string
  instanceIds: string[]
  /** As SSM was given them. */
  parameters: RawObject
}

export interface LabMachine {
  /** Its root folder. */
  root: string
  hasFaultStruck: boolean
}

export interface Lab {
  /** Environment variables with which the AWS SDKs and the AWS CLI find the lab. */
  environment: Record<string, string>
  /** A kubeconfig with one context for each cluster that has an API server, named after it. */
  kubeconfig: string
  /** What was asked so far. */
  requests(): Requests
  /** What SES took since the lab started, oldest first. */
  mails(): readonly Mail[]
  /** What SNS took, likewise. */
  notices(): readonly Notice[]
  /** Entries that EventBridge has taken. */
  events(): readonly RawObject[]
  /** What Step Functions was told to run, likewise. */
  executions(): readonly LabExecution[]
  /** How one of them ended. @throws Error when none of that name is under way */
  endExecution(name: string, status: EndedStatus): void
  /** Every command that SSM took, oldest first. */
  commands(): SentCommand[]
  /** An instance's machine; null: nothing has run on it yet. */
  machineOf(instanceId: string): LabMachine | null
  /** Every continue token handed out by that cluster so far has expired. @throws Error when there is no such cluster. */
  expireContinueTokens(cluster: string): void
  /**
   * That cluster's API server has a certificate of a new authority from now on; its kubelets keep theirs. @param shown what EKS shows of it: the new one, still the old
   * one, or both. @throws Error when there is no such API server.
   */
  rotateAuthority(cluster: string, shown: 'new' | 'old' | 'both'): void
  close(): Promise<void>
}

/** @throws Error when two scenarios share a cluster name, or no port can be had. */
export async function startLab(
  scenarios: Scenario | readonly Scenario[],
  options: LabOptions = {},
): Promise<Lab> {
  const { region = 'us-east-1', at = new Date().toISOString() } = options
  const world = createWorld([scenarios].flat(), { ...options, region, at })
  const tally = createTally()
  const key = createKey(world, staticPrincipal)
  const [eks, ec2, sts, cloudwatch, kms, s3, ses, sns, events, sfn, ssm, ...apiServers] =
    await Promise.all([
      serve(eksApi(world), tally),
      serve(ec2Api(world), tally),
      serve(stsApi(world), tally),
      serve(cloudwatchApi(world), tally),
      serve(kmsApi(world), tally),
      world.s3.scenario.down ? null : serve(s3Api(world), tally),
      world.ses.scenario.down ? null : serve(sesApi(world), tally),
      world.sns.scenario.down ? null : serve(snsApi(world), tally),
      serve(eventsApi(world), tally),
      serve(sfnApi(world), tally),
      world.ssm.scenario.down ? null : serve(ssmApi(world), tally),
      ...[...world.clusters.values()].map(cluster => standUp(cluster, world, tally)),
    ])
  return {
    environment: {
      AWS_ENDPOINT_URL_EKS: endpoint(eks),
      AWS_ENDPOINT_URL_EC2: endpoint(ec2),
      AWS_ENDPOINT_URL_STS: endpoint(sts),
      AWS_ENDPOINT_URL_CLOUDWATCH: endpoint(cloudwatch),
      AWS_ENDPOINT_URL_KMS: endpoint(kms),
      AWS_ENDPOINT_URL_S3: endpoint(s3),
      AWS_ENDPOINT_URL_SESV2: endpoint(ses),
      AWS_ENDPOINT_URL_SNS: endpoint(sns),
      AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint(events),
      AWS_ENDPOINT_URL_SFN: endpoint(sfn),
      AWS_ENDPOINT_URL_SSM: endpoint(ssm),
      AWS_ACCESS_KEY_ID: key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    kubeconfig: kubeconfig(world),
    requests: tally.requests,
    mails: world.ses.mailbox.mails,
    notices: () => world.sns.notices,
    events: () => world.events.taken,
    executions: () => world.sfn.executions,
    endExecution(name, status) {
      const execution = world.sfn.executions.find(
        one => one.name === name && one.status === 'RUNNING',
      )
      if (!execution) throw new Error(`no execution named ${name} is under way in the lab`)
      execution.status = status
    },
    commands: () =>
      [...world.ssm.commands.values()].map(({ document, invocations, parameters }) => ({
        document,
        instanceIds: [...invocations.keys()],
        parameters: structuredClone(parameters),
      })),
    machineOf(instanceId) {
      const root = world.machines.rootOf(instanceId)
      return root === null
        ? null
        : { root, hasFaultStruck: world.machines.struckAtMs(instanceId) !== null }
    },
    expireContinueTokens(name) {
      const cluster = world.clusters.get(name)
      if (!cluster) throw new Error(`the lab has no cluster named ${name}`)
      cluster.revision += 1
      cluster.compactedRevision = cluster.revision
    },
    rotateAuthority(name, shown) {
      const cluster = world.clusters.get(name)
      const served = apiServers[[...world.clusters.keys()].indexOf(name)]
      if (!cluster || !served)
        throw new Error(`the lab has no API server of a cluster named ${name}`)
      const authority = createAuthority('kubernetes')
      served.present(issueServing(authority, servedNames))
      const shownPems = {
        new: [authority.certificatePem],
        old: [cluster.shownAuthorityPem],
        both: [cluster.shownAuthorityPem, authority.certificatePem],
      }
      cluster.shownAuthorityPem = shownPems[shown].join('')
    },
    async close() {
      await Promise.all(
        [eks, ec2, sts, cloudwatch, kms, s3, ses, sns, events, sfn, ssm, ...apiServers].map(
          server => server?.close(),
        ),
      )
      await world.machines.close()
    },
  }
}

/** Port 1 (tcpmux) is nobody's: a free port could be taken by the next server. */
const closedPort = '127.0.0.1:1'

const endpoint = (served: Served | null) =>
  `http://${served ? `127.0.0.1:${served.port}` : closedPort}`

const servedNames = { dns: ['localhost', 'kubernetes'], ip: ['127.0.0.1'] }

/** Gives the cluster its endpoint, and a server there unless its fault says otherwise. */
async function standUp(cluster: WorldCluster, world: World, tally: Tally): Promise<Served | null> {
  const { status, faults } = cluster.scenario
  if (status === 'CREATING') return null
  if (faults?.endpoint) {
    // RFC 6761: a name under .invalid never resolves.
    const host = faults.endpoint === 'unresolvable' ? 'lab.invalid:443' : closedPort
    cluster.endpoint = `https://${host}`
    return null
  }
  const names =
    faults?.certificate === 'other-host' ? { dns: ['kubernetes.example.com'], ip: [] } : servedNames
  const kubelets = cluster.scenario.kubelets ? await standUpKubelets(cluster, world, tally) : []
  const served = await serve(
    kubernetesApi(cluster, world),
    tally,
    issueServing(cluster.authority, names),
  )
  cluster.endpoint = `https://127.0.0.1:${served.port}`
  return {
    ...served,
    close: async () =>
      void (await Promise.all([served, ...kubelets].map(server => server.close()))),
  }
}
