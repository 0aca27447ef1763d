/**
 * A plan of Terraform: the output of `terraform show -json PLAN`. Everything stands on one line.
 * Source: Terraform, JSON Output Format, Values representation; provider aws, aws_launch_template, aws_eks_node_group
 */
import { ForeignTextError } from '#base/foreign-text.ts'
import { inputLimits } from '#base/limits.ts'
import {
  isRawObject,
  itemsOf,
  jsonFlaw,
  mapOf,
  parsedJson,
  type RawObject,
} from '#base/raw-object.ts'
import { type LocatedText, openYaml, textOnLine } from '#base/yaml-place.ts'
import { takeDocument } from './documents.ts'
import {
  type FileReading,
  fileProblem,
  knownName,
  mention,
  type Target,
  takeUserData,
  unnamed,
} from './user-data-parts.ts'
import { takeVolumes, volumeOf } from './volumes.ts'

/** As Terraform prints it, or with its keys sorted. */
const firstKey =
  /^\s*\{\s*"(?:action_invocations|applyable|checks|complete|configuration|errored|format_version|planned_values)"\s*:/

export const isPlanText = (text: string) =>
  firstKey.test(text) && /"(?:format_version|root_module)"\s*:/.test(text)

interface Resource {
  type: string
  address: string
  values: RawObject
}

/** @throws ForeignTextError */
export function takePlan(reading: FileReading, { text }: LocatedText) {
  const plan = mapOf(parsePlanJson(text))
  const { root_module: root } = mapOf(plan.planned_values)
  if (!isRawObject(root)) {
    if (ofNodes.test(text))
      throw new ForeignTextError(
        'it has no planned values: give what `terraform show -json PLAN` prints',
      )
    return
  }
  const resources = resourcesIn(root)
  const groups = groupsIn(resources)
  const unknown = unknownUserData(plan.resource_changes)
  reading.isWhole = true
  for (const { type, address, values } of resources) {
    if (type === 'aws_launch_template') {
      const target = targetOf(values, address, groups)
      const { user_data: userData } = values
      if (typeof userData === 'string' && userData !== '')
        takeUserData(reading, textOnLine(userData, 1), target)
      const script = Buffer.from(String(userData ?? ''), 'base64').toString()
      const volumes = volumesOf(values.block_device_mappings)
      takeVolumes(reading, volumes, { target, userData: script, line: 1 })
    }
    if (type === 'aws_eks_node_group' && typeof values.disk_size === 'number') {
      const target = groupOf(values)
      takeVolumes(reading, [volumeOf(values.disk_size, null, 1)], { target, userData: '', line: 1 })
    }
    if (type === 'kubernetes_manifest' && isRawObject(values.manifest))
      takeManifest(reading, JSON.stringify(values.manifest))
    if (type === 'kubectl_manifest' && typeof values.yaml_body === 'string')
      takeManifest(reading, values.yaml_body)
  }
  for (const address of unknown) {
    const said = `The user data of ${address} is not judged: it is known after apply.`
    reading.problems.push(fileProblem('unread', 1, said))
  }
}

const ofNodes = /"(?:aws_launch_template|aws_eks_node_group|kubernetes_manifest|kubectl_manifest)"/

/** @throws ForeignTextError */
function parsePlanJson(text: string): unknown {
  const limit = inputLimits.terraformPlan
  const plan = parsedJson(text, limit)
  if (plan === undefined)
    throw new ForeignTextError(jsonFlaw(Buffer.from(text), limit) ?? 'it is no JSON')
  return plan
}

/** The depth of a plan is bounded. */
function resourcesIn({ resources, child_modules: children }: RawObject): Resource[] {
  const own = itemsOf(resources).flatMap((resource): Resource[] => {
    const { type, address, values, mode } = mapOf(resource)
    const isManaged = mode === undefined || mode === 'managed'
    return isManaged
      ? [{ type: String(type), address: String(address), values: mapOf(values) }]
      : []
  })
  return [...own, ...itemsOf(children).flatMap(child => resourcesIn(mapOf(child)))]
}

const unknownUserData = (changes: unknown) =>
  itemsOf(changes).flatMap(resource => {
    const { type, address, change } = mapOf(resource)
    const { user_data: userData } = mapOf(mapOf(change).after_unknown)
    return type === 'aws_launch_template' && userData === true ? [String(address)] : []
  })

/** What is known only after apply is no name. */
const groupOf = ({
  node_group_name: name,
  node_group_name_prefix: prefix,
  cluster_name: cluster,
}: RawObject): Target => ({ cluster: knownName(cluster), group: knownName(name ?? prefix) })

const moduleOf = (address: string) => address.split('.').slice(0, -2).join('.')

interface Groups {
  ofTemplate: ReadonlyMap<unknown, Resource[]>
  ofModule: ReadonlyMap<string, Resource[]>
}

function groupsIn(resources: readonly Resource[]): Groups {
  const groups = resources.filter(({ type }) => type === 'aws_eks_node_group')
  const templateOf = ({ values: { launch_template: list } }: Resource) =>
    mapOf(itemsOf(list)[0]).name
  return {
    ofTemplate: Map.groupBy(groups, templateOf),
    ofModule: Map.groupBy(groups, ({ address }) => moduleOf(address)),
  }
}

/** The nodegroup that names the template, or the only one of its module. */
function targetOf({ name }: RawObject, address: string, groups: Groups): Target {
  const naming = typeof name === 'string' ? groups.ofTemplate.get(name) : undefined
  const [only, ...others] = naming ?? groups.ofModule.get(moduleOf(address))?.slice(0, 2) ?? []
  return only && others.length === 0 ? groupOf(only.values) : unnamed
}

const volumesOf = (mappings: unknown) =>
  itemsOf(mappings).flatMap(mapping => {
    const { device_name: device, ebs } = mapOf(mapping)
    const { volume_size: size } = mapOf(Array.isArray(ebs) ? ebs[0] : ebs)
    return typeof size === 'number' ? [volumeOf(size, String(device), 1)] : []
  })

/** Manifests of other kinds, such as large ConfigMaps, cost nothing. */
function takeManifest(reading: FileReading, text: string) {
  if (!mention.test(text) && !text.includes('karpenter')) return
  takeDocument(reading, openYaml(textOnLine(text, 1), reading.budget))
}
