import { byText } from '#base/text/text-order.ts'
import type { FieldValue } from '#judge/drift/drift.ts'
import { type Drift, driftOfValues } from '#judge/drift/peers.ts'
import { bytes, type CohortMember, line, plural } from '#judge/rule.ts'
import type { Evidence } from '#model/finding/finding.ts'
import type { WantedLogRotation } from '#model/policy.ts'
import {
  keptBytes,
  type LogBlock,
  ownOf,
  type Setting,
  type Settings,
  settingOf,
  settingsOf,
  wantedHash,
} from './logrotate.ts'
import { beyondIn, blockIn, fileIn, knowsFile, type NodeRotation } from './node-rotation.ts'

type RotationMember = CohortMember<NodeRotation>
type ReadValue = (fact: NodeRotation) => FieldValue

export interface FileDrift {
  /** Drift in the file's meaning, and in its hash if the policy wants a hash. */
  drifts: Drift[]
  costs: Cost[]
  /** Drift in the file's text only, if `drifts` does not cover it. */
  text: Drift | null
  /** Nodes whose file has no hash although the policy expects one. */
  unhashed: string[]
}

export interface Cost {
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
export function fileDrift(
  path: string,
  members: readonly RotationMember[],
  wanted: WantedLogRotation | null,
): FileDrift {
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
  ].toSorted(byText)
  const byPolicy = settingsOf(wanted?.directives ?? {})
  const blocks = names.map(name => {
    // The policy's directives for a file hold in the blocks of the file.
    const said = name === '' && names.length > 1 ? {} : byPolicy
    return blockDrift({ path, name, known, holders, model, byPolicy: said, ofFile })
  })
  return {
    drifts: [
      ...(ofFile ? [ofFile] : []),
      ...(hash !== null && ofHash ? [ofHash] : []),
      ...blocks.flatMap(({ drifts }) => drifts),
    ],
    costs: blocks.flatMap(({ cost }) => cost ?? []),
    text: hash === null ? ofHash : null,
    unhashed:
      hash === null
        ? []
        : holders.flatMap(({ node, fact }) => (hashIn(fact, path) === null ? [node] : [])),
  }
}

const shownChanges = 5

/** Days on which the deviating nodes changed the file, latest first. Null: unknown on all. */
export function changesOf(
  path: string,
  { drifts, text }: FileDrift,
  members: readonly RotationMember[],
): Evidence | null {
  const odd = new Set([...drifts, ...(text ? [text] : [])].flatMap(({ outliers }) => outliers))
  const changes = members
    .flatMap(({ node, fact }) => {
      const day = odd.has(node) ? ownOf(fact.changedOn, path) : null
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

function blockDrift({ path, name, known, holders, model, byPolicy, ofFile }: BlockPeers): {
  drifts: Drift[]
  cost: Cost | null
} {
  const blockOf = (fact: NodeRotation) => blockIn(fact, path, name)
  const presence = (fact: NodeRotation) => (blockOf(fact) ? there : notThere)
  // Directives outside of blocks have no presence of their own: only their values are compared.
  const ofBlock =
    name === '' ? null : valueDrift(`${path} ${name}`, holders, presence, model && presence(model))
  const having = holders.filter(({ fact }) => name === '' || blockOf(fact) !== null)
  const modelBlock = model && blockOf(model)
  const settings = writtenIn(
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
      ? keptValue({ ...example, settings: { ...example.settings, ...byPolicy } }, 0)
      : null
  const odd = new Set([...(ofFile ? [ofFile] : []), ...drifts].flatMap(({ outliers }) => outliers))
  // Nodes that share a fact are all odd or all not odd.
  const oddFacts = new Set(known.flatMap(({ node, fact }) => (odd.has(node) ? [fact] : [])))
  const keptAmount = (fact: NodeRotation) => {
    const block = blockOf(fact)
    return keptValue(block, block && oddFacts.has(fact) ? beyondIn(fact, block) : 0)
  }
  const whole = known.filter(({ fact }) => isWhole(fact))
  const drift = valueDrift(`what a log of ${name} may keep`, whole, keptAmount, norm)
  return { drifts, cost: drift && { pattern: name, drift } }
}

/** If a file was not read, it is unknown what a block inherits from that file. */
const isWhole = ({ unread }: NodeRotation) => Object.keys(unread).length === 0

/** Settings set in a block or by the policy. Settings from outside are compared there. */
function writtenIn(blocks: readonly LogBlock[], byPolicy: Settings) {
  const rank = (name: string) =>
    deciding.includes(name) ? deciding.indexOf(name) : deciding.length
  return [
    ...new Set([...blocks.flatMap(({ written }) => written), ...Object.keys(byPolicy)]),
  ].toSorted((a, b) => rank(a) - rank(b) || byText(a, b))
}

function valueDrift(
  what: string,
  members: readonly RotationMember[],
  read: ReadValue,
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
export const distinctFacts = (members: readonly RotationMember[]): NodeRotation[] => [
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

function keptValue(block: LogBlock | null, beyondBytes: number): FieldValue {
  if (block === null)
    return { ...there, canonical: 'not rotated', shown: 'all that is written (nothing rotates it)' }
  const kept = keptBytes(block, beyondBytes)
  if (kept === null)
    return { ...there, canonical: 'without end', shown: 'what comes (no size holds it)' }
  return { ...there, canonical: String(kept), shown: bytes(kept), fromDefault: kept }
}
