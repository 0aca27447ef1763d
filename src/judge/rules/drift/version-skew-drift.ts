import { by } from '#base/text.ts'
import { isAmiDefaultKnown, isFamilyOfEks, isNewInAmi } from '#facts/eks/ami-defaults.ts'
import { byAge, isOneMinor, type Release, releaseOf } from '#facts/eks/node-identity.ts'
import { configurationDefaults, dependsOnSize, fieldOf, meaningOf } from '#facts/kubelet/fields.ts'
import { absentValue, type FieldValue, writtenSettings } from '#judge/drift/drift.ts'
import { nodesText } from '#judge/drift/peers.ts'
import {
  type CohortMember,
  cohortRule,
  line,
  type NodeSubject,
  plural,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import type { Evidence } from '#model/finding.ts'

type VersionFact = ReturnType<typeof factOf>

const factOf = ({ node, identity, configuration, runningValues }: NodeSubject) => ({
  release: releaseOf(node, identity.kubeletVersion),
  /** Values of the compared fields, by path. Null: the configuration was not read. */
  fields: configuration && runningValues(),
  amiFamily: identity.amiFamily,
  instanceType: identity.instanceType,
  rollsOver: identity.owner === 'karpenter',
})

export const versionSkewDrift = cohortRule({
  id: 'version-skew-drift',
  family: 'drift',
  severity: 'low',
  cause: worldCause('version-skew'),
  steps: ['upgrade-group'],
  title: 'Nodes of one group run different AMI releases or kubelet minors',
  why: 'A rolling update that stopped half-way leaves two kinds of nodes. Releases and minors have other defaults, so the same pod meets other thresholds on one node than on the next. Karpenter replaces its nodes one by one, so some skew there is normal.',
  fix: 'Finish the update of the nodegroup (aws eks update-nodegroup-version); look for pod disruption budgets that hold it up.',
  sources: [
    'EKS user guide, Update a managed node group',
    'pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration',
  ],
  // AWS replaces the nodes of EKS Auto Mode by itself.
  appliesTo: ({ identity }) => identity.owner !== 'auto-mode',
  cohort: () => '',

  fact: factOf,

  *judge(members) {
    const releases = releasesOf(members)
    const [kept, ...others] = releases
    if (!kept || others.length === 0) return
    const skewed = others.flatMap(release => release.members)
    const differing = [
      ...differingSettings(releases, path => !dependsOnSize(path)),
      ...[...Map.groupBy(members, ({ fact }) => fact.instanceType)].flatMap(([type, equals]) =>
        differingSettings(releasesOf(equals), dependsOnSize, type ?? 'instance type not known'),
      ),
    ]
    const isRead = releases.every(of => of.members.some(({ fact }) => fact.fields !== null))
    const isMinor = !isOneMinor(releases.map(({ release }) => release))
    const isAgeKnown = others.every(({ release }) => byAge(release, kept.release) < 0)
    yield {
      nodes: skewed.map(({ node }) => node).toSorted(),
      failing: {
        severity:
          members.some(({ fact }) => fact.rollsOver) || (differing.length === 0 && !isMinor)
            ? 'info'
            : 'low',
        consequence: `${skewed.length} of ${plural(members.length, 'node')} run ${isAgeKnown ? 'an older' : 'another'} ${isMinor ? 'kubelet minor' : 'AMI release'} than ${releaseText(kept.release)}, as after an update that stopped half-way. ${settingsWords(differing, isRead)}`,
        evidence: [
          line('layer', 'layer', 'peers'),
          ...releases.map(({ release, members: on }) =>
            line('node', releaseText(release), nodesText(on.map(({ node }) => node))),
          ),
          ...differing.map(({ evidence }) => evidence),
        ],
      },
    }
  },
})

function settingsWords(differing: readonly Differing[], isRead: boolean) {
  if (differing.length === 0)
    return isRead
      ? 'Their GC, eviction and log settings are alike, and so are reservations of nodes of one instance type.'
      : 'Their settings could not be compared: not all were read.'
  const [brought, others] = [true, false].map(isBrought => [
    ...new Set(differing.filter(one => one.isBrought === isBrought).map(({ path }) => path)),
  ])
  return [
    ...(brought?.length ? [`So these settings differ: ${brought.join(', ')}.`] : []),
    ...(others?.length
      ? [
          `${others.join(', ')} ${others.length === 1 ? 'differs' : 'differ'}, too, but not by the release: it was declared or edited so.`,
        ]
      : []),
  ].join(' ')
}

interface OfRelease {
  release: Release
  members: CohortMember<VersionFact>[]
}

/** The release to keep comes first: the newest, or if ages are unknown the one with most nodes. */
function releasesOf(members: CohortMember<VersionFact>[]): OfRelease[] {
  // The AMI's id is more exact than its name, but only comparable if every node has an id.
  const hasIds = members.every(({ fact }) => fact.release.image !== fact.release.osImage)
  const key = ({ image, osImage, minor }: Release) =>
    JSON.stringify([hasIds ? image : osImage, minor])
  return [...Map.groupBy(members, ({ fact }) => key(fact.release)).values()]
    .map(of => ({ release: of[0]!.fact.release, members: of }))
    .toSorted(
      (a, b) =>
        byAge(b.release, a.release) ||
        by<OfRelease>(
          ({ members }) => -members.length,
          ({ release }) => key(release),
        )(a, b),
    )
}

const releaseText = ({ image, osImage, minor }: Release) =>
  shorten(
    [
      osImage,
      ...(image === osImage ? [] : [image]),
      ...(minor === null ? [] : [`kubelet 1.${minor}`]),
    ].join(', '),
    120,
  )

interface Differing {
  path: string
  /** Whether the releases can cause the difference without a declaration or an edit. */
  isBrought: boolean
  evidence: Evidence
}

/** True if the image's own default for the field is unknown: the image might set the field. */
const mayReleaseSet =
  (path: string) =>
  ({ fact: { amiFamily } }: CohortMember<VersionFact>) =>
    !isFamilyOfEks(amiFamily) || !isAmiDefaultKnown(amiFamily, fieldOf(path))

const ofKubelet = writtenSettings({ ...configurationDefaults })

/** Whether a value is the kubelet's or the image's own, so that the release can have brought it. */
const isPreset =
  (path: string) =>
  ({ value }: { value: Value }) =>
    value.isDefault ||
    (isNewInAmi(path) && value.canonical === meaningOf(path, ofKubelet[path], null))

/**
 * Settings whose most frequent value differs between releases. peer-drift reports differences within one release.
 * @param size of all these nodes, for the evidence
 */
function differingSettings(
  releases: readonly OfRelease[],
  isWanted: (path: string) => boolean,
  size?: string,
): Differing[] {
  const paths = new Set(
    releases.flatMap(({ members }) =>
      members.flatMap(({ fact }) => Object.keys(fact.fields ?? {}).filter(isWanted)),
    ),
  )
  return [...paths].toSorted().flatMap(path => {
    const values = releases.flatMap(({ release, members }) => {
      const value = commonestValue(path, members)
      return value ? [{ release, value }] : []
    })
    if (new Set(values.map(({ value }) => value.canonical)).size < 2) return []
    return [
      {
        path,
        isBrought:
          releases.some(({ members }) => members.some(mayReleaseSet(path))) ||
          values.every(isPreset(path)),
        evidence: line(
          'configz',
          size === undefined ? path : `${path} (${shorten(size, 40)})`,
          values.map(({ release, value }) => `${value.shown} (${releaseText(release)})`).join('; '),
        ),
      },
    ]
  })
}

type Value = Pick<FieldValue, 'canonical' | 'shown' | 'isDefault'>

function commonestValue(path: string, members: CohortMember<VersionFact>[]): Value | null {
  const values = members.flatMap(({ fact }) =>
    fact.fields ? [fact.fields[path] ?? absentValue(path)] : [],
  )
  const ranked = [...Map.groupBy(values, ({ canonical }) => canonical).values()].toSorted(
    (a, b) => b.length - a.length,
  )
  return ranked[0]?.[0] ?? null
}
