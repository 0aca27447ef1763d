import { amountOrNull, quantityNumber, quantityOrNull } from '#base/go/quantity.ts'
import { by } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import { isFamilyOfEks } from '#facts/eks/ami-defaults.ts'
import { dependsOnSize, fieldOf, meaningOf } from '#facts/kubelet/fields.ts'
import {
  declarationOf,
  declaredNode,
  declaredValue,
  wholeDeclaration,
} from '#judge/drift/declared.ts'
import { type DeclaredNode, writtenSettings } from '#judge/drift/drift.ts'
import {
  baselineOf,
  type Drift,
  driftOf,
  type Meant,
  nodesText,
  type PeerSettings,
  peersOf,
  settingOfPeer,
} from '#judge/drift/peers.ts'
import { isEksReservation } from '#judge/help/reservations.ts'
import {
  type ClusterContext,
  type CohortMember,
  cohortRule,
  line,
  plural,
  shorten,
} from '#judge/rule.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'

interface PeerFact extends SizedSettings {
  cluster: string
  group: string
  node: DeclaredNode
}

export const peerDrift = cohortRule({
  id: 'peer-drift',
  family: 'drift',
  severity: 'medium',
  cause: { kind: 'hand-edit', place: null },
  steps: ['replace-node'],
  needs: ['configuration'],
  policy: ['baseline'],
  title: 'Nodes differ from their peers in GC, eviction, log or reservation settings',
  why: 'Nodes of one nodegroup are meant to be alike. One that was edited by hand, or has missed a change, meets pressure at another point than its peers. Most of them are the norm, unless what was declared or the baseline of the policy says that the few are right.',
  fix: "Put the setting where the group's nodes come from (launch template, NodeConfig, EC2NodeClass), and replace the nodes that differ.",
  sources: [
    'cmd/kubelet/app/server.go initConfigz',
    'pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration',
  ],

  cohort: peersOf,

  fact: ({ cluster, configuration, identity, node, ...subject }): PeerFact => {
    const { amiFamily, instanceType, group } = identity
    const { cpu, memory } = node.status?.capacity ?? {}
    return {
      cluster,
      group: group.name,
      amiFamily,
      instanceType,
      cores: amountOf(cpu),
      memoryGiB: amountOf(memory, gibibyte),
      node: declaredNode({ ...subject, identity, node }),
      fields: subject.runningValues(),
    }
  },

  *judge(members, policy, context) {
    const { meantOf, isRestored } = meaningIn(policy, context)
    const paths = [...new Set(members.flatMap(({ fact }) => Object.keys(fact.fields)))].toSorted()
    const drifts = paths.flatMap((path): PathDrift[] => {
      const driftsOfPath = (
        equals: readonly CohortMember<PeerFact>[],
        qualifier: string,
      ): PathDrift[] => {
        const drift = driftOf(path, equals, qualifier, meantOf)
        const [first] = equals
        return !drift || !first ? [] : [{ ...drift, path, fact: first.fact }]
      }
      if (!dependsOnSize(path)) return driftsOfPath(members, '')
      return [...Map.groupBy(members, ({ fact }) => fact.instanceType)].flatMap(([type, equals]) =>
        driftsOfPath(equals, ` (${shorten(type ?? 'instance type not known', 40)})`),
      )
    })
    const sized = sizeDrifts(members, meantOf)
    const nodes = outliersOf(drifts)
    const isNamed = ({ outliers }: { outliers: string[] }) =>
      outliers.some(node => nodes.includes(node))
    const ofOne = `of one image and kubelet minor`
    if (nodes.length > 0) {
      const tied = drifts.filter(({ hasNorm }) => !hasNorm).map(({ evidence }) => evidence.what)
      const who =
        nodes.length === members.length
          ? `Each of the ${nodes.length} nodes ${ofOne} runs with other settings than most of the others`
          : `${nodes.length} of ${plural(members.length, 'node')} ${ofOne} run with other settings than their peers`
      const restored = drifts.every(isRestored)
        ? ", and a replacement brings back the group's own setting"
        : ''
      yield {
        nodes,
        failing: {
          confidence: tied.length === 0 ? 'certain' : 'possible',
          consequence: `${who}: they collect, evict, rotate or reserve at other points${restored}.${imageWords(drifts, nodes.length)}${tieText(tied)}`,
          evidence: evidenceOf([...drifts, ...sized.filter(isNamed)]),
        },
      }
    }
    const rest = sized.filter(drift => !isNamed(drift))
    if (rest.length > 0) {
      const sizes = outliersOf(rest)
      yield {
        nodes: sizes,
        failing: {
          confidence: 'likely',
          consequence: `${sizes.length} of ${plural(members.length, 'node')} ${ofOne} reserve otherwise than the other sizes of their group: ${rest.map(({ words }) => words).join('; ')}.`,
          evidence: evidenceOf(rest),
        },
      }
    }
  },
})

/** Amount in `unit`s, rounded: instances of one type differ by a few kilobytes. Null: unknown. */
function amountOf(text: string | undefined, unit = 1) {
  const amount = Math.round((amountOrNull(text) ?? 0) / unit)
  return amount > 0 ? amount : null
}

interface PathDrift extends Drift {
  path: string
  /** The fact of one of the compared nodes. */
  fact: PeerFact
}

const outliersOf = (drifts: readonly { outliers: string[] }[]) =>
  [...new Set(drifts.flatMap(({ outliers }) => outliers))].toSorted()

const evidenceOf = (drifts: readonly Pick<Drift, 'evidence'>[]) => [
  line('layer', 'layer', 'peers'),
  ...drifts.map(({ evidence }) => evidence).toSorted(by(({ what }) => what)),
]

function imageWords(drifts: readonly PathDrift[], nodes: number) {
  const paths = drifts
    .filter(
      ({ fact, reference, outlying }) =>
        isFamilyOfEks(fact.amiFamily) &&
        !reference.isDefault &&
        outlying.some(({ value }) => value.isDefault),
    )
    .map(({ path }) => path)
  return paths.length === 0
    ? ''
    : ` In ${paths.join(', ')} ${nodes === 1 ? 'it is as its image comes' : 'some are as their image comes'}.`
}

const tieText = (tied: readonly string[]) =>
  tied.length === 0
    ? ''
    : ` Of ${tied.toSorted().join(', ')} no value has a majority: which of the nodes is the odd one is open.`

/** Intended settings of nodes: the declared value, else the value in the policy's baseline. */
function meaningIn(policy: Policy, context: ClusterContext) {
  const known = new Map<PeerFact, ReturnType<typeof readMeaning>>()
  const readMeaning = (fact: PeerFact) => ({
    declaration: declarationOf(fact.node, context),
    baseline: writtenSettings(baselineOf(fact, policy) ?? {}),
  })
  const meaningOfNode = (fact: PeerFact, path: string) => {
    const found = known.get(fact) ?? readMeaning(fact)
    known.set(fact, found)
    const { declaration, baseline } = found
    const declared = typeof declaration === 'string' ? undefined : declaredValue(declaration, path)
    return { declared, baseline }
  }
  const meantOf = (fact: PeerFact, path: string): Meant | null => {
    const { declared, baseline } = meaningOfNode(fact, path)
    if (!declared && !Object.hasOwn(baseline, path)) return null
    return {
      by: declared ? 'declared' : 'baseline',
      canonical: meaningOf(
        path,
        declared ? declared.value : baseline[path],
        fact.node.kubeletVersion,
      ),
    }
  }
  /**
   * Whether a replacement node gets the reference value. The value is declared, or the field is
   * undeclared and the value is the image's default.
   */
  const isRestored = ({ fact, path, reference }: PathDrift) => {
    const { declared } = meaningOfNode(fact, path)
    if (declared)
      return declared.lostBy === null && meantOf(fact, path)?.canonical === reference.canonical
    const whole = reference.isDefault ? wholeDeclaration(fact.node, context) : null
    return (
      whole !== null && !whole.settings.some(setting => fieldOf(setting.path) === fieldOf(path))
    )
  }
  return { meantOf, isRestored }
}

/* Compares the reservations of a group's instance sizes. A formula covers values that legitimately vary by size. */

interface SizedSettings extends PeerSettings {
  amiFamily: AmiFamily
  cores: number | null
  memoryGiB: number | null
}

type SizedMember = CohortMember<SizedSettings>

/**
 * Instance sizes whose nodes are alike, but have other reservations than most nodes of the group.
 * Differences within a size are reported by peer-drift.
 */
function sizeDrifts<Fact extends SizedSettings>(
  members: readonly CohortMember<Fact>[],
  meantOf: (fact: Fact, path: string) => Meant | null,
) {
  const types = Map.groupBy(members, ({ fact }) => fact.instanceType)
  if (types.size < 2) return []
  const paths = [...new Set(members.flatMap(({ fact }) => Object.keys(fact.fields)))].toSorted()
  return paths.flatMap(path => {
    const norm = normOf(path, members)
    if (!norm) return []
    return [...types].flatMap(([type, equals]) => {
      const [first] = equals
      if (!first || type === null) return []
      const value = settingOfPeer(first.fact, path)
      const isAlike = equals.every(
        ({ fact }) => settingOfPeer(fact, path).canonical === value.canonical,
      )
      if (!isAlike || norm.isMet(first) || meantOf(first.fact, path)?.canonical === value.canonical)
        return []
      const outliers = equals.map(({ node }) => node).toSorted()
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

function normOf(path: string, members: readonly SizedMember[]) {
  const isMajority = (part: readonly unknown[]) => 2 * part.length > members.length
  if (path === 'kubeReserved.cpu' || path === 'kubeReserved.memory') {
    const resource = path === 'kubeReserved.cpu' ? 'cpu' : 'memory'
    // Null: undecided, because the instance's cores are unknown.
    const isNearExample = ({ fact }: SizedMember) =>
      isEksReservation(resource, fact.fields[path]?.shown, fact.cores)
    const isOfEks = members.every(({ fact }) => isFamilyOfEks(fact.amiFamily))
    if (!isOfEks || !isMajority(members.filter(member => isNearExample(member) === true)))
      return null
    return {
      shown: "by the formula of EKS's images",
      isMet: (member: SizedMember) => isNearExample(member) !== false,
    }
  }
  if (fieldOf(path) !== 'systemReserved') return null
  const groups = [
    ...Map.groupBy(members, ({ fact }) => settingOfPeer(fact, path).canonical).values(),
  ]
  const most = groups.find(isMajority)
  const [example] = most ?? []
  if (!most || !example) return null
  const value = settingOfPeer(example.fact, path)
  const isFormulaMet = (member: SizedMember) =>
    settingOfPeer(member.fact, path).canonical === value.canonical ||
    isInProportion(path, member, example)
  return { shown: value.shown, isMet: isFormulaMet }
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
  if (!quantity || !capacity) return null
  const { unscaled, exponent } = quantity
  return (exponent < 0 ? Number(unscaled) * 10 ** exponent : quantityNumber(quantity)) / capacity
}
