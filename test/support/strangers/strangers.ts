/**
 * The world of a deployed stack, made of programs that nobody here wrote: moto is AWS, its Step Functions run the state machine, a kube-apiserver with its etcd
 * is the cluster. The functions are the deployed bundles, each invocation a process with its role's credentials. What stands between is told in its files.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AwsCredentials } from '#clients/aws/credentials.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import { type FunctionProcesses, functionProcesses } from '#test/function-process.ts'
import {
  type RealApiServer,
  realApiServerPrograms,
  startRealApiServer,
} from '#test/real-api-server.ts'
import { storedObjects } from '#test/stored-objects.ts'
import { type Account, bucket, createCluster, openAccount } from './account.ts'
import { startFront } from './front.ts'
import { type Iam, openIam } from './iam.ts'
import { type Kubelets, startKubelets } from './kubelets.ts'
import { type Moto, motoMissing, motoProgram, startMoto } from './moto.ts'
import { rolePolicies } from './role-policies.ts'
import { startTokenWebhook } from './token-webhook.ts'

export interface Strangers {
  moto: Moto
  account: Account
  iam: Iam
  apiServer: RealApiServer
  kubelets: Kubelets
  functions: FunctionProcesses
  /** A function with its role and the stack's settings. @param name `Audit`, as the state machine names them. @throws as FunctionProcesses */
  invoke(name: string, event: unknown): Promise<unknown>
  close(): Promise<void>
}

export interface Deployment {
  cluster: ClusterScenario
  /** Of the bucket's keys: what the functions' roles may write is below it. */
  prefix: string
  /** Of the access entry of a function's role; null: it has none. */
  groupsOf(name: string): readonly string[] | null
  /** What the stack sets for a function beside what it sets for all, asked at each invocation. */
  environmentOf(name: string, event: unknown, account: Account): Readonly<Record<string, string>>
}

/** Those that are not here, for people; none: all are. */
export const strangersMissing = (): string[] => [
  ...[motoMissing()].filter(missing => missing !== null),
  ...(realApiServerPrograms() === null
    ? ['etcd and kube-apiserver in KUBEBUILDER_ASSETS or on the PATH']
    : []),
]

/** The memory of a function by default, see serverless.yml. */
const memoryMiB = 1024

/** @throws Error where something is missing, or does not come up */
export async function startStrangers({
  cluster,
  prefix,
  groupsOf,
  environmentOf,
}: Deployment): Promise<Strangers> {
  const [motoFile, programs] = [motoProgram(), realApiServerPrograms()]
  if (motoFile === null || programs === null)
    throw new Error(`this machine lacks ${strangersMissing().join('; ')}`)
  const folder = mkdtempSync(join(tmpdir(), 'highwater-strangers-'))
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const each of closing.toReversed()) await each()
  }
  const kept = <Part extends { close(): unknown }>(part: Part): Part => {
    closing.push(() => part.close())
    return part
  }
  try {
    const late: { moto?: Moto; apiServer?: RealApiServer; invoke?: Strangers['invoke'] } = {}
    const front = kept(
      await startFront({
        port: () => late.moto?.port ?? 0,
        apiServer() {
          const { server = '', ca = '' } = late.apiServer?.endpointOf('') ?? {}
          return { server, ca }
        },
        invoke: async (name, event) => late.invoke?.(name, event),
      }),
    )
    const moto = kept(await startMoto(motoFile, front.port))
    late.moto = moto
    const iam = await openIam(moto.endpoint, await rolePolicies(bucket, prefix))
    const account = await openAccount(
      front.endpoint,
      ['Discover', 'AuditShard', 'Publish'],
      iam.administrator,
    )
    await createCluster(front.endpoint, cluster, iam.administrator)

    const at = new Date().toISOString()
    const instances = await instancesOf(cluster, at, account)
    const stored = storedObjects(cluster, at, node => {
      const id = instances.get(node.metadata?.name ?? '')
      return id === undefined
        ? node
        : { ...node, spec: { ...node.spec, providerID: `aws:///us-east-1a/${id}` } }
    })
    const kubelets = kept(await startKubelets(cluster, at, folder))
    const webhook = kept(await startTokenWebhook(account, cluster.name, groupsOf, folder))
    const apiServer = kept(
      await startRealApiServer(programs, stored, [], [...kubelets.flags, ...webhook.flags]),
    )
    late.apiServer = apiServer

    const functions = await functionProcesses({ ...account.environment }, memoryMiB)
    closing.push(() => functions.remove())
    const invoke: Strangers['invoke'] = async (name, event) =>
      functions.invoke(name, event, {
        ...lambdaEnvironment(name),
        ...credentialsIn(await account.credentialsOf(name)),
        ...environmentOf(name, event, account),
      })
    late.invoke = invoke
    return { moto, account, iam, apiServer, kubelets, functions, invoke, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** One of moto's for each node, but for those whose instance is gone. */
async function instancesOf(
  { name, nodes, goneInstances = [] }: ClusterScenario,
  at: string,
  account: Account,
): Promise<Map<string, string>> {
  const names = nodes
    .names()
    .filter(node => !goneInstances.includes(node) && nodes.node(node)?.node(at).spec?.providerID)
  const ids = await account.runInstances(name, names.length)
  return new Map(names.map((node, index) => [node, ids[index] ?? '']))
}

/** Source: AWS Lambda developer guide, defined runtime environment variables. */
const lambdaEnvironment = (name: string): Record<string, string> => ({
  AWS_LAMBDA_FUNCTION_NAME: `highwater-prod-${name}`,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMiB),
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
})

const credentialsIn = ({
  accessKeyId,
  secretAccessKey,
  sessionToken = '',
}: AwsCredentials): Record<string, string> => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  AWS_SESSION_TOKEN: sessionToken,
})
