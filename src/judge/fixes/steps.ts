/**
 * The commands of a finding: the rule's own commands, a plan for the fields to set, or commands to
 * look at the node first. Each command names its cluster.
 */
import { aws, kubectl, quoted, said } from '#judge/garbage/kubectl.ts'
import { isPrintable } from '#judge/text.ts'
import type { Family, Finding } from '#model/finding.ts'
import type { NodeOwner } from '#model/node-identity.ts'
import type { CommandPlace } from './command-place.ts'

export interface StepNode {
  name: string
  /** Null: no session with Systems Manager is possible. */
  instanceId: string | null
  owner: NodeOwner
}

type FixStep = keyof typeof clusterSteps | keyof typeof nodeSteps

/** For findings without fields to set and without own commands. */
const stepsOfFamily: Record<Family, readonly FixStep[]> = {
  'image-gc': ['session'],
  'container-gc': ['pods'],
  eviction: ['pods'],
  reservations: ['describe'],
  logs: ['session'],
  'image-pull': ['pull-events'],
  kernel: ['replace'],
  drift: ['replace'],
  configuration: ['journal'],
  coverage: ['doctor', 'journal'],
  'cluster-gc': ['unfinished-pods'],
}

/** Rules whose next step differs from their family's. */
const stepsOfRule: Partial<Record<string, readonly FixStep[]>> = {
  'changed-not-restarted': ['cordon', 'restart'],
  'eviction-due': ['cordon', 'free-images', 'session', 'drain'],
  'image-gc-dead': ['journal'],
  'image-gc-due': ['predict'],
  'image-gc-never-first': ['session', 'pods'],
  'unpinned-sandbox-image': ['replace'],
  'unread-node': ['doctor', 'read-again', 'journal'],
  'unreachable-gc-low-threshold': ['session', 'pods'],
  'useless-eviction': ['cordon', 'session'],
}

/** Rules whose commands help at once, even if fields must be set, too. */
const firstAid: readonly string[] = ['eviction-due']

const isDnsName = (name: string): boolean =>
  name.length <= 253 &&
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name)

const longestCommand = 2000

export const commandsOf = (
  finding: Pick<Finding, 'rule' | 'family' | 'subject' | 'fix'>,
  node: StepNode | null,
  place: CommandPlace,
): string[] =>
  // A truncated command does something else. A command with invisible characters is deceptive.
  allCommands(finding, node, place).filter(
    command => command.length <= longestCommand && isPrintable(command),
  )

function allCommands(
  { rule, family, subject, fix }: Pick<Finding, 'rule' | 'family' | 'subject' | 'fix'>,
  node: StepNode | null,
  place: CommandPlace,
): string[] {
  if (fix.commands.length > 0) return fix.commands.map(command => inPlace(command, place))
  const named = node !== null && isDnsName(node.name) ? node : null
  const plan =
    Object.keys(fix.config).length > 0 && named?.instanceId ? [planOf(subject, named, place)] : []
  // Fields to set are a step, and so is text for the source of the nodes.
  const isSettled =
    Object.keys(fix.config).length + fix.durable.length > 0 && !firstAid.includes(rule)
  const steps = isSettled ? [] : (stepsOfRule[rule] ?? stepsOfFamily[family])
  return [...plan, ...steps.flatMap(step => stepCommand(step, subject, named, place))]
}

/** Our own commands begin with their program, so that options for the place can follow. */
export function inPlace(command: string, { context, region }: CommandPlace): string {
  const [program = '', ...rest] = command.split(' ')
  if (program === 'kubectl') return [program, '--context', quoted(context), ...rest].join(' ')
  if (program === 'aws' && region !== null)
    return [program, '--region', quoted(region), ...rest].join(' ')
  return command
}

function highwater(command: string, place: CommandPlace, ...more: string[]): string {
  const where =
    place.region === null
      ? ['--context', place.context]
      : ['--region', place.region, '--cluster', place.name]
  return ['highwater', command, ...where, ...more].map(quoted).join(' ')
}

function planOf(subject: Finding['subject'], node: StepNode, place: CommandPlace): string {
  const isGroup = subject.kind === 'Nodegroup' || subject.kind === 'NodePool'
  const which = isGroup ? ['--nodegroup', subject.name] : ['--node', node.name]
  return highwater('plan', place, '--mode', 'both', ...which)
}

interface NodeStep {
  subject: Finding['subject']
  node: StepNode
  place: CommandPlace
}

const describe = ({ name }: StepNode): string => kubectl('describe', 'node', said(name))
const drain = ({ name }: StepNode): string =>
  kubectl('drain', said(name), '--ignore-daemonsets', '--delete-emptydir-data')

/** Steps that need no node. */
const clusterSteps = {
  doctor: (place: CommandPlace) => highwater('doctor', place),
  'unfinished-pods': () => kubectl('get', 'pods', '-A', '--field-selector=status.phase!=Running'),
  'pull-events': () => kubectl('get', 'events', '-A', '--field-selector=reason=Failed'),
}

const nodeSteps = {
  cordon: ({ node }: NodeStep) => kubectl('cordon', said(node.name)),
  describe: ({ node }: NodeStep) => describe(node),
  drain: ({ node }: NodeStep) => drain(node),
  'free-images': ({ node: { instanceId, name }, place }: NodeStep) =>
    instanceId && highwater('plan', place, '--mode', 'both', '--node', name, '--prune-images'),
  journal: ({ node }: NodeStep) => session(node, 'journalctl -u kubelet -n 100') ?? describe(node),
  pods: ({ node }: NodeStep) =>
    kubectl('get', 'pods', '-A', '-o', 'wide', `--field-selector=spec.nodeName=${node.name}`),
  predict: ({ node, place }: NodeStep) => highwater('predict', place, '--node', node.name),
  'read-again': ({ node: { instanceId, name }, place }: NodeStep) =>
    instanceId && highwater('audit', place, '--mode', 'both', '--node', name),
  replace: ({ subject, node, place }: NodeStep) => replacement(subject, node, place),
  restart: ({ node }: NodeStep) => session(node, 'systemctl restart kubelet') ?? describe(node),
  session: ({ node }: NodeStep) => session(node) ?? describe(node),
}

const isOfCluster = (step: FixStep): step is keyof typeof clusterSteps =>
  Object.hasOwn(clusterSteps, step)

function stepCommand(
  step: FixStep,
  subject: Finding['subject'],
  node: StepNode | null,
  place: CommandPlace,
): string[] {
  if (isOfCluster(step)) return [inPlace(clusterSteps[step](place), place)]
  const command =
    node === null
      ? kubectl('get', 'nodes', '-o', 'wide')
      : nodeSteps[step]({ subject, node, place })
  return command === null ? [] : [inPlace(command, place)]
}

/** A session of Systems Manager. Null: the node is not in Systems Manager. */
function session({ instanceId }: StepNode, command?: string): string | null {
  if (instanceId === null) return null
  const start = aws('ssm', 'start-session', '--target', said(instanceId))
  if (command === undefined) return start
  return `${start} --document-name AWS-StartNonInteractiveCommand --parameters ${quoted(JSON.stringify({ command: [command] }))}`
}

function replacement(
  { kind, name }: Finding['subject'],
  node: StepNode,
  place: CommandPlace,
): string {
  return kind === 'Nodegroup' && node.owner === 'managed-nodegroup'
    ? aws(
        ...(['eks', 'update-nodegroup-version', '--cluster-name', place.name] as const),
        ...(['--nodegroup-name', said(name)] as const),
      )
    : drain(node)
}
