/** What the lab's SSM knows from one request to the next. */
import { createHash } from 'node:crypto'
import type { RawObject } from '#base/raw-object.ts'
import { machineFrom } from '#lab/machines/machine.ts'
import type { Machines } from '#lab/machines/machines.ts'
import { managedIdOf } from '#lab/nodes/as-they-are.ts'
import type {
  AgentScenario,
  LabNode,
  NodeSource,
  Scenario,
  SsmScenario,
} from '#lab/scenarios/scenario.ts'

/** A document of the account; its content is JSON, schema 2.2. */
export interface LabDocument {
  name: string
  content: string
}

/** An agent that can run what it is told. */
export type Agent = AgentScenario & Required<Pick<AgentScenario, 'run'>>

export interface Invocation {
  instanceId: string
  status: string
  statusDetails: string
  responseCode: number
  stdout: string
  stderr: string
  /** Questions that are still answered as if it did not exist. */
  unseenLeft: number
}

export interface Command {
  id: string
  document: string
  comment: string
  /** As they were given. */
  parameters: RawObject
  requestedAtMs: number
  stepName: string
  output: { bucket: string; prefix: string } | null
  invocations: Map<string, Invocation>
}

export interface WorldSsm {
  scenario: SsmScenario
  throttlesLeft: number
  /** By action. */
  throttlesLeftOf: Map<string, number>
  documents: Map<string, LabDocument & { sha256: string }>
  commands: Map<string, Command>
  /** The agent of an instance; undefined: SSM does not know it. */
  agentOf(instanceId: string): Agent | undefined
  /** Every instance with an agent, as SSM knows it. */
  instanceIds(): readonly string[]
  /** Whether a command that names it is refused. */
  isRefused(instanceId: string): boolean
}

/** Where several scenarios speak of SSM, the last one holds. */
export function createSsm(
  scenarios: readonly Scenario[],
  documents: readonly LabDocument[],
  machines: Machines,
  at: string,
): WorldSsm {
  const usual: SsmScenario = {
    denied: [],
    throttlesFirst: 0,
    throttlesFirstOf: {},
    unseenFirst: 0,
    down: false,
  }
  const scenario: SsmScenario = Object.assign(usual, ...scenarios.map(({ ssm }) => ssm))
  let agents: Map<string, () => Agent | undefined> | null = null
  const forgotten = new Set<string>()
  // A large fleet's nodes are made only when somebody asks SSM.
  const known = () => {
    agents ??= new Map(
      scenarios.flatMap(({ clusters }) =>
        clusters.flatMap(({ nodes }) => agentsOf(nodes, machines, at)),
      ),
    )
    return agents
  }
  const agentOf = (instanceId: string) => known().get(instanceId)?.()
  return {
    scenario,
    throttlesLeft: scenario.throttlesFirst,
    throttlesLeftOf: new Map(Object.entries(scenario.throttlesFirstOf)),
    documents: new Map(
      documents.map(document => [
        document.name,
        { ...document, sha256: createHash('sha256').update(document.content).digest('hex') },
      ]),
    ),
    commands: new Map(),
    agentOf,
    instanceIds: () =>
      [...known().keys()].filter(id => !forgotten.has(id) && agentOf(id) !== undefined),
    isRefused(instanceId) {
      const agent = agentOf(instanceId)
      if (agent !== undefined && agent.fault?.kind !== 'gone') return false
      if (agent?.fault?.kind === 'gone' && agent.fault.isForgotten) forgotten.add(instanceId)
      return true
    },
  }
}

function agentsOf(
  nodes: NodeSource,
  machines: Machines,
  at: string,
): [string, () => Agent | undefined][] {
  const successors = Object.entries(nodes.successors ?? {})
  return [
    ...nodes.names().flatMap(name => agentOf(name, nodes.node(name), machines, at)),
    ...successors.flatMap(([predecessor, { name, node }]) => {
      const gone = nodes.node(predecessor)
      return agentOf(name, node, machines, at).map(
        ([id, agent]): [string, () => Agent | undefined] => [
          id,
          () =>
            gone && machines.struckAtMs(managedIdOf(predecessor, gone, at)) !== null
              ? agent()
              : undefined,
        ],
      )
    }),
  ]
}

function agentOf(
  name: string,
  node: LabNode | undefined,
  machines: Machines,
  at: string,
): [string, () => Agent | undefined][] {
  const agent = node?.agent
  if (!agent) return []
  const { changeFault: fault } = node
  const id = managedIdOf(name, node, at)
  const build = () => node.machine?.(at) ?? machineFrom('host', [])
  const run: Agent['run'] =
    agent.run ?? ((script, environment) => machines.run(id, build, script, environment))
  const now = (): Agent | undefined => {
    const struckAtMs = machines.struckAtMs(id)
    if (struckAtMs === null) return { ...agent, run }
    if (fault?.kind === 'replaced') return undefined
    const isBack =
      fault?.kind === 'agent-lost' &&
      fault.backAfterMs !== undefined &&
      Date.now() >= struckAtMs + fault.backAfterMs
    return isBack ? { ...agent, run } : { ...agent, run, pingStatus: 'ConnectionLost' }
  }
  return [[id, now]]
}
