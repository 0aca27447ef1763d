import { by, byText } from '#base/text.ts'
import type { FieldValue } from '#judge/drift/drift.ts'
import { type Drift, driftOfValues } from '#judge/drift/peers.ts'
import {
  blockIn,
  blockOvershoot,
  fileIn,
  keptBytes,
  knowsFile,
  type LogBlock,
  type NodeRotation,
  nodeRotation,
  ownValue,
  type Setting,
  type Settings,
  settingOf,
  settingsOf,
  wantedHash,
  whyFilesUnknown,
} from '#judge/logs/logrotate.ts'
import {
  bytes,
  type CohortMember,
  cohortRule,
  line,
  plural,
  settingIn,
  shorten,
} from '#judge/rule.ts'
import type { WantedLogRotation } from '#model/policy.ts'

export const logRotationDrift = cohortRule({
  id: 'log-rotation-drift',
  family: 'logs',
  severity: 'medium',
  cause: settingIn('logrotate', 'rotate'),
  steps: ['set-log-files'],
  needs: ['host'],
  policy: ['logRotation'],
  title: 'Nodes rotate their logs by other files than their peers, or than the policy wants',
  why: 'Files of logrotate are edited by hand on the node that was full, and stay so. Sizes and counts decide how much a log may take of the disk that pods share: for each log there are rotate old files and the log itself, each as large as the size at which it is rotated and what is written until logrotate runs again (maxsize acts only then). Files are compared by what they mean: 100M is 104857600, and the order of directives says nothing, but of two times or sizes the last counts.',
  fix: 'Put the wanted file where the nodes come from (image, user data of the launch template) and replace the nodes that differ. Policy logRotation says which file is wanted; without it the majority of the group is the norm.',
  sources: [
    'logrotate config.c readConfigFile',
    'logrotate logrotate.c findNeedRotating, rotateSingleLog',
  ],
  // Bottlerocket has no logrotate.
  appliesTo: ({ identity }) =>
    identity.operatingSystem === 'linux' && identity.amiFamily !== 'Bottlerocket',

  // Each image family has its own logrotate files.
  cohort: ({ identity }) => identity.amiFamily,
  judgesAlone: ({ logRotation }) => Object.keys(logRotation).length > 0,
  fact: nodeRotation,

  *judge(members, policy) {
    const { logRotation } = policy
    // A node with an unread file is unknown, so the node does not pass.
    for (const { node, fact } of members) {
      const unknown = whyFilesUnknown(fact)
      if (unknown !== null) yield { nodes: [node], unknown }
    }
    const read = members.filter(({ fact }) => fact.files !== null)
    const [first] = read
    if (first && read.length === 1 && members.length > 1 && Object.keys(logRotation).length === 0)
      yield {
        nodes: [first.node],
        unknown:
          'host: of none of its peers the files of logrotate were read, so there is nothing to compare with',
      }
    const paths = [
      ...new Set([
        ...distinctFacts(read).flatMap(({ files }) => Object.keys(files ?? {})),
        ...Object.keys(logRotation),
      ]),
    ].toSorted()
    const found = paths.map(path => fileDrift(path, read, ownValue(logRotation, path)))
    yield {
      nodes: found.flatMap(({ unhashed }) => unhashed),
      unknown: 'host: of a file whose hash the policy wants none was read',
    }
    const drifts = found.flatMap(file => file.drifts)
    if (drifts.length === 0) return
    const nodes = [...new Set(drifts.flatMap(({ outliers }) => outliers))].toSorted()
    const costs = found
      .flatMap(file => file.costs)
      .toSorted(
        by(
          ({ drift }) => -excessOf(drift),
          ({ pattern }) => pattern,
        ),
      )
    const tied = drifts.filter(({ hasNorm }) => !hasNorm).map(({ evidence }) => evidence.what)
    yield {
      nodes,
      failing: {
        confidence: tied.length === 0 ? 'certain' : 'possible',
        consequence: [
          `${nodes.length} of ${plural(read.length, 'node')} of one image family rotate logs otherwise than their peers${Object.keys(logRotation).length > 0 ? ' or the policy' : ''}.`,
          ...costs.slice(0, 1).map(cost => costText(cost, read)),
          ...tieDoubt(tied),
        ].join(' '),
        evidence: [
          ...drifts.map(({ evidence }) => evidence),
          ...paths.flatMap(
            (path, at) => (found[at] && lastChangedLine(path, found[at], read)) ?? [],
          ),
          ...costs.map(({ drift }) => drift.evidence),
          ...found.flatMap(({ text, drifts: [drift] }) =>
            text
              ? [
                  drift
                    ? text.evidence
                    : { ...text.evidence, value: `${text.evidence.value}; in meaning the same` },
                ]
              : [],
          ),
        ],
      },
    }
  },
})

const longestDoubt = 300

const tieDoubt = (tied: string[]) =>
  tied.length === 0
    ? []
    : [
        `No value has a majority of ${shorten(tied.join(', '), longestDoubt)}: which of the nodes is the odd one is open.`,
      ]

/** Bytes that a log may keep at most. Infinity: no size limits the log. */
const maxKeptBytes = (canonical: string) => (/^\d/.test(canonical) ? Number(canonical) : Infinity)
const worstOf = ({ outlying }: Drift) =>
  outlying.toSorted((a, b) => maxKeptBytes(b.value.canonical) - maxKeptBytes(a.value.canonical))[0]

function excessOf(drift: Drift) {
  const most = maxKeptBytes(worstOf(drift)?.value.canonical ?? '')
  const norm = maxKeptBytes(drift.reference.canonical)
  return most === norm ? 0 : most - norm
}

function costText({ pattern, drift }: Cost, members: readonly RotationMember[]) {
  const worst = worstOf(drift)
  if (!worst) return ''
  const { reference } = drift
  const log = shorten(pattern, 150)
  if (excessOf(drift) < 0)
    return `Of a log of ${log} they keep only ${worst.value.shown} instead of ${reference.shown}: older lines are gone sooner.`
  const rooms = members.flatMap(({ node, fact }) =>
    worst.nodes.includes(node) && fact.roomBytes !== null ? [fact.roomBytes] : [],
  )
  const room =
    rooms.length === 0
      ? ''
      : ` nodefs has about ${bytes(Math.min(...rooms))} left there before eviction.`
  const growth =
    maxKeptBytes(worst.value.canonical) === Infinity
      ? '.'
      : '; what is written between two runs of logrotate comes on top.'
  return `A log of ${log} may keep ${worst.value.shown} there instead of ${reference.shown}${growth}${room}`
}

type RotationMember = CohortMember<NodeRotation>

interface Cost {
  pattern: string
  drift: Drift
}

const deciding = ['criterion', 'maxsize', 'rotate']

const there: FieldValue = {
  canonical: 'there',
  shown: 'there',
  isDefault: false,
  fromDefault: null,
}
const notThere: FieldValue = { ...there, canonical: '', shown: 'missing, empty or commented out' }

/** @param wanted null: the majority is the norm */
function fileDrift(
  path: string,
  members: readonly RotationMember[],
  wanted: WantedLogRotation | null,
) {
  const known = members.filter(({ fact }) => knowsFile(fact, path))
  const holders = known.filter(({ fact }) => fileIn(fact, path) !== null)
  const ofFile = valueDrift(
    `file ${path}`,
    known,
    fact => (fileIn(fact, path) ? there : notThere),
    wanted && there,
  )
  const hashed = holders.filter(({ fact }) => hashIn(fact, path) !== null)
  const hash = wanted && wantedHash(wanted)
  const ofHash = valueDrift(
    `sha256 of ${path}`,
    hashed,
    fact => hashValue(hashIn(fact, path)),
    hash === null ? null : hashValue(hash),
  )
  // A node whose file has the wanted hash shows the wanted contents.
  const model =
    hash === null ? null : (hashed.find(({ fact }) => hashIn(fact, path) === hash)?.fact ?? null)
  const names = [
    ...new Set(
      distinctFacts(holders).flatMap(fact => Object.keys(fileIn(fact, path)?.blocks ?? {})),
    ),
  ].toSorted()
  const byPolicy = settingsOf(wanted?.directives ?? {})
  const blocks = names.map(name => {
    // The policy's directives for a file hold in the blocks of the file.
    const said = name === '' && names.length > 1 ? {} : byPolicy
    return blockDrift({ path, name, known, holders, model, byPolicy: said, ofFile })
  })
  return {
    /** Drift in the file's meaning, and in its hash if the policy wants a hash. */
    drifts: [
      ...(ofFile ? [ofFile] : []),
      ...(hash !== null && ofHash ? [ofHash] : []),
      ...blocks.flatMap(({ drifts }) => drifts),
    ],
    costs: blocks.flatMap(({ cost }) => cost ?? []),
    /** Drift in the file's text only, if `drifts` does not cover it. */
    text: hash === null ? ofHash : null,
    /** Nodes whose file has no hash although the policy expects one. */
    unhashed:
      hash === null
        ? []
        : holders.flatMap(({ node, fact }) => (hashIn(fact, path) === null ? [node] : [])),
  }
}

const shownChanges = 5

/** Evidence: on which days the deviating nodes changed the file, latest first. Null: unknown on all. */
function lastChangedLine(
  path: string,
  { drifts, text }: ReturnType<typeof fileDrift>,
  members: readonly RotationMember[],
) {
  const odd = new Set([...drifts, ...(text ? [text] : [])].flatMap(({ outliers }) => outliers))
  const changes = members
    .flatMap(({ node, fact }) => {
      const day = odd.has(node) ? ownValue(fact.changedOn, path) : null
      return day === null ? [] : [{ node, day }]
    })
    .toSorted((a, b) => byText(b.day, a.day) || byText(a.node, b.node))
  if (changes.length === 0) return null
  const shown = changes
    .slice(0, shownChanges)
    .map(({ node, day }) => `changed on ${node} on ${day}`)
  const more = changes.length - shown.length
  return line(
    'host',
    `${path} last changed`,
    [...shown, ...(more > 0 ? [`and on ${plural(more, 'more node')}`] : [])].join('; '),
  )
}

interface BlockPeers {
  path: string
  name: string
  known: readonly RotationMember[]
  holders: readonly RotationMember[]
  model: NodeRotation | null
  byPolicy: Settings
  ofFile: Drift | null
}

function blockDrift({ path, name, known, holders, model, byPolicy, ofFile }: BlockPeers) {
  const blockOf = (fact: NodeRotation) => blockIn(fact, path, name)
  const blockPresence = (fact: NodeRotation) => (blockOf(fact) ? there : notThere)
  // Directives outside of blocks have no presence of their own: only their values are compared.
  const ofBlock =
    name === ''
      ? null
      : valueDrift(`${path} ${name}`, holders, blockPresence, model && blockPresence(model))
  const having = holders.filter(({ fact }) => name === '' || blockOf(fact) !== null)
  const modelBlock = model && blockOf(model)
  const settings = settingNames(
    distinctFacts(having).flatMap(fact => blockOf(fact) ?? []),
    byPolicy,
  )
  const changed = settings.flatMap(setting => {
    const value = (block: LogBlock | null) =>
      settingValue(settingOf(block?.settings ?? {}, setting))
    const norm = Object.hasOwn(byPolicy, setting)
      ? settingValue(settingOf(byPolicy, setting))
      : modelBlock && value(modelBlock)
    const knowing = having.filter(
      ({ fact }) => isWhole(fact) || blockOf(fact)?.written.includes(setting),
    )
    return (
      valueDrift(
        `${path}${name === '' ? '' : ` ${name}`}: ${setting}`,
        knowing,
        fact => value(blockOf(fact)),
        norm,
      ) ?? []
    )
  })
  const drifts = [...(ofBlock ? [ofBlock] : []), ...changed]
  if (name === '') return { drifts, cost: null }
  const [first] = having
  const example = modelBlock ?? (first ? blockOf(first.fact) : null)
  const isWanted = modelBlock !== null || Object.keys(byPolicy).length > 0
  const norm =
    isWanted && example
      ? logSizeValue({ ...example, settings: { ...example.settings, ...byPolicy } }, 0)
      : null
  const odd = new Set([...(ofFile ? [ofFile] : []), ...drifts].flatMap(({ outliers }) => outliers))
  // Nodes that share a fact are all odd or all not odd.
  const outlierFacts = new Set(known.flatMap(({ node, fact }) => (odd.has(node) ? [fact] : [])))
  const logSizeOf = (fact: NodeRotation) => {
    const block = blockOf(fact)
    return logSizeValue(block, block && outlierFacts.has(fact) ? blockOvershoot(fact, block) : 0)
  }
  const whole = known.filter(({ fact }) => isWhole(fact))
  const drift = valueDrift(`what a log of ${name} may keep`, whole, logSizeOf, norm)
  return { drifts, cost: drift && { pattern: name, drift } }
}

/** If a file was not read, it is unknown what a block inherits from that file. */
const isWhole = ({ unread }: NodeRotation) => Object.keys(unread).length === 0

/** Settings set in a block or by the policy. Settings from outside are compared there. */
function settingNames(blocks: readonly LogBlock[], byPolicy: Settings) {
  const rank = (name: string) =>
    deciding.includes(name) ? deciding.indexOf(name) : deciding.length
  return [
    ...new Set([...blocks.flatMap(({ written }) => written), ...Object.keys(byPolicy)]),
  ].toSorted(by(rank, name => name))
}

function valueDrift(
  what: string,
  members: readonly RotationMember[],
  read: (fact: NodeRotation) => FieldValue,
  wanted: FieldValue | null,
) {
  const values = new Map(distinctFacts(members).map(fact => [fact, read(fact)]))
  const found = new Set(
    [...values.values(), ...(wanted ? [wanted] : [])].map(({ canonical }) => canonical),
  )
  if (members.length === 0 || found.size < 2) return null
  return driftOfValues(
    { kind: 'host', what },
    members.map(({ node, fact }) => ({ node, value: values.get(fact) ?? read(fact) })),
    wanted,
  )
}

/** Each fact once; equal nodes share one fact. */
const distinctFacts = (members: readonly RotationMember[]) => [
  ...new Set(members.map(({ fact }) => fact)),
]

const hashIn = (fact: NodeRotation, path: string) => fileIn(fact, path)?.sha256 ?? null
const shownHash = 12
const hashValue = (hash: string | null): FieldValue => ({
  ...there,
  canonical: hash ?? '',
  shown: (hash ?? '').slice(0, shownHash),
})

/** If no value is the norm, `fromDefault` makes the smallest value the reference. */
function settingValue({ canonical, shown }: Setting): FieldValue {
  const amount = /^(?:size )?(\d+)$/.exec(canonical)?.[1]
  return {
    canonical,
    shown,
    isDefault: false,
    fromDefault: amount === undefined ? null : Number(amount),
  }
}

function logSizeValue(block: LogBlock | null, beyondBytes: number): FieldValue {
  if (!block)
    return { ...there, canonical: 'not rotated', shown: 'all that is written (nothing rotates it)' }
  const kept = keptBytes(block, beyondBytes)
  if (kept === null)
    return { ...there, canonical: 'without end', shown: 'what comes (no size holds it)' }
  return { ...there, canonical: String(kept), shown: bytes(kept), fromDefault: kept }
}
