/** One cohort of a plan as a shell script. If there is no SSM, a person reads the script and runs it on the nodes by other means. */
import { OperatorError } from '#model/operator-error.ts'
import {
  actsAtOnce,
  type Plan,
  type PlanCohort,
  type PlanMethod,
  type PlanStep,
} from '#model/plan.ts'
import { applyDocuments, readableScriptOf } from '#remediate/scripts/documents.ts'
import { sha256 } from './canonical.ts'

export interface CohortScript {
  /** `cohort-prod-workers-0123456789ab.sh` */
  name: string
  nodes: number
  body: string
}

/** The document of each method. The script contains the same scripts that SSM would send. */
const documentOf: Readonly<Record<PlanMethod, string>> = {
  'kubelet-file': 'Highwater-ApplyKubeletConfig',
  nodeadm: 'Highwater-ApplyKubeletConfig',
  'drop-in': 'Highwater-ApplyKubeletConfig',
  bottlerocket: 'Highwater-ApplyBottlerocket',
  'sync-file': 'Highwater-SyncFile',
  'pull-image': 'Highwater-PullImage',
}

const swapped = 'the new one is written beside it, flushed, and given its name in one step'
const watched =
  'the kubelet is started anew and watched, and started again with what was there where that is not well'
/** What each method does to a node, for people. */
const waysOf: Readonly<Record<PlanMethod, string>> = {
  'kubelet-file': `${swapped}; ${watched}`,
  nodeadm: `${swapped}; nodeadm makes the kubelet's files of it; ${watched}`,
  'drop-in': `${swapped}; ${watched}`,
  bottlerocket:
    'apiclient sets what its content says, and Bottlerocket itself starts the kubelet anew; apiclient cannot unset, so a way back sets what ran before',
  'sync-file': `${swapped}; nothing is started anew`,
  'pull-image':
    'where it is missing it is pulled by crictl from its source and given this name, then pinned by a label of containerd; nothing is started anew',
}

/** Time limit in seconds for the change and its rollback together. */
const applySeconds = 300
const widest = 118

/**
 * One script for each cohort that has a step; equal plans give equal bytes.
 * @param readFile a file of `scripts/` by its name
 * @throws OperatorError if a name cannot be that of a node or cohort, or a change has to be put back later
 */
export function cohortScripts(plan: Plan, readFile: (file: string) => string): CohortScript[] {
  const strange = plan.steps.find(
    ({ node }) => !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(node),
  )?.node
  if (strange !== undefined)
    throw new OperatorError(
      `The plan names a node that no node can be called: ${JSON.stringify(strange.slice(0, 80))}`,
    )
  const passing = plan.steps.filter(({ until }) => until !== undefined).length
  if (passing > 0)
    throw new OperatorError(
      `Plan ${plan.id} lowers thresholds of ${passing} kubelets for a while, and a script cannot put them back in time: it takes what applies plans`,
    )
  const byCohort = Map.groupBy(inOrderOfWaves(plan), ({ cohort }) => cohort)
  const scripts = plan.cohorts.flatMap(cohort => {
    const steps = byCohort.get(cohort.id) ?? []
    if (steps.length === 0) return []
    const name = `cohort-${[cohort.cluster, cohort.group.name, cohort.id].map(fileWord).join('-')}.sh`
    return [{ name, nodes: steps.length, body: bodyOf(plan, cohort, steps, name, readFile) }]
  })
  const scripted = scripts.reduce((sum, { nodes }) => sum + nodes, 0)
  if (
    scripted !== plan.steps.length ||
    new Set(scripts.map(({ name }) => name)).size !== scripts.length
  )
    throw new OperatorError(
      `Plan ${plan.id} has steps of no cohort, or two cohorts of one name. Make the plan anew`,
    )
  return scripts
}

const fileWord = (text: string): string =>
  text
    .slice(0, 60)
    .split(/[^A-Za-z0-9.]+/)
    .filter(Boolean)
    .join('-')

function inOrderOfWaves({ steps, waves }: Plan): PlanStep[] {
  const place = new Map(waves.flat().map((key, index) => [key, index]))
  const placeOf = ({ cluster, node }: PlanStep): number =>
    place.get(`${cluster}/${node}`) ?? steps.length
  return steps.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function bodyOf(
  plan: Plan,
  cohort: PlanCohort,
  steps: readonly PlanStep[],
  name: string,
  readFile: (file: string) => string,
): string {
  const numbers = new Map<string, number>()
  for (const { content } of steps) if (!numbers.has(content)) numbers.set(content, numbers.size + 1)
  const documents = [...new Set(steps.map(({ method }) => documentOf[method]))]
  const rows = steps.map(({ instanceId, node, method, path, oldSha256, newSha256, content }) =>
    [
      instanceId,
      node,
      documentOf[method],
      method,
      path,
      oldSha256,
      newSha256,
      numbers.get(content),
    ].join(' '),
  )
  return [
    '#!/bin/sh',
    ...headOf(plan, cohort, steps).flatMap(comment),
    'set -u',
    'LC_ALL=C',
    'export LC_ALL',
    'umask 077',
    '',
    `run=${plan.id}`,
    `seconds=${applySeconds}`,
    `file=${name}`,
    '',
    '# The nodes: instance, node, document, method, path, SHA-256 before, SHA-256 after, number of the content.',
    'nodes() {',
    ...here('cat', 'nodes', `${rows.join('\n')}\n`),
    '}',
    '',
    '# What is written, byte for byte.',
    'content() {',
    '  case $1 in',
    ...[...numbers].flatMap(([content, number]) => [
      `  ${number})`,
      ...contentLines(content),
      '  ;;',
    ]),
    '  esac',
    '}',
    '',
    "# What does it: the scripts of highwater's SSM documents, as they are.",
    'document() {',
    '  case $1 in',
    ...documents.flatMap(document => [
      `  ${document})`,
      ...here('cat', document, scriptNamed(document, readFile)),
      '  ;;',
    ]),
    '  esac',
    '}',
    '',
    readFile('by-hand.sh').trimEnd(),
    '',
  ].join('\n')
}

function scriptNamed(name: string, readFile: (file: string) => string): string {
  const document = applyDocuments.find(known => known.name === name)
  if (document === undefined) throw new Error(`there is no document ${name}`)
  return readableScriptOf(document, readFile)
}

/** The end line contains the text's hash, so the text cannot contain it. A text without a final newline is cut to its length. */
function here(command: string, name: string, text: string): string[] {
  const end = `END_OF_${name.replace(/\W/g, '_')}_${sha256(text).slice(0, 16)}`
  const whole = text.endsWith('\n')
  return [
    `${command} <<'${end}'${whole ? '' : ` | head -c ${text.length}`}`,
    whole ? text.slice(0, -1) : text,
    end,
  ]
}

const contentLines = (content: string): string[] =>
  /^[\t\n\x20-\x7e]+$/.test(content)
    ? here('cat', 'content', content)
    : here(
        'base64 -d',
        'content',
        `${Buffer.from(content, 'utf8')
          .toString('base64')
          .replace(/(.{76})(?=.)/g, '$1\n')}\n`,
      )

/** The paragraphs that a person has to read before running the script. */
function headOf(plan: Plan, cohort: PlanCohort, steps: readonly PlanStep[]): string[] {
  const acting = steps.filter(actsAtOnce).length
  const fields = Object.entries(cohort.fields).map(
    ([field, value]) => `${field}: ${value === null ? 'taken away' : JSON.stringify(value)}`,
  )
  const ways = [...new Set(steps.map(({ method, path }) => `${path}: ${waysOf[method]}.`))].join(
    ' ',
  )
  const until = steps.some(({ lastsUntil }) => lastsUntil === 'reboot')
    ? 'reboot, or replacement,'
    : 'replacement'
  return [
    `highwater, plan ${plan.id}, cohort ${cohort.id}: ${cohort.cluster}, ${cohort.group.kind} ${cohort.group.name}, ${cohort.amiFamily}, kubelet ${cohort.kubeletVersion}.`,
    `Digest of the plan: ${plan.digest}`,
    `Made of the snapshot of ${plan.createdAt}.`,
    `It sets: ${fields.join(', ') || 'what its contents say'}.`,
    `On each node that its table names, and on no other: it looks whether what is there is still what the plan was made for, and keeps it. ${ways} Where the node is not well with it, what was there before is put back, byte for byte. A node finds its own line of the table by its instance id, or, where it is no instance, by the name of its kubelet.`,
    `What it will not do: touch any other file or node, take a command from its data, open a connection (but for the name of its own instance, and the health of its own kubelet${cohort.image ? ', and what its containerd pulls' : ''}), drain, reboot, ask another node, keep to the waves of the plan. So go on in its order, one node first, and look at it before the next ones.`,
    ...(acting > 0
      ? [
          `Of these ${steps.length} kubelets ${acting} evict at once with it; the plan was made with --allow-act-at-once.`,
        ]
      : []),
    cohort.effect.text,
    cohort.blast.text,
    `What it writes lasts until the ${until} of the node. The plan has the text that makes it last.`,
    `The nodes, in the order of the plan: ${steps.map(({ node }) => node).join(', ')}.`,
    'sh FILE --help says how it is used. The same run twice does nothing anew. When all nodes are done, highwater verify PLAN asks their kubelets.',
  ]
}

/** Comment lines of a paragraph. No character can end a line early or control a terminal. */
function comment(paragraph: string): string[] {
  const lines = ['']
  for (const word of paragraph.replace(/[^\x20-\x7e]+/g, ' ').split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length + 1 > widest) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return [...lines.map(line => `# ${line}`), '#']
}
