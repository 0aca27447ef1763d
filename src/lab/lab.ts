/** Starts the lab: EKS, STS and one API server a cluster, on free ports of 127.0.0.1. */
import { eksApi } from './apis/eks.ts'
import { kubernetesApi } from './apis/kubernetes.ts'
import { stsApi } from './apis/sts.ts'
import { issueServing } from './certificates.ts'
import { kubeconfig } from './kubeconfig.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { type Served, serve } from './server.ts'
import { createTally, type Requests, type Tally } from './tally.ts'
import { createKey, createWorld, staticPrincipal, type World, type WorldCluster } from './world.ts'

export interface LabOptions {
  /** Default `us-east-1`. */
  region?: string
  /** RFC 3339: "now" in the bodies of generated nodes. Default: when the lab starts. Signatures go by the real clock. */
  at?: string
}

export interface Lab {
  /** Environment variables with which the AWS SDKs and the AWS CLI find the lab. */
  environment: Record<string, string>
  /** A kubeconfig with one context for each cluster that has an API server, named after it. */
  kubeconfig: string
  /** What was asked so far. */
  requests(): Requests
  /** Every continue token handed out by that cluster so far has expired. @throws Error when there is no such cluster. */
  expireContinueTokens(cluster: string): void
  close(): Promise<void>
}

/** @throws Error when two scenarios share a cluster name, or no port can be had. */
export async function startLab(scenarios: Scenario | readonly Scenario[], options: LabOptions = {}): Promise<Lab> {
  const { region = 'us-east-1', at = new Date().toISOString() } = options
  const world = createWorld([scenarios].flat(), { region, at })
  const tally = createTally()
  const key = createKey(world, staticPrincipal)
  const [eks, sts, ...apiServers] = await Promise.all([
    serve(eksApi(world), tally),
    serve(stsApi(world), tally),
    ...[...world.clusters.values()].map(cluster => standUp(cluster, world, tally)),
  ])
  return {
    environment: {
      AWS_ENDPOINT_URL_EKS: `http://127.0.0.1:${eks.port}`,
      AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${sts.port}`,
      AWS_ACCESS_KEY_ID: key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    kubeconfig: kubeconfig(world),
    requests: tally.requests,
    expireContinueTokens(name) {
      const cluster = world.clusters.get(name)
      if (!cluster) throw new Error(`the lab has no cluster named ${name}`)
      cluster.revision += 1
      cluster.compactedRevision = cluster.revision
    },
    async close() {
      await Promise.all([eks, sts, ...apiServers].map(server => server?.close()))
    },
  }
}

/** Gives the cluster its endpoint, and a server there unless its fault says otherwise. */
async function standUp(cluster: WorldCluster, world: World, tally: Tally): Promise<Served | null> {
  const { status, faults } = cluster.scenario
  if (status === 'CREATING') return null
  if (faults?.endpoint) {
    // RFC 6761: a name under .invalid never resolves. Port 1 (tcpmux) is nobody's: a free port could be taken by the next server.
    const host = faults.endpoint === 'unresolvable' ? 'lab.invalid:443' : '127.0.0.1:1'
    cluster.endpoint = `https://${host}`
    return null
  }
  const names =
    faults?.certificate === 'other-host'
      ? { dns: ['kubernetes.example.com'], ip: [] }
      : { dns: ['localhost', 'kubernetes'], ip: ['127.0.0.1'] }
  const served = await serve(kubernetesApi(cluster, world), tally, issueServing(cluster.authority, names))
  cluster.endpoint = `https://127.0.0.1:${served.port}`
  return served
}
