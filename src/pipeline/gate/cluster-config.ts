/**
 * Kubelet settings in eksctl's ClusterConfig.
 * Source: eksctl pkg/apis/eksctl.io/v1alpha5 validation.go, pkg/nodebootstrap al2023.go; managedNodeGroups have no kubeletExtraConfig
 */
import { bottlerocketPiece } from '#clients/user-data/bottlerocket.ts'
import { refusedByEksctl } from '#facts/eks/eksctl.ts'
import { mapOf } from '#model/config-value.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import {
  type FileReading,
  refuseBottlerocket,
  takeUserData,
  type YamlPart,
} from './file-reading.ts'

const lists = ['nodeGroups', 'managedNodeGroups'] as const

export function clusterConfigParts(reading: FileReading, part: YamlPart): void {
  const cluster = String(mapOf(part.value.metadata).name ?? '')
  for (const list of lists) {
    const groups = part.value[list]
    if (!Array.isArray(groups)) continue
    for (const [index, group] of groups.entries())
      if (isRawObject(group)) takeGroup(reading, part, group, { list, index, cluster })
  }
}

interface GroupPlace {
  list: (typeof lists)[number]
  index: number
  cluster: string
}

function takeGroup(
  reading: FileReading,
  { linesAt }: YamlPart,
  group: RawObject,
  { list, index, cluster }: GroupPlace,
): void {
  const { file, parts, problems } = reading
  const target = { cluster, group: String(group.name ?? '') }
  const head = { kind: 'ClusterConfig', file, target } as const
  const lines = (...path: (string | number)[]) => linesAt(list, index, ...path)
  const refuse = (text: string, field: string, at = lines('kubeletExtraConfig')) =>
    problems.push({ kind: 'refused', line: at.from, field, text: `eksctl: ${text}` })
  const { kubeletExtraConfig, amiFamily, preBootstrapCommands, overrideBootstrapCommand } = group
  if (isRawObject(kubeletExtraConfig)) {
    const at = `${list}[${index}]`
    if (list === 'managedNodeGroups')
      refuse('json: unknown field "kubeletExtraConfig"', 'kubeletExtraConfig')
    else if (amiFamily === 'Bottlerocket' || String(amiFamily).startsWith('Windows'))
      refuse(
        `kubeletExtraConfig is not supported for ${amiFamily} nodegroups (path=${at}.kubeletExtraConfig)`,
        'kubeletExtraConfig',
      )
    for (const field of Object.keys(kubeletExtraConfig))
      if (refusedByEksctl.has(field))
        refuse(
          `cannot override "${field}" in kubelet config, as it's critical to eksctl functionality`,
          field,
        )
    const source = { config: kubeletExtraConfig, source: 'eksctl' }
    if (list === 'nodeGroups') parts.push({ ...head, lines: lines('kubeletExtraConfig'), source })
  }
  const commands = Array.isArray(preBootstrapCommands) ? preBootstrapCommands : []
  for (const [at, command] of commands.entries())
    if (typeof command === 'string')
      takeUserData(
        reading,
        `#!/bin/bash\n${command}`,
        lines('preBootstrapCommands', at),
        target,
        'ClusterConfig',
      )
  if (typeof overrideBootstrapCommand === 'string')
    takeUserData(
      reading,
      overrideBootstrapCommand,
      lines('overrideBootstrapCommand'),
      target,
      'ClusterConfig',
    )
  const { kubernetes } = mapOf(mapOf(group.bottlerocket).settings)
  if (!isRawObject(kubernetes)) return
  const at = lines('bottlerocket', 'settings', 'kubernetes')
  refuseBottlerocket(reading, kubernetes, at)
  // YAML has numbers that JSON and TOML lack.
  const source = { ...bottlerocketPiece(JSON.parse(JSON.stringify(kubernetes))) }
  parts.push({ ...head, lines: at, source })
}
