/** What the lab's SSM knows from one request to the next. */
import { createHash } from 'node:crypto'
import { machineFrom } from '#lab/machines/machine.ts'
import type { Machines } from '#lab/machines/machines.ts'
import type { AgentScenario, LabNode, Scenario, SsmScenario } from '#lab/scenarios/scenario.ts'

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
  requestedAtMs: number
  stepName: string
  output: { bucket: string; prefix: string } | null
  invocations: Map<string, Invocation>
}

export interface WorldSsm {
  scenario: SsmScenario
  throttlesLeft: number
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
export function createSsm(scenarios: readonly Scenario[], documents: readonly LabDocument[], machines: Machines, at: string): WorldSsm {
  const usual: SsmScenario = { denied: [], throttlesFirst: 0, unseenFirst: 0, down: false }
  const scenario: SsmScenario = Object.assign(usual, ...scenarios.map(({ ssm }) => ssm))
  let agents: Map<string, Agent> | null = null
  const forgotten = new Set<string>()
  // A large fleet's nodes are made only when somebody asks SSM.
  const known = () => {
    agents ??= new Map(
      scenarios.flatMap(({ clusters }) =>
        clusters.flatMap(({ nodes }) => nodes.names().flatMap(name => agentOf(name, nodes.node(name), machines, at))),
      ),
    )
    return agents
  }
  return {
    scenario,
    throttlesLeft: scenario.throttlesFirst,
    documents: new Map(
      documents.map(document => [document.name, { ...document, sha256: createHash('sha256').update(document.content).digest('hex') }]),
    ),
    commands: new Map(),
    agentOf: instanceId => known().get(instanceId),
    instanceIds: () => [...known().keys()].filter(id => !forgotten.has(id)),
    isRefused(instanceId) {
      const agent = known().get(instanceId)
      if (agent !== undefined && agent.fault?.kind !== 'gone') return false
      if (agent?.fault?.kind === 'gone' && agent.fault.isForgotten) forgotten.add(instanceId)
      return true
    },
  }
}

/** Source: nodeadm getProviderId; a hybrid node that SSM activated is named by its id. */
function agentOf(name: string, node: LabNode | undefined, machines: Machines, at: string): [string, Agent][] {
  const agent = node?.agent
  if (!agent) return []
  const providerId = node.providerId ?? node.node(at).spec?.providerID ?? ''
  const id = /\/(i-[0-9a-f]{8,17})$/.exec(providerId)?.[1] ?? name
  const build = () => node.machine?.(at) ?? machineFrom('host', [])
  return [[id, { ...agent, run: agent.run ?? ((script, environment) => machines.run(id, build, script, environment)) }]]
}
