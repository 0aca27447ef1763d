/** A durable fix read as the place would that it is written for. */
import { parse } from 'yaml'
import { formatDuration } from '#base/go/duration.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { readUserData } from '#clients/user-data.ts'
import { flagOfField, flagSettings } from '#facts/kubelet/flag-settings.ts'

export const isComment = (snippet: string) =>
  snippet.split('\n').every(line => line === '' || line.startsWith('#'))

/** What the kubelet would be told, whatever the form. */
export function readBack(snippet: string): RawObject {
  if (
    /^(MIME-Version|#!|<powershell>)/m.test(snippet) &&
    !/^ /.test(snippet.split(/^spec:|Groups:/m)[1] ?? '')
  )
    return ofUserData(snippet)
  if (/^\[settings/m.test(snippet)) return ofUserData(snippet)
  const document: unknown = parse(snippet)
  if (!isRawObject(document)) throw new Error('no document')
  if (document.kind === 'NodeConfig') return ofUserData(snippet)
  if (document.kind === 'EC2NodeClass') return ofNodeClass(document.spec)
  if (document.kind === 'InstanceGroup') return ofInstanceGroup(document.spec)
  return ofNodegroup(document)
}

function ofUserData(text: string): RawObject {
  const { settings, unread } = readUserData(text)
  const { fields, error } = flagSettings(settings.flatMap(({ flags }) => flags))
  if (unread.length > 0 || error !== null)
    throw new Error(`not readable: ${[...unread, error].join('; ')}`)
  const { kind: _kind, ...config } = Object.assign({}, ...settings.map(found => found.config))
  return {
    ...config,
    ...Object.fromEntries(
      [...fields].map(([field, value]) => [
        field,
        typeof value === 'bigint' ? formatDuration(value) : value,
      ]),
    ),
  }
}

function ofNodeClass(spec: unknown): RawObject {
  if (!isRawObject(spec)) throw new Error('no spec')
  return {
    ...(isRawObject(spec.kubelet) ? spec.kubelet : {}),
    ...(typeof spec.userData === 'string' ? ofUserData(spec.userData) : {}),
  }
}

/** kops passes each text of an eviction setting on as the flag. */
function ofInstanceGroup(spec: unknown): RawObject {
  if (!isRawObject(spec) || !isRawObject(spec.kubelet)) throw new Error('no spec.kubelet')
  const entries = Object.entries(spec.kubelet).map(([field, value]) => {
    const flag = flagOfField.get(field)
    if (typeof value !== 'string' || !value.includes('.available') || !flag) return [field, value]
    return [field, flagSettings([`--${flag}=${value}`]).fields.get(field)]
  })
  return Object.fromEntries(entries)
}

function ofNodegroup({ nodeGroups, managedNodeGroups }: RawObject): RawObject {
  const [groups] = [nodeGroups, managedNodeGroups].filter(Array.isArray)
  const [group]: unknown[] = groups ?? []
  if (!isRawObject(group)) throw new Error('no nodegroup')
  const { kubeletExtraConfig, bottlerocket, overrideBootstrapCommand, preBootstrapCommands } = group
  if (isRawObject(kubeletExtraConfig)) return kubeletExtraConfig
  if (typeof overrideBootstrapCommand === 'string') return ofUserData(overrideBootstrapCommand)
  if (Array.isArray(preBootstrapCommands)) return ofUserData(String(preBootstrapCommands[0]))
  const settings =
    isRawObject(bottlerocket) && isRawObject(bottlerocket.settings)
      ? bottlerocket.settings.kubernetes
      : null
  if (!isRawObject(settings)) throw new Error('no settings')
  // eksctl writes them as TOML: each map a table, the rest before them.
  return ofUserData(
    `[settings.kubernetes]\n${Object.entries(settings)
      .map(([key, value]) => `${key} = ${inline(value)}\n`)
      .join('')}`,
  )
}

const inline = (value: unknown): string =>
  isRawObject(value)
    ? `{ ${Object.entries(value)
        .map(([key, entry]) => `${JSON.stringify(key)} = ${JSON.stringify(entry)}`)
        .join(', ')} }`
    : JSON.stringify(value)
