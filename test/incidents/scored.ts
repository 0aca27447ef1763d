/** How well an audit explains an incident, by the values of its published document and by the words of its mail. */
import type { ExpectedCause, Incident } from './incident.ts'
import type { Judged } from './judged.ts'

export interface Score {
  incident: Incident
  /** The first cause is the thread's. */
  cause: boolean
  owner: boolean
  /** Its first step works. */
  step: boolean
  /** The mail has the words of cause and step. */
  words: boolean
  /** What is called a cause, or printed as a step, and is none. */
  misleads: string[]
  /** What the audit says: cause, owner, steps. */
  says: string
}

/** The part of `findings.json` that is scored. */
interface Published {
  causes?: CauseGroup[]
}

interface CauseGroup {
  severity: string
  rule: string
  cause: {
    kind: string
    holder?: string
    place?: string | null
    fields?: string[]
    what?: string
    event?: string
    owner?: HolderOwner | null
  }
  steps: {
    kind: string
    action: { id: string; owner?: HolderOwner; each?: { owner?: HolderOwner }[] }
    commands: { command: string }[]
  }[]
  settings: { path: string }[]
}

interface HolderOwner {
  kind: string
  namespace?: string | null
  pod?: string | null
  workload?: string | null
}

const isSevere = ({ severity }: CauseGroup) => severity === 'critical' || severity === 'high'

export function scoreOf(incident: Incident, judged: Judged): Score {
  const { causes = [] } = JSON.parse(judged.findingsJson()) as Published
  const [first] = causes
  const severe = causes.filter(isSevere)
  const misleads = misleading(incident, severe, judged)
  const says = first === undefined ? 'nothing' : described(first)
  if (incident.cause === null)
    // Settings that would evict before image GC stay a risk on a healthy node; a holder or a device would be wrong.
    return {
      ...{ incident, owner: true, step: true, words: true, misleads, says },
      cause: severe.every(({ cause }) => cause.kind === 'setting'),
    }
  return {
    ...{ incident, misleads, says },
    cause: first !== undefined && incident.cause.some(wanted => isCause(wanted, first)),
    owner: first !== undefined && isOwner(incident.owner, first),
    step: first !== undefined && incident.steps.some(kind => kind === first.steps[0]?.kind),
    words: (incident.words ?? []).every(word => word.test(judged.mail())),
  }
}

function isCause(wanted: ExpectedCause, { cause, settings }: CauseGroup): boolean {
  if (cause.kind !== wanted.kind) return false
  if (wanted.kind === 'holder')
    return (
      cause.holder === wanted.holder &&
      (wanted.place === undefined || cause.place?.startsWith(wanted.place) === true)
    )
  if (wanted.kind === 'setting')
    return [...(cause.fields ?? []), ...settings.map(({ path }) => path)].some(
      path => path === wanted.field || path.split('.')[0] === wanted.field,
    )
  return wanted.kind !== 'device' || wanted.what === undefined || cause.what === wanted.what
}

/** A process is known by its pod, not by the pod's controller; so is a pod without a controller. */
function isOwner(wanted: Incident['owner'], group: CauseGroup): boolean {
  const owner = firstOwner(group)
  if (owner?.kind === 'process' && wanted === 'platform') return owner.namespace === null
  const [namespace, name] = wanted?.split(/\/\w+ /) ?? []
  if (owner?.kind === 'process' || (owner?.pod && wanted?.includes('/Bare ')))
    return owner.namespace === namespace && owner.pod?.startsWith(`${name}-`) === true
  return ownerOf(group) === wanted
}

/** Where a step is for several owners, the first. */
function firstOwner({ cause, steps }: CauseGroup) {
  const { owner, each } = steps[0]?.action ?? {}
  return cause.owner ?? owner ?? each?.[0]?.owner
}

function ownerOf(group: CauseGroup): string {
  const owner = firstOwner(group)
  return owner?.namespace && owner.workload ? `${owner.namespace}/${owner.workload}` : 'platform'
}

function misleading(
  { notCauses = [], never = [] }: Incident,
  severe: CauseGroup[],
  { mail }: Judged,
) {
  const named = severe.flatMap(({ cause, settings }) => [
    ...(cause.holder === undefined ? [] : [cause.holder]),
    ...(cause.fields ?? []),
    // The fields that are printed. The others are set with them.
    ...settings.slice(0, 1).map(({ path }) => path),
  ])
  const printed = severeCards(mail())
  return [
    ...notCauses.filter(one => named.includes(one)),
    ...never.flatMap(word => word.exec(printed)?.[0] ?? []),
  ]
}

/** The mail's cards of critical and high causes. */
function severeCards(mail: string): string {
  const [, causes = ''] = /\nCAUSES\n(.*?)\n[A-Z][A-Z ]+\n/s.exec(mail) ?? []
  return causes
    .split(/\n(?= {2}\d+\. \[)/)
    .filter(card => /^\s*\d+\. \[(?:Critical|High)\]/.test(card))
    .join('\n')
}

function described(group: CauseGroup): string {
  const { kind, holder, fields, what, event, place } = group.cause
  const name = holder ?? fields?.join('+') ?? what ?? event ?? ''
  const steps = group.steps.map(step => `${step.kind}:${step.action.id}`).join(',')
  return `${group.rule} ${kind} ${name}${place ? ` ${place}` : ''} | ${ownerOf(group)} | ${steps}`
}
