/**
 * A plan of Terraform: the output of `terraform show -json PLAN`. Everything stands on one line.
 * Source: Terraform, JSON Output Format, Values representation; provider aws, aws_launch_template, aws_eks_node_group
 */
import { ForeignTextError } from '#base/foreign-text.ts'
import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import { type LocatedText, openYaml, textOnLine } from '#base/yaml-place.ts'
import { type DeclaredVolume, type FileReading, type Target, unnamed } from './changed-part.ts'
import { takeDocument } from './documents.ts'
import { takeUserData } from './user-data-parts.ts'
import { mountsDisks, volumeOf, withVolumes } from './volumes.ts'

export const isPlanText = (text: string): boolean => /^\s*\{\s*"format_version"\s*:/.test(text)

interface Resource {
  type: string
  address: string
  values: RawObject
}

/** @throws ForeignTextError */
export function takePlan(reading: FileReading, { text }: LocatedText): void {
  const plan = mapOf(parsed(text))
  const resources = resourcesIn(mapOf(mapOf(plan.planned_values).root_module))
  const unknown = unknownUserData(plan.resource_changes)
  reading.isWhole = true
  for (const { type, address, values } of resources) {
    const target = targetOf(values, address, resources)
    if (type === 'aws_launch_template') {
      const { user_data: userData } = values
      if (typeof userData === 'string' && userData !== '')
        takeUserData(reading, textOnLine(userData, 1), target)
      takeVolumes(reading, volumesOf(values.block_device_mappings), target, userData)
    }
    if (type === 'aws_eks_node_group' && typeof values.disk_size === 'number')
      takeVolumes(reading, [volumeOf(values.disk_size, null, 1)], groupOf(values), null)
    if (type === 'kubernetes_manifest' && isRawObject(values.manifest))
      takeManifest(reading, JSON.stringify(values.manifest))
    if (type === 'kubectl_manifest' && typeof values.yaml_body === 'string')
      takeManifest(reading, values.yaml_body)
  }
  for (const address of unknown) {
    const said = `The user data of ${address} is not judged: it is known after apply.`
    reading.problems.push({ kind: 'unread', line: 1, field: null, text: said })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ForeignTextError('it is no JSON')
  }
}

const deepestModule = 20

function resourcesIn(module: RawObject, depth = 0): Resource[] {
  const { resources, child_modules: children } = module
  const own = (Array.isArray(resources) ? resources : []).flatMap((resource): Resource[] => {
    const { type, address, values, mode } = mapOf(resource)
    const isManaged = mode === undefined || mode === 'managed'
    return isManaged
      ? [{ type: String(type), address: String(address), values: mapOf(values) }]
      : []
  })
  const modules = depth < deepestModule && Array.isArray(children) ? children : []
  return [...own, ...modules.flatMap(child => resourcesIn(mapOf(child), depth + 1))]
}

const unknownUserData = (changes: unknown) =>
  (Array.isArray(changes) ? changes : []).flatMap(resource => {
    const { type, address, change } = mapOf(resource)
    const { user_data: userData } = mapOf(mapOf(change).after_unknown)
    return type === 'aws_launch_template' && userData === true ? [String(address)] : []
  })

const groupOf = ({ node_group_name: name, node_group_name_prefix: prefix }: RawObject): Target => {
  const text = typeof name === 'string' ? name : prefix
  return typeof text === 'string' ? { group: text } : unnamed
}

const moduleOf = (address: string) => address.split('.').slice(0, -2).join('.')

/** The nodegroup that names the template, or the only one of its module. */
function targetOf({ name }: RawObject, address: string, resources: readonly Resource[]): Target {
  const groups = resources.filter(({ type }) => type === 'aws_eks_node_group')
  const naming = groups.filter(({ values: { launch_template: list } }) =>
    (Array.isArray(list) ? list : []).some(
      one => typeof name === 'string' && mapOf(one).name === name,
    ),
  )
  const beside = groups.filter(group => moduleOf(group.address) === moduleOf(address))
  const [only, ...others] = naming.length > 0 ? naming : beside
  return only !== undefined && others.length === 0 ? groupOf(only.values) : unnamed
}

const volumesOf = (mappings: unknown): DeclaredVolume[] =>
  (Array.isArray(mappings) ? mappings : []).flatMap(mapping => {
    const { device_name: device, ebs } = mapOf(mapping)
    const { volume_size: size } = mapOf(Array.isArray(ebs) ? ebs[0] : ebs)
    return typeof size === 'number' ? [volumeOf(size, String(device), 1)] : []
  })

function takeVolumes(
  reading: FileReading,
  volumes: DeclaredVolume[],
  target: Target,
  userData: unknown,
) {
  if (volumes.length === 0) return
  const script = Buffer.from(String(userData ?? ''), 'base64').toString()
  reading.parts.push({
    ...{ kind: 'LaunchTemplate', file: reading.file, target, volumes, refusals: [] },
    ...{ mountsDisks: mountsDisks(script), source: { source: '' } },
    lineOf: withVolumes(() => 1, volumes),
  })
}

function takeManifest(reading: FileReading, text: string) {
  takeDocument(reading, openYaml(textOnLine(text, 1), reading.budget))
}
