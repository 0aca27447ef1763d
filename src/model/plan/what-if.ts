/** Assumptions for a prediction: another moment, another configuration, a disk that fills. */

import { amountOrNull } from '#base/go/quantity.ts'
import { OperatorError } from '#base/operator-error.ts'

const fillTargets = [
  'nodefs',
  'imagefs',
  'containerfs',
  'nodefs.inodes',
  'imagefs.inodes',
  'containerfs.inodes',
  'memory',
  'pids',
] as const

/** What fills: bytes of a filesystem, its inodes, memory of pods, processes. */
export type FillTarget = (typeof fillTargets)[number]
export type FilesystemName = Extract<FillTarget, 'nodefs' | 'imagefs' | 'containerfs'>

export interface Fill {
  target: FillTarget
  /** Bytes, inodes or processes. */
  perSecond: number
}

/** An assumed value of one field of the running configuration, as if always set. Undefined: the field is unset. */
export interface ConfigurationChange {
  /** Path from the top of the configuration: `['evictionHard', 'nodefs.available']`. */
  path: readonly string[]
  value: unknown
}

export interface WhatIf {
  /** RFC 3339; null: the node's own now. The state as read lasts until then, except that container GC runs every minute. */
  at: string | null
  changes: readonly ConfigurationChange[]
  fills: readonly Fill[]
  /** The timeline has the likely course only: no bounds, and all its events count as certain. */
  isLikelyCourse?: boolean
  /** Steps that timelines may still take: each one takes its own away. Absent: any number. */
  budget?: { steps: number }
  /** Another kubelet version. Absent: the node's own. */
  kubelet?: string
}

export const asItIs: WhatIf = { at: null, changes: [], fills: [] }

/** `1.35` or `v1.35.4`. @throws OperatorError */
export function parseKubeletVersion(text: string) {
  const [, release, patch = '.0'] = /^v?(1\.\d{1,3})(\.\d{1,3})?$/.exec(text) ?? []
  if (release === undefined)
    throw new OperatorError(`${text} is no kubelet version: write it like 1.35 or v1.35.4`)
  return `v${release}${patch}`
}

const fillForm = /^([\w.]+)=([^/\s]+)\/s$/

/** `nodefs=50Mi/s`. @throws OperatorError */
export function parseFill(text: string): Fill {
  const [, name, rate = ''] = fillForm.exec(text) ?? []
  const target = fillTargets.find(known => known === name)
  if (target === undefined)
    throw new OperatorError(
      `A fill is written WHAT=QUANTITY/s, like nodefs=50Mi/s, of ${fillTargets.join(', ')}; not ${text}`,
    )
  const perSecond = rateOf(rate)
  if (perSecond === null)
    throw new OperatorError(
      `${text} fills by no positive quantity: write one as Kubernetes does, like 50Mi/s or 1.5Gi/s`,
    )
  return { target, perSecond }
}

function rateOf(text: string) {
  const bytes = amountOrNull(text)
  return bytes !== null && bytes > 0 && Number.isSafeInteger(bytes) ? bytes : null
}

const timeForm = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** Whether the text is an RFC 3339 time that exists in the calendar. */
export const isMoment = (text: string) => timeForm.test(text) && !Number.isNaN(Date.parse(text))

/** An RFC 3339 time. @throws OperatorError */
export function parseMoment(text: string) {
  if (!isMoment(text))
    throw new OperatorError(`${text} is no time: write it as RFC 3339, like 2026-11-21T08:30:00Z`)
  return text
}
