/** A client's view of the lab: EKS tokens made with the SDK's own signer, and plain HTTPS. */
import { request } from 'node:https'
import { Sha256 } from '@aws-crypto/sha256-js'
import { DescribeClusterCommand, EKSClient } from '@aws-sdk/client-eks'
import { SignatureV4 } from '@smithy/signature-v4'
import { type Lab, type LabOptions, startLab } from '#lab/lab.ts'
import { faultyNode } from '#lab/scenarios/faults.ts'
import {
  type ClusterScenario,
  fixedNodes,
  type NodeFault,
  type Scenario,
} from '#lab/scenarios/scenario.ts'

/** Starts a lab and points this process's AWS settings at it. */
export async function enterLab(
  scenarios: Scenario | Scenario[],
  options?: LabOptions,
): Promise<Lab> {
  const lab = await startLab(scenarios, options)
  Object.assign(process.env, lab.environment)
  return lab
}

export function scenario(
  clusters: Partial<ClusterScenario>[],
  more: Partial<Scenario> = {},
): Scenario {
  return {
    name: 'test',
    about: 'made by a test',
    clusters: clusters.map((cluster, index) => ({
      name: `cluster-${index}`,
      version: '1.34',
      nodegroups: [],
      nodes: fixedNodes({}),
      ...cluster,
    })),
    expect: () => ({ nodes: [], notAudited: [] }),
    ...more,
  }
}

/** A node source of healthy nodes at 10.0.0.1 and on, and one for each fault behind them. */
export function nodes(healthy: number, ...faults: NodeFault[]) {
  const all = [
    ...Array.from({ length: healthy }, (_, index) => faultyNode(`10.0.0.${index + 1}`)),
    ...faults.map((fault, index) => faultyNode(`10.0.1.${index + 1}`, fault)),
  ]
  return fixedNodes(Object.fromEntries(all.map(({ name, node }) => [name, node])))
}

export interface TokenParts {
  accessKeyId?: string
  secretAccessKey?: string
  sessionToken?: string
  region?: string
  host?: string
  path?: string
  signedCluster?: string | null
  expiresIn?: number
  ageMs?: number
  query?: Record<string, string>
  /** The last hand on the URL before it is encoded. */
  rewrite?: (url: string) => string
}

/** An EKS token as every client makes it, but for the parts that a test wants otherwise. */
export async function token(lab: Lab, cluster: string, parts: TokenParts = {}): Promise<string> {
  const region = parts.region ?? 'us-east-1'
  const host = parts.host ?? `sts.${region}.amazonaws.com`
  const path = parts.path ?? '/'
  const signer = new SignatureV4({
    service: 'sts',
    region,
    sha256: Sha256,
    credentials: {
      accessKeyId: parts.accessKeyId ?? lab.environment.AWS_ACCESS_KEY_ID!,
      secretAccessKey: parts.secretAccessKey ?? lab.environment.AWS_SECRET_ACCESS_KEY!,
      ...(parts.sessionToken && { sessionToken: parts.sessionToken }),
    },
  })
  const signedCluster = parts.signedCluster === undefined ? cluster : parts.signedCluster
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname: host,
      path,
      headers: { host, ...(signedCluster !== null && { 'x-k8s-aws-id': signedCluster }) },
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15', ...parts.query },
    },
    { expiresIn: parts.expiresIn ?? 60, signingDate: new Date(Date.now() - (parts.ageMs ?? 0)) },
  )
  const query = Object.entries(signed.query ?? {}).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  )
  const url = `https://${host}${path}?${query.join('&')}`
  return `k8s-aws-v1.${Buffer.from(parts.rewrite?.(url) ?? url).toString('base64url')}`
}

export interface ClusterAccess {
  endpoint: string
  ca: string
}

export async function describe(cluster: string, eks = new EKSClient({})): Promise<ClusterAccess> {
  const answer = await eks.send(new DescribeClusterCommand({ name: cluster }))
  return {
    endpoint: answer.cluster?.endpoint ?? '',
    ca: Buffer.from(answer.cluster?.certificateAuthority?.data ?? '', 'base64').toString(),
  }
}

export interface HttpAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  text: string
  json: Record<string, never>
}

/** A GET over HTTPS; without a token it is anonymous. @throws the connection's own error. */
export function get(
  { endpoint, ca }: ClusterAccess,
  path: string,
  bearer?: string,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${endpoint}${path}`, {
      ca,
      agent: false,
      headers: { ...headers, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
    })
    sent.on('error', reject)
    sent.on('response', response => {
      const chunks: Buffer[] = []
      response.on('error', reject)
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const body = Buffer.concat(chunks)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body,
          text: body.toString(),
          get json() {
            return JSON.parse(body.toString())
          },
        })
      })
    })
    sent.end()
  })
}

/** Asks API servers of the lab as its own principal; `of` tells how to reach one. */
export function askIn(lab: Lab) {
  const {
    AWS_ENDPOINT_URL_EKS: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID = '',
    AWS_SECRET_ACCESS_KEY = '',
  } = lab.environment
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY }
  const eks = new EKSClient({ endpoint, region, credentials })
  const of = async (cluster: string) => ({
    ...(await describe(cluster, eks)),
    bearer: await token(lab, cluster),
  })
  const ask = async (cluster: string, path: string) => {
    const { bearer, ...access } = await of(cluster)
    const { status, text } = await get(access, path, bearer)
    return { status, json: text.startsWith('{') ? JSON.parse(text) : {} }
  }
  return Object.assign(ask, { of })
}
