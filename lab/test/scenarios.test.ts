import { describe, expect, it } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import { incidentNodes, onMorning } from '#lab/scenarios/incident-nodes.ts'
import { scenarioNamed, scenarios } from '#lab/scenarios/index.ts'
import type { LabNode, Scenario } from '#lab/scenarios/scenario.ts'

const at = '2026-11-21T02:00:00Z'

const everyNode = (scenario: Scenario): [cluster: string, name: string, node: LabNode][] =>
  scenario.clusters.flatMap(cluster =>
    cluster.nodes
      .names()
      .map((name): [string, string, LabNode] => [cluster.name, name, cluster.nodes.node(name)!]),
  )

describe.each(scenarios.map(scenario => [scenario.name, scenario] as const))(
  'the scenario %s',
  (name, scenario) => {
    it('is found by its name', () => {
      expect(scenarioNamed(name)).toBe(scenario)
    })

    it('says what is expected of each of its nodes, and of each cluster that hides them', () => {
      const { nodes, notAudited } = scenario.expect()
      const readable = everyNode(scenario).filter(([cluster]) => !notAudited.includes(cluster))
      expect(nodes.map(({ cluster, node }) => `${cluster}/${node}`).sort()).toEqual(
        readable.map(([cluster, node]) => `${cluster}/${node}`).sort(),
      )
      expect(scenario.clusters.map(cluster => cluster.name)).toEqual(
        expect.arrayContaining([...notAudited]),
      )
      for (const { rules } of nodes) expect([...rules]).toEqual([...rules].sort())
    })

    it('gives each node the pods that it lists, in objects and in statistics', () => {
      for (const [, nodeName, node] of everyNode(scenario)) {
        const keys = node.podKeys()
        const pods = keys.map((_, index) => node.pod(index, at))
        expect(
          pods.map(pod => ({ namespace: pod.metadata?.namespace, name: pod.metadata?.name })),
        ).toEqual(keys)
        expect(new Set(pods.map(pod => pod.spec?.nodeName))).toEqual(new Set([nodeName]))
        const measured = (node.summary(at) as { pods: { podRef: { uid: string } }[] }).pods.map(
          pod => pod.podRef.uid,
        )
        const uids = pods.map(pod => pod.metadata?.uid)
        expect(uids).toEqual(expect.arrayContaining(measured))
        expect(new Set(uids).size).toBe(uids.length)
      }
    })

    it('keeps its numbers possible: nothing available is negative, or more than there is', () => {
      for (const [, , node] of everyNode(scenario)) {
        const { node: stats } = node.summary(at) as {
          node: { fs: Fs; runtime: { imageFs: Fs }; memory: { availableBytes: number } }
        }
        for (const fs of [stats.fs, stats.runtime.imageFs]) {
          expect(fs.availableBytes).toBeGreaterThanOrEqual(0)
          expect(fs.usedBytes + fs.availableBytes).toBeLessThanOrEqual(fs.capacityBytes)
        }
        expect(stats.memory.availableBytes).toBeGreaterThan(100 * 2 ** 20)
        expect(JSON.stringify([node.node(at), node.configz(at), node.summary(at)])).not.toMatch(
          /NaN|undefined|:null[,}].*"availableBytes"/,
        )
      }
    })
  },
)

describe('what a scenario expects', () => {
  // What a disk says may be something else than what runs.
  const readByApi = scenarios.filter(scenario => scenario.expect().mode === undefined)
  it.each(readByApi.map(scenario => [scenario.name, scenario] as const))(
    'of %s follows from its bodies by plain arithmetic',
    (_, scenario) => {
      const expected = new Map(
        scenario.expect().nodes.map(({ cluster, node, rules }) => [`${cluster}/${node}`, rules]),
      )
      const readable = everyNode(scenario).filter(
        ([cluster, name, node]) => expected.has(`${cluster}/${name}`) && !node.fault,
      )
      expect(readable.length).toBeGreaterThan(0)
      for (const [cluster, name, node] of readable) {
        const asked = ['eviction-due', 'image-gc-due']
        // Of a disk past both, the advice on the alert depends on what fills it.
        if (!fires('image-gc-due', node)) asked.unshift('alert-before-image-gc')
        const byArithmetic = asked.filter(rule => fires(rule, node))
        const named = expected.get(`${cluster}/${name}`)!.filter(rule => asked.includes(rule))
        expect(byArithmetic, name).toEqual(named)
        const pressure = node
          .node(at)
          .status?.conditions?.find(condition => condition.type === 'DiskPressure')?.status
        expect(pressure, name).toBe(byArithmetic.includes('eviction-due') ? 'True' : 'False')
      }
    },
  )
})

function fires(rule: string, node: LabNode): boolean {
  const { imageGCHighThresholdPercent: high, evictionHard } = (
    node.configz(at) as unknown as Configz
  ).kubeletconfig
  const { fs, runtime } = (
    node.summary(at) as unknown as { node: { fs: Fs; runtime: { imageFs: Fs } } }
  ).node
  if (rule === 'alert-before-image-gc') return high > 80
  if (rule === 'image-gc-due')
    return (
      100 - Math.floor((runtime.imageFs.availableBytes * 100) / runtime.imageFs.capacityBytes) >=
      high
    )
  const isBelow = (available: Fs, percent = '0%') =>
    available.availableBytes < (available.capacityBytes * parseFloat(percent)) / 100
  return (
    isBelow(fs, evictionHard['nodefs.available']) ||
    isBelow(runtime.imageFs, evictionHard['imagefs.available'])
  )
}

interface Configz {
  kubeletconfig: { imageGCHighThresholdPercent: number; evictionHard: Record<string, string> }
}

interface Fs {
  availableBytes: number
  capacityBytes: number
  usedBytes: number
}

const configzOf = (scenario: string, cluster: string, node: string) => {
  const found = scenarioNamed(scenario)
    .clusters.find(each => each.name === cluster)!
    .nodes.node(node)!
  return (found.configz(at) as { kubeletconfig: Record<string, unknown> }).kubeletconfig
}

describe('a configz', () => {
  it('made by hand has the fields that a recorded one of its minor has', () => {
    const real = configzOf('recorded', 'recorded', 'ip-10-99-0-61.ec2.internal')
    const made = configzOf('faults', 'faults', 'ip-10-0-9-1.ec2.internal')
    // How that one kubelet was set up: given certificates, without iptables or reserved cgroups.
    const ofItsSetup = ['tlsCertFile', 'tlsPrivateKeyFile']
    expect(
      Object.keys(real).filter(field => !(field in made) && !ofItsSetup.includes(field)),
    ).toEqual([])
    expect(made).toMatchObject({
      imageGCHighThresholdPercent: 70,
      kubeReserved: { cpu: '70m', memory: '574Mi', 'ephemeral-storage': '1Gi' },
    })
  })

  it('of an older minor lacks what came later', () => {
    const made = configzOf('incidents', 'incidents', 'ip-10-0-1-11.ec2.internal')
    expect(made).not.toHaveProperty('mergeDefaultEvictionSettings')
    expect(made).toHaveProperty('containerLogMaxWorkers', 1)
  })
})

describe("a node's allocatable", () => {
  it('is what upstream leaves: capacity, less reserved, less hard eviction', () => {
    const node = scenarioNamed('incidents')
      .clusters[0]!.nodes.node('ip-10-0-1-11.ec2.internal')!
      .node(at)
    // 7905 MiB − 574 MiB reserved − 100 MiB for eviction; 20 GiB − 1 GiB − 10 % as float32.
    expect(node.status?.allocatable).toMatchObject({
      cpu: '1930m',
      memory: `${(7905 - 574 - 100) * 1024}Ki`,
      'ephemeral-storage': '18253610976',
    })
    expect(node.status?.capacity).toMatchObject({
      memory: `${7905 * 1024}Ki`,
      'ephemeral-storage': '20971520Ki',
      pods: '29',
    })
  })
})

describe('a fleet', () => {
  const source = (seed: number) => fleet({ nodes: 5000, seed }).clusters[0]!.nodes

  it('is the same for the same seed, and another for another', () => {
    const name = source(7).names()[4321]!
    expect(source(7).node(name)!.summary(at)).toEqual(source(7).node(name)!.summary(at))
    const disks = (seed: number) =>
      source(seed)
        .names()
        .slice(0, 20)
        .map(
          each =>
            (source(seed).node(each)!.summary(at) as { node: { fs: Fs } }).node.fs.availableBytes,
        )
    expect(disks(7)).not.toEqual(disks(8))
  })

  it('has nodes that are due, that evict, and that drift, among many that do not', () => {
    const { nodes } = fleet({ nodes: 1000 }).expect()
    const withRule = (rule: string) =>
      nodes.filter(({ rules }) => rules.some(each => each === rule)).length
    for (const rule of ['image-gc-due', 'eviction-due', 'peer-drift']) {
      expect(withRule(rule)).toBeGreaterThan(5)
      expect(withRule(rule)).toBeLessThan(300)
    }
  })

  it('knows no node beyond its last, nor a name that only looks like one', () => {
    expect(source(1).node('ip-10-64-20-1.ec2.internal')).toBeUndefined()
    expect(source(1).node('ip-10-64-0-01.ec2.internal')).toBeUndefined()
    expect(
      source(1).node('ip-10-64-19-250.ec2.internal')?.node('2026-11-21T00:00:00Z').metadata?.name,
    ).toBe('ip-10-64-19-250.ec2.internal')
  })

  it.each([0, 1.5, 60_001])('of %s nodes is refused', nodes => {
    expect(() => fleet({ nodes })).toThrow('a fleet has 1 to 60,000 nodes')
  })
})

it.each([0, 1, 2])('lets image GC of morning %i begin where a kubelet begins it', days => {
  const teeth = incidentNodes.flatMap(({ profile }) => {
    const { imageGcRounds = [], nodefs, configuration = {} } = onMorning(days, profile)
    return imageGcRounds.map(
      ({ wantedBytes }) =>
        Number(configuration.imageGCLowThresholdPercent) +
        (100 * wantedBytes) / nodefs.capacityBytes -
        Number(configuration.imageGCHighThresholdPercent),
    )
  })
  expect(teeth).toHaveLength(2)
  // The kubelet rounds use up. It looks every 5 minutes, and a disk does not grow much in that time.
  for (const points of teeth) expect(points).toSatisfy((over: number) => over > -1 && over < 3)
})
