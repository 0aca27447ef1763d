/** What DescribeCluster, DescribeNodegroup and DescribeInsight answer. Timestamps are seconds since the epoch, as restJson1 has them. */
import { Refusal } from '#lab/api.ts'
import type { InsightScenario, NodegroupScenario } from '#lab/scenarios/scenario.ts'
import type { WorldCluster } from '#lab/world.ts'

/** 2026-03-02, when the lab's clusters were made. */
const createdAt = 1_772_445_600.25

export function describeCluster({
  scenario,
  region,
  account,
  endpoint,
  shownAuthorityPem,
}: WorldCluster): object {
  const creating = scenario.status === 'CREATING'
  return {
    name: scenario.name,
    ...(scenario.localId !== undefined && {
      id: scenario.localId,
      outpostConfig: {
        outpostArns: [`arn:aws:outposts:${region}:${account}:outpost/op-0a11ab0000000001`],
        controlPlaneInstanceType: 'm5.large',
      },
    }),
    arn: `arn:aws:eks:${region}:${account}:cluster/${scenario.name}`,
    createdAt,
    version: scenario.version,
    ...(!creating && endpoint !== null && { endpoint }),
    roleArn: `arn:aws:iam::${account}:role/${scenario.name}-cluster`,
    resourcesVpcConfig: {
      subnetIds: ['subnet-0a11ab0000000001', 'subnet-0a11ab0000000002'],
      securityGroupIds: [],
      clusterSecurityGroupId: 'sg-0a11ab0000000001',
      vpcId: 'vpc-0a11ab0000000001',
      endpointPublicAccess: scenario.privateEndpoint !== true,
      endpointPrivateAccess: true,
      publicAccessCidrs: ['0.0.0.0/0'],
    },
    kubernetesNetworkConfig: {
      serviceIpv4Cidr: '10.100.0.0/16',
      ipFamily: 'ipv4',
      elasticLoadBalancing: { enabled: !!scenario.autoMode },
    },
    logging: {
      clusterLogging: [
        {
          types: ['api', 'audit', 'authenticator', 'controllerManager', 'scheduler'],
          enabled: false,
        },
      ],
    },
    ...(!creating && {
      identity: {
        oidc: {
          issuer: `https://oidc.eks.${region}.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF`,
        },
      },
    }),
    status: scenario.status ?? 'ACTIVE',
    certificateAuthority: creating
      ? {}
      : { data: Buffer.from(shownAuthorityPem).toString('base64') },
    platformVersion: 'eks.9',
    tags: scenario.tags ?? {},
    health: { issues: [] },
    accessConfig: { authenticationMode: 'API_AND_CONFIG_MAP' },
    upgradePolicy: { supportType: 'STANDARD' },
    computeConfig: scenario.autoMode
      ? {
          enabled: true,
          nodePools: ['general-purpose', 'system'],
          nodeRoleArn: `arn:aws:iam::${account}:role/${scenario.name}-auto`,
        }
      : { enabled: false },
    storageConfig: { blockStorage: { enabled: !!scenario.autoMode } },
    ...(scenario.terminatedPodThreshold !== undefined && {
      kubeControllerManagerConfig: {
        podGcControllerConfig: { terminatedPodGcThreshold: scenario.terminatedPodThreshold },
      },
    }),
    deletionProtection: false,
  }
}

export function describeNodegroup(
  { scenario, region, account }: WorldCluster,
  group: NodegroupScenario,
): object {
  return {
    nodegroupName: group.name,
    nodegroupArn: `arn:aws:eks:${region}:${account}:nodegroup/${scenario.name}/${group.name}/0a11ab00-0000-0000-0000-000000000000`,
    clusterName: scenario.name,
    version: group.version,
    releaseVersion: group.releaseVersion,
    createdAt,
    modifiedAt: createdAt + 86_400,
    status: 'ACTIVE',
    capacityType: 'ON_DEMAND',
    scalingConfig: {
      minSize: 0,
      maxSize: Math.max(1, group.desiredSize * 2),
      desiredSize: group.desiredSize,
    },
    ...(!group.launchTemplate && { instanceTypes: group.instanceTypes }),
    subnets: ['subnet-0a11ab0000000001', 'subnet-0a11ab0000000002'],
    amiType: group.amiType,
    nodeRole: `arn:aws:iam::${account}:role/${scenario.name}-node`,
    labels: {},
    taints: [],
    resources: {
      autoScalingGroups: [{ name: `eks-${group.name}-0a11ab00-0000-0000-0000-000000000000` }],
    },
    ...(group.diskSize !== undefined && { diskSize: group.diskSize }),
    health: { issues: [] },
    updateConfig: { maxUnavailable: 1 },
    ...(group.launchTemplate && { launchTemplate: group.launchTemplate }),
    tags: {},
  }
}

/** An entry of ListInsights: only DescribeInsight has the recommendation. */
export const insightSummary = ({ recommendation: _, ...insight }: InsightScenario): object => ({
  category: 'UPGRADE_READINESS',
  lastRefreshTime: createdAt,
  lastTransitionTime: createdAt,
  ...insight,
})

export const describeInsight = (insight: InsightScenario): object => ({
  ...insightSummary(insight),
  recommendation: insight.recommendation,
  additionalInfo: {},
  resources: [],
  categorySpecificSummary: {},
})

interface InsightsFilter {
  categories?: string[]
  kubernetesVersions?: string[]
  statuses?: string[]
}

/** @throws Refusal for a member that EKS does not know */
export function insightsRequest(body: Buffer) {
  const read: { filter?: InsightsFilter; maxResults?: number; nextToken?: string } = JSON.parse(
    body.toString() || '{}',
  )
  const { filter = {}, maxResults = null, nextToken = null, ...others } = read
  const { categories, kubernetesVersions, statuses, ...more } = filter
  const unknown = [...Object.keys(others), ...Object.keys(more)]
  if (unknown.length > 0)
    throw new Refusal(501, 'NotImplemented', `the lab does not know ${unknown.join(', ')}`)
  return { filter: { categories, kubernetesVersions, statuses }, maxResults, nextToken }
}

export const isInsightAsked = (
  { category = 'UPGRADE_READINESS', kubernetesVersion = '', insightStatus }: InsightScenario,
  { categories, kubernetesVersions, statuses }: InsightsFilter,
): boolean =>
  categories?.includes(category) !== false &&
  kubernetesVersions?.includes(kubernetesVersion) !== false &&
  statuses?.includes(insightStatus.status) !== false
