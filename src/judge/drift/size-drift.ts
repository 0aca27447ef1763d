import { quantityNumber, quantityOrNull } from '#base/go/quantity.ts'
import { byText } from '#base/text/text-order.ts'
import { isFamilyOfEks } from '#facts/eks/ami-defaults.ts'
import { fieldOf } from '#facts/kubelet/fields.ts'
import { isEksReservation } from '#judge/help/reservations.ts'
import { type CohortMember, type Failing, line, shorten } from '#judge/rule.ts'
import type { AmiFamily } from '#model/input/record.ts'
import { type Meant, nodesText, type PeerSettings, settingOfPeer } from './peers.ts'

/* Compares the reservations of a group's instance sizes. A formula covers values that legitimately vary by size. */

export interface SizedSettings extends PeerSettings {
  amiFamily: AmiFamily
  cores: number | null
  memoryGiB: number | null
}

export interface SizeDrift {
  evidence: Failing['evidence'][number]
  outliers: string[]
  words: string
}

type SizedMember = CohortMember<SizedSettings>
type MeantOf<Fact> = (fact: Fact, path: string) => Meant | null

/**
 * Instance sizes whose nodes are alike, but have other reservations than most nodes of the group.
 * Differences within a size are reported by peer-drift.
 */
export function sizeDrifts<Fact extends SizedSettings>(
  members: readonly CohortMember<Fact>[],
  meantOf: MeantOf<Fact>,
): SizeDrift[] {
  const types = Map.groupBy(members, ({ fact }) => fact.instanceType)
  if (types.size < 2) return []
  const paths = [...new Set(members.flatMap(({ fact }) => Object.keys(fact.fields)))].toSorted(
    byText,
  )
  return paths.flatMap(path => {
    const norm = normOf(path, members)
    if (norm === null) return []
    return [...types].flatMap(([type, equals]): SizeDrift[] => {
      const [first] = equals
      if (first === undefined || type === null) return []
      const value = settingOfPeer(first.fact, path)
      const isAlike = equals.every(
        ({ fact }) => settingOfPeer(fact, path).canonical === value.canonical,
      )
      if (!isAlike || norm.isMet(first) || meantOf(first.fact, path)?.canonical === value.canonical)
        return []
      const outliers = equals.map(({ node }) => node).toSorted(byText)
      const shownType = shorten(type, 40)
      return [
        {
          evidence: line(
            'configz',
            `${path} (${shownType})`,
            `${norm.shown} (most nodes of other sizes); ${value.shown} on ${nodesText(outliers)}`,
          ),
          outliers,
          words: `${path} is ${value.shown} on ${shownType}, and ${norm.shown} on most others`,
        },
      ]
    })
  })
}

interface Norm {
  shown: string
  isMet(member: SizedMember): boolean
}

function normOf(path: string, members: readonly SizedMember[]): Norm | null {
  const isMost = (part: readonly unknown[]) => 2 * part.length > members.length
  if (path === 'kubeReserved.cpu' || path === 'kubeReserved.memory') {
    const resource = path === 'kubeReserved.cpu' ? 'cpu' : 'memory'
    // Null: undecided, because the instance's cores are unknown.
    const isMet = ({ fact }: SizedMember) =>
      isEksReservation(resource, fact.fields[path]?.shown, fact.cores)
    const isOfEks = members.every(({ fact }) => isFamilyOfEks(fact.amiFamily))
    if (!isOfEks || !isMost(members.filter(member => isMet(member) === true))) return null
    return { shown: "by the formula of EKS's images", isMet: member => isMet(member) !== false }
  }
  if (fieldOf(path) !== 'systemReserved') return null
  const groups = [
    ...Map.groupBy(members, ({ fact }) => settingOfPeer(fact, path).canonical).values(),
  ]
  const most = groups.find(isMost)
  const [example] = most ?? []
  if (most === undefined || example === undefined) return null
  const value = settingOfPeer(example.fact, path)
  const isMet = (member: SizedMember) =>
    settingOfPeer(member.fact, path).canonical === value.canonical ||
    isInProportion(path, member, example)
  return { shown: value.shown, isMet }
}

const tolerance = 0.1

function isInProportion(path: string, a: SizedMember, b: SizedMember) {
  const [one, other] = [shareOf(path, a), shareOf(path, b)]
  return one !== null && other !== null && other > 0 && Math.abs(one / other - 1) <= tolerance
}

function capacityOf(path: string, { cores, memoryGiB }: SizedSettings) {
  if (path.endsWith('.cpu')) return cores
  return path.endsWith('.memory') ? memoryGiB : null
}

function shareOf(path: string, { fact }: SizedMember) {
  const capacity = capacityOf(path, fact)
  const quantity = quantityOrNull(settingOfPeer(fact, path).shown)
  if (quantity === null || !capacity) return null
  const { unscaled, exponent } = quantity
  return (exponent < 0 ? Number(unscaled) * 10 ** exponent : quantityNumber(quantity)) / capacity
}
