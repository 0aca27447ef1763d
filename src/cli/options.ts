/** The options that several commands share, parsed and checked. */

import { existsSync, readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { messageOf } from '#model/error-message.ts'
import { severities } from '#model/finding.ts'
import { notReached } from '#model/not-reached.ts'
import { OperatorError } from '#model/operator-error.ts'
import { defaultPolicy, type Policy, regionPattern } from '#model/policy.ts'
import { type ReadMode, readModes } from '#model/read-mode.ts'
import type { Selection } from '#model/selection.ts'
import { actingPolicy } from '#pipeline/remediation/acting-policy.ts'
import { policyTerms } from '#pipeline/shelves.ts'
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
  inCluster?: string
  mode?: ReadMode
  policy?: string
  /** Whether nodes are to be changed. */
  remediate?: boolean
}

export interface FleetOptions extends SelectionOptions, PlaceOptions {
  deadline: number
}

const defaultPolicyFile = 'highwater.yaml'
const unitMs = { s: 1000, m: 60_000, h: 3_600_000 }

/** Which of the nodes. */
export function addSelectionOptions(command: Command): Command {
  const repeatable = (flags: string, description: string) =>
    new Option(flags, description).argParser(collectText).default([], 'all')
  return command
    .addOption(
      repeatable(
        '--cluster <name>',
        'only this cluster, by its name or as reports name it; repeat for more, * stands for any characters',
      ),
    )
    .addOption(
      repeatable(
        '--nodegroup <name>',
        'only this nodegroup or Karpenter nodepool; repeatable, likewise',
      ),
    )
    .addOption(repeatable('--node <name>', 'only this node; repeatable'))
}

export const addPolicyOption = (command: Command): Command =>
  command.option(
    '--policy <file>',
    `what your team decided (default: ${defaultPolicyFile}, where there is one)`,
    parseText,
  )

export const failOnOption = () =>
  new Option('--fail-on <severity>', 'exit 1 when a finding is at least this severe')
    .choices([...severities, 'none'])
    .default('none')

/** Where the nodes are and which of them. */
export const addFleetOptions = (command: Command): Command =>
  addPlaceOptions(addSelectionOptions(command)).addOption(
    new Option(
      '--deadline <duration>',
      'stop reading after this long and report what was read, e.g. 90s, 10m',
    )
      .argParser(parseDeadline)
      .default(15 * unitMs.m, '15m'),
  )

/** Where the nodes are, and how they are read. */
export function addPlaceOptions(command: Command): Command {
  const placed = command
    .addOption(
      new Option('--region <region>', 'EKS clusters of this region; repeatable')
        .argParser(collectRegion)
        .default([], "the SDK's own"),
    )
    .addOption(
      new Option('--tag <key=value>', 'only EKS clusters with this tag; repeatable')
        .argParser(collectTag)
        .default({}, 'any'),
    )
    .option('--kubeconfig <file>', 'clusters of a kubeconfig instead of EKS', parseText)
    .addOption(
      new Option('--context <name>', 'a context of the kubeconfig; repeatable')
        .argParser(collectText)
        .default([], 'its current one'),
    )
    .option(
      '--in-cluster <name>',
      'the cluster in whose pod this runs, by its service account; reports call it by that name',
      parseClusterName,
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'how nodes are read, whatever the policy says: proxy through the API server, ssm by a fixed script on the node, both, or kubelet on its own port',
      ).choices(readModes),
    )
  return addPolicyOption(placed)
}

/** An empty value is a variable that was not set in a script. */
export function parseText(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It is empty.')
  return value
}

/** A cluster does not know its own name. */
export function parseClusterName(text: string): string {
  if (!/^[0-9A-Za-z][0-9A-Za-z_.-]{0,99}$/.test(text))
    throw new InvalidArgumentError(
      'Letters, digits, dots, dashes and underscores, up to 100, the first a letter or a digit.',
    )
  return text
}

const collectText = (value: string, all: string[]) => [...all, parseText(value)]

function collectRegion(value: string, all: string[]): string[] {
  if (!regionPattern.test(value))
    throw new InvalidArgumentError('A region is written like eu-west-1.')
  return [...all, value]
}

function collectTag(text: string, all: Record<string, string>): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('A tag is written key=value.')
  return { ...all, [text.slice(0, at)]: text.slice(at + 1) }
}

export function parseDeadline(text: string): number {
  const match = /^(\d+)(s|m|h)$/.exec(text)
  const durationMs = match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : 0
  // setTimeout takes no more than 2^31 − 1 ms.
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
    modes: mode === undefined ? policy.modes : [{ match: {}, mode }],
    ...(region.length > 0 && {
      narrowedFrom: policy.accounts,
      accounts: policy.accounts.map(account => ({ ...account, regions: region })),
    }),
    clusters: { ...policy.clusters, tags: { ...policy.clusters.tags, ...tag } },
  }
}

/** The policy of that file, or of the working directory. @throws OperatorError */
export function policyFile(file: string | undefined): Policy {
  if (file === undefined && !existsSync(defaultPolicyFile)) return defaultPolicy
  const path = file ?? defaultPolicyFile
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new OperatorError(`The policy ${path} cannot be read: ${messageOf(error)}`)
  }
  return parsePolicy(text, path, policyTerms)
}

/** What a command that was given a file by its name says of it. @throws OperatorError */
export function textOf(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(`The ${what} ${file} cannot be read: ${messageOf(error)}`)
  }
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** An abort signal for the run's deadline and for Ctrl-C (or SIGTERM, as a CI sends it); its reason says which, in the words that unread nodes will carry. */
export function runSignal(deadlineMs: number): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new Error(notReached(`run's deadline of ${deadlineMs / 1000} s`))),
    deadlineMs,
  )
  const interrupt = () => {
    process.stderr.write(
      '\nStopping: the report will have what was read so far. Once more to leave at once.\n',
    )
    controller.abort(new Error(notReached('run was interrupted')))
  }
  for (const name of stopSignals) process.once(name, interrupt)
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer)
      for (const name of stopSignals) process.removeListener(name, interrupt)
    },
  }
}

/**
 * For a run that changes nodes: Ctrl-C, or the deadline, lets it send nothing more and wait for what is under way; Ctrl-C again lets it wait for nothing;
 * a third one leaves at once.
 */
export function pausingSignals(deadlineMs: number | undefined): {
  stop: AbortSignal
  end: AbortSignal
  close: () => void
} {
  const [stop, end] = [new AbortController(), new AbortController()]
  const timer =
    deadlineMs === undefined
      ? null
      : setTimeout(
          () => stop.abort(new Error(`the deadline of ${deadlineMs / 1000} s was reached`)),
          deadlineMs,
        )
  const interrupt = () => {
    if (stop.signal.aborted) {
      end.abort(new Error('the run was interrupted'))
      close()
    } else {
      process.stderr.write(
        '\nPausing: nothing more is sent, and what is under way is waited for. Once more to wait for nothing.\n',
      )
      stop.abort(new Error('the run was interrupted'))
    }
  }
  const close = () => {
    if (timer !== null) clearTimeout(timer)
    for (const name of stopSignals) process.removeListener(name, interrupt)
  }
  for (const name of stopSignals) process.on(name, interrupt)
  return { stop: stop.signal, end: end.signal, close }
}
