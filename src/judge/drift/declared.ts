/** A node's intended kubelet settings: from its launch template, EC2NodeClass or NodePool. */
import { isFamilyOfEks } from '#facts/eks/ami-defaults.ts'
import { meaningOf } from '#facts/kubelet/fields.ts'
import type { ClusterContext, NodeSubject } from '#judge/subject/node-subject.ts'
import { shorten } from '#judge/text.ts'
import type { LaunchTemplateVersion, NodeClass, Nodegroup } from '#model/input/record.ts'
import {
  type Declaration,
  type DeclaredNode,
  type DeclaredSetting,
  declarationOfSource,
  type Older,
} from './drift.ts'

export const classResource = 'ec2nodeclasses.karpenter.k8s.aws'
const poolResource = 'nodepools.karpenter.sh'
export const unusedByCustom =
  'Karpenter tells nodes of amiFamily Custom nothing but their own user data'

export function declaredNode({
  identity,
  node,
}: Pick<NodeSubject, 'identity' | 'node'>): DeclaredNode {
  const { owner, group, amiFamily, kubeletVersion } = identity
  const { labels, annotations } = node.metadata ?? {}
  return {
    owner,
    group: group.name,
    amiFamily,
    kubeletVersion,
    template: {
      id: labels?.['eks.amazonaws.com/sourceLaunchTemplateId'] ?? null,
      version: labels?.['eks.amazonaws.com/sourceLaunchTemplateVersion'] ?? null,
    },
    nodeClass: {
      name: labels?.['karpenter.k8s.aws/ec2nodeclass'] ?? null,
      hash: annotations?.['karpenter.k8s.aws/ec2nodeclass-hash'] ?? null,
      hashVersion: annotations?.['karpenter.k8s.aws/ec2nodeclass-hash-version'] ?? null,
    },
  }
}

/** A text is the reason why nothing of the declaration is known. */
export function declarationOf(node: DeclaredNode, context: ClusterContext): Declaration | string {
  if (node.owner === 'managed-nodegroup') return declarationOfNodegroup(node, context)
  if (node.owner === 'karpenter') return declarationOfKarpenter(node, context)
  return 'what it was made from is not known: it belongs to no managed nodegroup and no NodePool'
}

const nodegroupOf = (name: string, { nodegroups }: ClusterContext) =>
  nodegroups?.find(({ nodegroupName }) => nodegroupName === name) ?? null

/**
 * Whether EKS publishes the node's image. With Karpenter, only an alias proves that: ids, names and tags also match other images.
 * Karpenter v1beta1 used the family's own image if no selector term was given.
 */
function isImageOfEks(node: DeclaredNode, context: ClusterContext) {
  if (node.owner === 'managed-nodegroup') {
    const nodegroup = nodegroupOf(node.group, context)
    return nodegroup !== null && nodegroup.amiType !== 'CUSTOM'
  }
  const name = node.owner === 'karpenter' ? classNameOf(node, context) : null
  const nodeClass = context
    .objects(classResource)
    ?.find(({ metadata }) => name !== null && metadata?.name === name)
  if (!nodeClass) return false
  const { amiFamily, amiSelectorTerms = [] } = nodeClass.spec ?? {}
  return amiFamily !== 'Custom' && amiSelectorTerms.every(({ alias }) => alias)
}

/** The complete declaration of a node on an EKS image. Every field without a declared value then has the image's value. Null: not complete. */
export function wholeDeclaration(node: DeclaredNode, context: ClusterContext): Declaration | null {
  if (!isFamilyOfEks(node.amiFamily) || !isImageOfEks(node, context)) return null
  const declaration = declarationOf(node, context)
  if (typeof declaration === 'string' || declaration.older || declaration.hasScript) return null
  return declaration.undecided.length === 0 ? declaration : null
}

/** The last declared value of a field; a flag wins over all others. Undefined: none. */
export const declaredValue = ({ settings }: Declaration, path: string) => {
  const own = settings.filter(setting => setting.path === path && setting.before === undefined)
  return own.findLast(({ by }) => by === 'flag') ?? own.at(-1)
}

const none: Declaration = { settings: [], undecided: [], hasScript: false }

function declarationOfNodegroup(node: DeclaredNode, context: ClusterContext): Declaration | string {
  if (!context.nodegroups) return context.why('nodegroups')
  const nodegroup = nodegroupOf(node.group, context)
  if (!nodegroup) return `nodegroups: ${shorten(node.group, 100)} is not among them`
  if (!nodegroup.launchTemplate) return none
  const named = namedTemplate(nodegroup.launchTemplate, context)
  if (typeof named === 'string') return named
  const declared = declarationOfTemplate(named, node)
  if (typeof declared === 'string') return declared
  return isOlder(node, named) ? withOlderVersion(declared, named, node, context) : declared
}

interface Template {
  id: string | null
  name: string
  version: number
  entries: readonly LaunchTemplateVersion[]
}

type NamedTemplate = NonNullable<Nodegroup['launchTemplate']>

const versionsOf = ({ id, name }: NamedTemplate, { launchTemplates }: ClusterContext) =>
  (launchTemplates ?? []).filter(({ launchTemplateId, launchTemplateName }) =>
    id ? launchTemplateId === id : launchTemplateName === name,
  )

function namedTemplate(named: NamedTemplate, context: ClusterContext): Template | string {
  if (!context.launchTemplates) return context.why('launchTemplates')
  const versions = versionsOf(named, context)
  const wanted = named.version || '$Default'
  const version = versionNamed(wanted, versions, context)
  const entries = versions.filter(({ versionNumber }) => versionNumber === version)
  const name = shorten(named.name || entries[0]?.launchTemplateName || named.id || '', 128)
  if (version === null || entries.length === 0) {
    return `launchTemplates: version ${shorten(wanted, 20)} of ${name} was not read`
  }
  return { id: entries[0]?.launchTemplateId || null, name, version, entries }
}

/** `$Latest` and `$Default` were resolved to numbers when read: the highest number, and the number that no nodegroup names itself. */
function versionNamed(
  named: string,
  versions: readonly LaunchTemplateVersion[],
  { nodegroups }: ClusterContext,
) {
  const numbers = [...new Set(versions.flatMap(({ versionNumber }) => versionNumber ?? []))]
  if (named === '$Latest') return numbers.length === 0 ? null : Math.max(...numbers)
  if (named !== '$Default') return Number(named)
  const byNumber = (nodegroups ?? []).map(({ launchTemplate }) => Number(launchTemplate?.version))
  const others = numbers.filter(number => !byNumber.includes(number))
  const [only = null, ...more] = numbers.length === 1 ? numbers : others
  return more.length === 0 ? only : null
}

function declarationOfTemplate(template: Template, node: DeclaredNode): Declaration | string {
  const { name, version, entries } = template
  const where = templateText(template)
  if (entries.some(({ kubelet }) => kubelet === undefined))
    return `launchTemplates: what version ${version} of ${name} tells the kubelet is not known`
  return mergeDeclarations(
    entries.flatMap(({ kubelet }) => (kubelet ? [declarationOfSource(kubelet, where, node)] : [])),
  )
}

const isOlder = ({ template }: DeclaredNode, { id, version }: Template) =>
  template.version !== null &&
  (template.id === null || id === null || template.id === id) &&
  template.version !== String(version)

/** The declaration for a node that was made from an older version: settings that the newer version changed are lost on it. Equal ones are not. */
function withOlderVersion(
  declared: Declaration,
  named: Template,
  node: DeclaredNode,
  context: ClusterContext,
): Declaration {
  const version = Number(node.template.version)
  const entries = versionsOf({ id: named.id ?? '', name: named.name }, context).filter(
    ({ versionNumber }) => versionNumber === version,
  )
  const before =
    entries.length === 0 ? 'not read' : declarationOfTemplate({ ...named, version, entries }, node)
  const lostBy = `the node was made from version ${shorten(String(node.template.version), 20)} of ${named.name}, and its nodegroup names version ${named.version} now`
  if (typeof before === 'string')
    return {
      ...withReason(declared, lostBy),
      older: { lostBy, version: String(named.version), hash: null },
    }
  const isDeclaredIn = (settings: DeclaredSetting[], { path, value }: DeclaredSetting) =>
    settings.some(
      other =>
        other.path === path &&
        meaningOf(path, other.value, node.kubeletVersion) ===
          meaningOf(path, value, node.kubeletVersion),
    )
  const changed = declared.settings.map(setting =>
    isDeclaredIn(before.settings, setting)
      ? setting
      : { ...setting, lostBy: setting.lostBy ?? lostBy },
  )
  const dropped = before.settings.filter(
    ({ path, lostBy }) =>
      lostBy === null && !declared.settings.some(setting => setting.path === path),
  )
  const gone = dropped.map(
    (setting): DeclaredSetting => ({
      ...setting,
      value: undefined,
      before: setting.value,
      where: templateText(named),
      lostBy,
    }),
  )
  return { ...declared, settings: [...changed, ...gone] }
}

const templateText = ({ name, version }: Template) => `launch template ${name} version ${version}`

function templateOfPool({ group }: DeclaredNode, context: ClusterContext) {
  const pool = context.objects(poolResource)?.find(({ metadata }) => metadata?.name === group)
  return pool?.spec?.template?.spec ?? {}
}

const classNameOf = (node: DeclaredNode, context: ClusterContext) =>
  (node.nodeClass.name ?? templateOfPool(node, context).nodeClassRef?.name) || null

function declarationOfKarpenter(node: DeclaredNode, context: ClusterContext) {
  const pools = context.objects(poolResource)
  const template = templateOfPool(node, context)
  const name = classNameOf(node, context)
  // Upstream: Karpenter v1beta1 keeps the kubelet's settings in the NodePool.
  const ofPool = template.kubelet
    ? [
        declarationOfSource(
          { config: template.kubelet },
          `NodePool ${shorten(node.group, 63)}`,
          node,
        ),
      ]
    : []
  const classes = context.objects(classResource)
  if (name === null)
    return (
      ofPool[0] ??
      (pools
        ? 'its EC2NodeClass is not named by its label or its NodePool'
        : context.why(poolResource))
    )
  const nodeClass = classes?.find(({ metadata }) => metadata?.name === name)
  if (!nodeClass) {
    return (
      ofPool[0] ??
      (classes
        ? `${classResource}: ${shorten(name, 63)} is not among them`
        : context.why(classResource))
    )
  }
  const ofClass = declarationOfNodeClass(nodeClass, name, node)
  return { ...ofClass, ...mergeDeclarations([ofClass, ...ofPool]) }
}

function declarationOfNodeClass(
  { metadata, spec }: NodeClass,
  name: string,
  node: DeclaredNode,
): Declaration {
  const where = `EC2NodeClass ${shorten(name, 63)}`
  const { kubelet, userData, amiFamily } = spec ?? {}
  const older = changedClass(metadata?.annotations ?? {}, where, node)
  const custom = amiFamily === 'Custom' ? unusedByCustom : null
  const own = kubelet
    ? withReason(declarationOfSource({ config: kubelet }, where, node), custom)
    : none
  const ofUserData = mergeDeclarations(
    (userData ?? []).map(source => declarationOfSource(source, `${where} userData`, node)),
  )
  // Karpenter appends its own part to the user data, so its own part wins, except over flags.
  const isWonOver = ({ path, by }: DeclaredSetting) =>
    by === 'config' && custom === null && own.settings.some(setting => setting.path === path)
  const declared = mergeDeclarations([
    { ...ofUserData, settings: ofUserData.settings.filter(setting => !isWonOver(setting)) },
    own,
  ])
  return {
    settings: withReason(declared, older?.lostBy ?? null).settings,
    ...(older && { older }),
    hasScript: declared.hasScript,
    undecided:
      userData !== null
        ? declared.undecided
        : [...declared.undecided, `what the user data of ${where} tells the kubelet is not known`],
  }
}

const withReason = (declaration: Declaration, lostBy: string | null): Declaration => ({
  ...declaration,
  settings: declaration.settings.map(setting => ({ ...setting, lostBy: setting.lostBy ?? lostBy })),
})

/** Two hashes are comparable only if their hash versions are equal. Upstream: karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go Hash */
function changedClass(
  annotations: Readonly<Record<string, string>>,
  where: string,
  { nodeClass: { hash, hashVersion } }: DeclaredNode,
): Older | null {
  const now = annotations['karpenter.k8s.aws/ec2nodeclass-hash'] ?? null
  const isComparable =
    hash !== null &&
    now !== null &&
    hashVersion === (annotations['karpenter.k8s.aws/ec2nodeclass-hash-version'] ?? null)
  return isComparable && hash !== now
    ? {
        lostBy: `the node was made from ${where} as it was before it changed`,
        version: null,
        hash: now,
      }
    : null
}

const mergeDeclarations = (declarations: readonly Declaration[]): Declaration => ({
  settings: declarations.flatMap(({ settings }) => settings),
  undecided: declarations.flatMap(({ undecided }) => undecided),
  hasScript: declarations.some(({ hasScript }) => hasScript),
})
