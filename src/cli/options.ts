/** The options that several commands share, parsed and checked. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { type Severity, severities } from '#model/finding.ts'
import { type ReadMode, readModes, type Selection } from '#model/input/record.ts'
import type { Plan } from '#model/plan.ts'
import { regionPattern } from '#model/policy/defaults.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { actingPolicy } from '#pipeline/remediation/run/options.ts'
import { parsePolicy } from '#policy/parse.ts'

export interface SelectionOptions {
  cluster: string[]
  nodegroup: string[]
  node: string[]
}

export interface PlaceOptions {
  region: string[]
  tag: Record<string, string>
  kubeconfig?: string
  context: string[]
  allContexts?: boolean
  inCluster?: string
  mode?: ReadMode
  /** The modes by which a plan's clusters were read. */
  plannedModes?: Plan['snapshot']['modes']
  policy?: string
  /** Whether nodes will be changed. */
  remediate?: boolean
}

export interface FleetOptions extends SelectionOptions, PlaceOptions {
  deadline: number
  quiet?: boolean
  verbose?: boolean
}

/** Of a command that prints a document of a live fleet or of a saved snapshot. */
export interface ReadingOptions extends FleetOptions {
  snapshot?: string
  format: 'text' | 'json'
}

export const policyFileName = 'highwater.yaml'
const unitMs = { s: 1000, m: 60_000, h: 3_600_000 }

/** An option that may be given several times. @param preset the default that the help shows */
export const repeatableOption = <Item>(
  flags: string,
  description: string,
  preset: string,
  parse: (text: string) => Item,
) =>
  new Option(flags, description)
    .argParser((text: string, all: Item[]) => [...all, parse(text)])
    .default([], preset)

/** The action of a command; its run returns the exit code. */
export const exitAction =
  <Args extends unknown[]>(run: (...args: Args) => Promise<number>) =>
  async (...args: Args) => {
    process.exitCode = await run(...args)
  }

/** A parser that accepts matching texts. @param wanted the advice for other texts */
export const patternParser = (pattern: RegExp, wanted: string) => (text: string) => {
  if (!pattern.test(text)) throw new InvalidArgumentError(wanted)
  return text
}

const inHelp = {
  cluster:
    'only this cluster: its name, or account/region/name; repeatable, * matches any characters',
  nodegroup: 'only this nodegroup or Karpenter nodepool; repeatable, with *',
}

const nodesGroup = 'Clusters and nodes:'

/** Options that select nodes. */
export const addSelectionOptions = (command: Command) =>
  command
    .optionsGroup(nodesGroup)
    .addOption(repeatableOption('--cluster <name>', inHelp.cluster, 'all', parseText))
    .addOption(repeatableOption('--nodegroup <name>', inHelp.nodegroup, 'all', parseText))
    .addOption(repeatableOption('--node <name>', 'only this node; repeatable', 'all', parseText))

export const addPolicyOption = (command: Command) =>
  command.option(
    '--policy <file>',
    `policy file (default: ${policyFileName}, if it exists)`,
    parseText,
  )

/** Findings that make a run exit 1; null: no finding does. */
export interface FailOn {
  severity: Severity
  /** Only findings that the run before did not have. */
  isNew: boolean
}

/** Which findings, and what is unread, decide the exit code. */
export interface FailOptions {
  failOn: FailOn | null
  failOnUnread: UnreadLimit
}

export const addFailOptions = (command: Command) =>
  command
    .addOption(
      new Option(
        '--fail-on <severity>',
        `exit 1 if a finding is at least this severe: ${severities.join(', ')}, or none; new:high counts new findings only`,
      )
        .argParser(parseFailOn)
        .default(null, 'none'),
    )
    .addOption(
      new Option('--fail-on-unread <what>', 'exit 3 if a node, or a whole cluster, is not read')
        .choices(unreadLimits)
        .default('cluster'),
    )

function parseFailOn(text: string): FailOn | null {
  if (text === 'none') return null
  const severity = severities.find(one => one === text.replace(/^new:/, ''))
  if (severity === undefined)
    throw new InvalidArgumentError(
      `Allowed choices are ${severities.join(', ')}, each also as new:SEVERITY, and none.`,
    )
  return { severity, isNew: text.startsWith('new:') }
}

const unreadLimits = ['none', 'node', 'cluster'] as const
/** How much must be unread for exit code 3. */
export type UnreadLimit = (typeof unreadLimits)[number]

/** `--format`, also as `-o` and `--output`, as in kubectl. */
export function addFormatOption(command: Command, choices: readonly string[] = ['text', 'json']) {
  const [preset = ''] = choices
  return command
    .optionsGroup('Output:')
    .addOption(
      new Option('-o, --format <format>', 'what to print').choices(choices).default(preset),
    )
    .addOption(new Option('--output <format>').choices(choices).hideHelp())
    .on('option:output', (format: string) => command.setOptionValue('format', format))
}

/** Options for the place of the nodes and their selection. */
export const addFleetOptions = (command: Command) =>
  addPlaceOptions(addSelectionOptions(command)).addOption(
    deadlineOption('stop reading after this long and report what was read, e.g. 90s, 10m'),
  )

/** 15 minutes by default. */
export const deadlineOption = (description: string) =>
  new Option('--deadline <duration>', description)
    .argParser(parseDeadline)
    .default(15 * unitMs.m, '15m')

/** `ofEks`: options only for clusters of EKS. `live`: options only without a saved snapshot. */
const ofEks = ['tag', 'cluster']
const live = ['kubeconfig', 'context', 'allContexts', 'inCluster', 'region', 'tag', 'mode']

export const snapshotOption = (description = 'nodes of a saved snapshot instead of a live fleet') =>
  new Option('--snapshot <file>', description).argParser(parseText).conflicts(live)

/** Options for the place of the nodes and the read mode. */
export function addPlaceOptions(command: Command) {
  const byFile = (option: Option) => option.conflicts([...ofEks, 'inCluster'])
  const placed = command
    .optionsGroup(nodesGroup)
    .addOption(
      repeatableOption(
        '--region <region>',
        'EKS clusters of this region; repeatable',
        "the SDK's own",
        patternParser(regionPattern, 'A region is written like eu-west-1.'),
      ),
    )
    .addOption(
      new Option('--tag <key=value>', 'only EKS clusters with this tag; repeatable')
        .argParser(collectTag)
        .default({}, 'any'),
    )
    .addOption(
      byFile(
        new Option('--kubeconfig <file>', 'clusters of a kubeconfig instead of EKS').argParser(
          parseText,
        ),
      ),
    )
    .addOption(
      byFile(
        repeatableOption(
          '--context <name>',
          'a context of the kubeconfig; repeatable, * matches any characters',
          'its current one',
          parseText,
        ),
      ),
    )
    .addOption(byFile(new Option('--all-contexts', 'every context of the kubeconfig')))
    .addOption(
      new Option(
        '--in-cluster <name>',
        'read the cluster of this pod, by its service account; reports use this name',
      )
        .argParser(parseClusterName)
        .conflicts(ofEks),
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'how to read nodes, instead of policy modes: proxy through the API server, ssm by a fixed script on the node, both, or kubelet on its own port',
      ).choices(readModes),
    )
  return addPolicyOption(placed)
}

/** An empty value counts as absent: a script may pass a variable that was not set. */
export const parseText = patternParser(/\S/, 'It is empty.')

/** A cluster does not know its own name, so it needs the option. */
export const parseClusterName = patternParser(
  /^[0-9A-Za-z][0-9A-Za-z_.-]{0,99}$/,
  'Letters, digits, dots, dashes and underscores, up to 100, the first a letter or a digit.',
)

function collectTag(text: string, all: Record<string, string>): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('A tag is written key=value.')
  return { ...all, [text.slice(0, at)]: text.slice(at + 1) }
}

export function parseDeadline(text: string) {
  const match = /^(\d+)(s|m|h)$/.exec(text)
  const durationMs = match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : 0
  // setTimeout accepts at most 2^31 − 1 ms.
  if (durationMs <= 0 || durationMs > 24 * unitMs.h)
    throw new InvalidArgumentError('Write 90s, 10m or 1h; at most 24h.')
  return durationMs
}

export const selectionOf = ({ cluster, nodegroup, node }: SelectionOptions): Selection => ({
  clusters: cluster,
  nodegroups: nodegroup,
  nodes: node,
})

/** The policy of the file, narrowed by the options. @throws OperatorError */
export function policyOf(options: PlaceOptions): Policy {
  const asked = policyFile(options.policy)
  const policy = options.remediate === true ? actingPolicy(asked) : asked
  const { region, tag, mode } = options
  return {
    ...policy,
    modes:
      mode === undefined
        ? [...modeSelections(options.plannedModes), ...policy.modes]
        : [{ match: {}, mode }],
    ...(region.length > 0 && {
      narrowedFrom: policy.accounts,
      accounts: policy.accounts.map(account => ({ ...account, regions: region })),
    }),
    clusters: { ...policy.clusters, tags: { ...policy.clusters.tags, ...tag } },
  }
}

const modeSelections = (modes: PlaceOptions['plannedModes'] = {}): Policy['modes'] =>
  Object.entries(modes).map(([cluster, mode]) => ({ match: { cluster }, mode }))

/** The policy of the given file, or of a folder (default: the working directory). @throws OperatorError */
export function policyFile(file: string | undefined, folder = '') {
  const path = file ?? join(folder, policyFileName)
  if (file === undefined && !existsSync(path)) return defaultPolicy
  return parsePolicy(textOf(path, 'policy'), path, policyTerms)
}

/** The text of a file. @param what the file's role, for the message @throws OperatorError */
export function textOf(file: string, what: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const fault = isAbsent ? 'there is no such file' : messageOf(error)
    throw new OperatorError(`The ${what} ${file} cannot be read: ${fault}`)
  }
}
