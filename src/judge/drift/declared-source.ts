import { formatDuration } from '#base/go/duration.ts'
import { bottlerocketSettingOf } from '#facts/eks/bottlerocket-settings.ts'
import { isTranslatedForBottlerocket } from '#facts/eks/karpenter.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { dropInForm, meaningOfKey } from '#facts/kubelet/fields.ts'
import { flagSettings } from '#facts/kubelet/flag-settings.ts'
import { shorten } from '#judge/text.ts'
import type { KubeletSource } from '#model/input/cluster-input.ts'
import type { AmiFamily, NodeOwner } from '#model/input/record.ts'
import { isSet, isWrittenOut, writtenSettings } from './drift.ts'

export interface DeclaredNode {
  owner: NodeOwner
  group: string
  amiFamily: AmiFamily
  kubeletVersion: string | null
  template: { id: string | null; version: string | null }
  /** The EC2NodeClass that the node was made from, with its hash at that time. */
  nodeClass: { name: string | null; hash: string | null; hashVersion: string | null }
}

export interface DeclaredSetting {
  /** Name as in `writtenSettings`, or the key itself if the key is no field. */
  path: string
  /** Undefined: no longer declared; `before` has the previously declared value. */
  value: unknown
  before?: unknown
  /** The source of the setting: `launch template web version 4`. */
  where: string
  by: 'config' | 'flag'
  /** Why the setting cannot have reached the node, in words. Null: it could. */
  lostBy: string | null
  /** The setting is declared under a name that the kubelet drops. */
  isMisnamed: boolean
}

export interface Declaration {
  settings: DeclaredSetting[]
  undecided: string[]
  /** The source contains a script. Only the settings that the script names are known. */
  hasScript: boolean
  /** The node was made from an older template version or node class, whose content is unknown. */
  older?: Older
}

export interface Older {
  lostBy: string
  version: string | null
  hash: string | null
}

/** @param source `{ config, flags, source }` as in launch templates and user data; without a source, Karpenter puts it where the image reads it */
export function declarationOfSource(
  { config = {}, flags = [], source = '' }: KubeletSource,
  where: string,
  node: DeclaredNode,
): Declaration {
  const from = source || null
  const ofFlags = [...flagSettings(flags).fields].map(([field, value]) => [
    field,
    typeof value === 'bigint' ? formatDuration(value) : value,
  ])
  const all = [
    ...fromConfig(config, { where, by: 'config', source: from }, node),
    ...fromConfig(
      Object.fromEntries(ofFlags),
      { where: `${where} flags`, by: 'flag', source: from },
      node,
    ),
  ]
  const unclear = all.filter(({ value }) => !isWrittenOut(value))
  return {
    settings: all.filter(setting => !unclear.includes(setting)),
    hasScript: from === 'script',
    undecided: unclear.map(({ path }) => `what ${path} in ${where} comes to is not known`),
  }
}

interface SourceOrigin extends Pick<DeclaredSetting, 'where' | 'by'> {
  source: string | null
}

function fromConfig(
  config: Readonly<Record<string, unknown>>,
  { where, by, source }: SourceOrigin,
  { kubeletVersion, amiFamily }: DeclaredNode,
): DeclaredSetting[] {
  const features = featuresOf(kubeletVersion)
  return Object.entries(config).flatMap(([key, value]) => {
    if (key === 'kind' || key === 'apiVersion' || value === null || !/^[A-Za-z]\w*$/.test(key))
      return []
    // nodeadm passes a NodeConfig on as a drop-in.
    const { field, ignored } = meaningOfKey(
      key,
      features,
      source === 'nodeadm' ? dropInForm(features) : 'file',
    )
    const lostBy =
      unreadBy(amiFamily, source, by) ??
      ignoredWords(key, field, ignored) ??
      withoutSetting(amiFamily, source, key)
    const setting = (path: string, entry: unknown): DeclaredSetting => ({
      path,
      value: entry,
      where,
      by,
      lostBy,
      isMisnamed: ignored !== null,
    })
    if (field === null) return [setting(shorten(key, 100), value)]
    const found = Object.entries(writtenSettings({ [field]: value })).filter(([, entry]) =>
      isSet(entry),
    )
    return found.map(([path, entry]) => setting(path, entry))
  })
}

/** Why a kubelet drops a key, in words. Null: the kubelet does not drop it. */
export function ignoredWords(
  key: string,
  field: string | null,
  ignored: string | null,
): string | null {
  const written = shorten(key, 80)
  if (ignored === null) return null
  if (ignored === 'minor')
    return `this kubelet's minor does not know ${written}, and drops it in silence`
  if (field === null)
    return `${written} is no field of KubeletConfiguration: the kubelet drops it in silence`
  return `${written} is no field of KubeletConfiguration (${field} is): the kubelet drops it in silence`
}

const families: Partial<Record<AmiFamily, string>> = {
  AL2: 'Amazon Linux 2',
  AL2023: 'Amazon Linux 2023',
}

export const imageName = (family: AmiFamily): string => families[family] ?? family

/** Why an image never reads such a source. Sources: amazon-eks-ami nodeadm/doc, templates/al2/runtime/bootstrap.sh; Bottlerocket's README, User data */
function unreadBy(
  family: AmiFamily,
  source: string | null,
  by: DeclaredSetting['by'],
): string | null {
  if (source === null) return null
  const name = families[family]
  if (family === 'AL2023' && (source === 'bootstrap' || (source === 'script' && by === 'flag'))) {
    return `nodeadm on ${name} reads NodeConfig, not ${source === 'bootstrap' ? "bootstrap.sh's --kubelet-extra-args" : 'KUBELET_EXTRA_ARGS'}`
  }
  if (family === 'AL2' && source === 'nodeadm')
    return `bootstrap.sh on ${name} does not read NodeConfig`
  if (name !== undefined && source === 'bottlerocket')
    return `${name} does not read Bottlerocket's settings`
  return family === 'Bottlerocket' && source !== 'bottlerocket'
    ? 'Bottlerocket reads its own settings (TOML), and neither NodeConfig nor scripts'
    : null
}

/** @param source null: the setting comes from a node class or a NodePool */
function withoutSetting(family: AmiFamily, source: string | null, field: string) {
  if (family !== 'Bottlerocket') return null
  if (source === null)
    return isTranslatedForBottlerocket(field)
      ? null
      : `Karpenter does not turn ${field} into a setting of Bottlerocket`
  return bottlerocketSettingOf.has(field) ? null : `Bottlerocket has no setting for ${field}`
}
