/** The incidents of the field, one node or nodegroup each, and a second cluster with the kinds of nodes that EKS runs by itself. */
import { incidentEvents } from './incident-events.ts'
import {
  al2,
  al2023,
  type ExpectedNode,
  incidentNodes,
  managedNodes,
  onMorning,
  sourceOf,
} from './incident-nodes.ts'
import { incidentTemplates } from './launch-templates.ts'
import { autoModeClasses, karpenter } from './node-classes.ts'
import type { ExpectedRule, NodegroupScenario, Scenario } from './scenario.ts'

const al2Group = (name: string, desiredSize: number): NodegroupScenario => ({
  name,
  amiType: 'AL2_x86_64',
  version: '1.32',
  releaseVersion: '1.32.9-20251120',
  instanceTypes: [al2.instanceType],
  desiredSize,
  diskSize: 20,
})

const al2023Group = (name: string, desiredSize: number): NodegroupScenario => ({
  ...al2Group(name, desiredSize),
  amiType: 'AL2023_x86_64_STANDARD',
  releaseVersion: '1.32.9-20261103',
  instanceTypes: [al2023.instanceType],
})

const repairedNode = 'kubespray-worker-1'
const mendedRules: readonly ExpectedRule[] = ['alert-before-image-gc', 'eviction-before-image-gc']

const { diskSize: _, ...dataDiskGroup } = al2023Group('data-disk', 2)

/** How many percent of its disk a node fills in a day; below zero: image GC or a deleted pod made room. */
const dailyPercent: Record<string, number> = {
  'ip-10-0-1-11.ec2.internal': 1,
  'ip-10-0-1-12.ec2.internal': -1,
  'ip-10-0-1-21.ec2.internal': 3,
  'ip-10-0-1-22.ec2.internal': 1,
  'ip-10-0-1-51.ec2.internal': 1,
  'ip-10-0-1-61.ec2.internal': -2,
  'ip-10-0-1-63.ec2.internal': 2,
  'sized-worker-1': 1,
  [repairedNode]: 4,
}

/**
 * Some days later: disks have filled, on some nodes.
 *
 * @param isRepaired somebody has given one node the 70/50 that it needs; nothing else has changed
 */
export const incidentsAfter = (days: number, isRepaired: boolean): Scenario =>
  incidentsOf(
    incidentNodes.map(expectedNode =>
      repairedWhere(
        isRepaired && expectedNode.profile.name === repairedNode,
        filledFor(days, expectedNode),
      ),
    ),
    days,
  )

function filledFor(days: number, { profile, rules }: ExpectedNode): ExpectedNode {
  const { nodefs, imagefs, name } = profile
  const more = days * (dailyPercent[name] ?? 0)
  const filled = <T extends { usedPercent: number }>(disk: T) => ({
    ...disk,
    usedPercent: disk.usedPercent + more,
  })
  const disks = imagefs ? { nodefs, imagefs: filled(imagefs) } : { nodefs: filled(nodefs) }
  return { profile: onMorning(days, { ...profile, ...disks }), rules }
}

function repairedWhere(isRepaired: boolean, { profile, rules }: ExpectedNode): ExpectedNode {
  if (!isRepaired) return { profile, rules }
  const configuration = {
    ...profile.configuration,
    imageGCHighThresholdPercent: 70,
    imageGCLowThresholdPercent: 50,
  }
  return {
    profile: { ...profile, configuration },
    rules: rules.filter(rule => !mendedRules.includes(rule)),
  }
}

function incidentsOf(nodes: readonly ExpectedNode[], days: number): Scenario {
  return {
    name: 'incidents',
    about: 'the disk incidents of the field, one nodegroup each',
    clusters: [
      {
        name: 'incidents',
        version: '1.32',
        tags: { team: 'platform' },
        nodegroups: [
          al2Group('al2-defaults', 2),
          {
            ...al2Group('al2-tuned', 2),
            launchTemplate: { id: 'lt-0a11ab00000000001', name: 'al2-tuned', version: '4' },
          },
          al2Group('al2-refused', 1),
          {
            ...dataDiskGroup,
            launchTemplate: { id: 'lt-0a11ab00000000002', name: 'data-disk', version: '1' },
          },
          al2023Group('general', 4),
        ],
        nodes: sourceOf(nodes),
        events: at =>
          incidentEvents(
            nodes.map(({ profile }) => profile),
            days,
            at,
          ),
        nodeClasses: karpenter,
      },
      {
        name: 'incidents-managed',
        version: '1.34',
        autoMode: true,
        nodegroups: [
          {
            name: 'windows',
            amiType: 'WINDOWS_CORE_2022_x86_64',
            version: '1.34',
            releaseVersion: '1.34-2026.11.12',
            instanceTypes: ['m5.xlarge'],
            desiredSize: 1,
            diskSize: 50,
          },
        ],
        nodes: sourceOf(managedNodes),
        nodeClasses: autoModeClasses,
      },
    ],
    launchTemplates: incidentTemplates,
    expect: () => ({
      nodes: [...expected('incidents', nodes), ...expected('incidents-managed', managedNodes)],
      notAudited: [],
    }),
  }
}

const expected = (cluster: string, nodes: readonly ExpectedNode[]) =>
  nodes.map(({ profile, rules }) => ({ cluster, node: profile.name, rules }))

export const incidents: Scenario = incidentsAfter(0, false)
