/**
 * User data in templates of CloudFormation. What only a stack knows becomes an expression, whose value is not judged.
 * Source: AWS CloudFormation, AWS::EC2::LaunchTemplate LaunchTemplateData, Intrinsic function reference
 */
import { isRawObject, mapOf } from '#base/raw-object.ts'
import { type LocatedText, textOnLine, type YamlPlace } from '#base/yaml-place.ts'
import {
  type FileReading,
  fileProblem,
  hidesSettings,
  knownName,
  type Target,
  takeUserData,
  unnamed,
} from './user-data-parts.ts'
import { takeVolumes, volumeOf, volumesIn } from './volumes.ts'

/** Where the user data is, by type of resource. */
const userDataPaths = new Map([
  ['AWS::EC2::LaunchTemplate', ['LaunchTemplateData', 'UserData']],
  ['AWS::AutoScaling::LaunchConfiguration', ['UserData']],
])

/** Whether a document is a template of a stack. */
export const isStack = ({ Resources }: Readonly<Record<string, unknown>>) =>
  Object.values(mapOf(Resources)).some(resource => /^AWS::/.test(String(mapOf(resource).Type)))

export function takeStack(reading: FileReading, place: YamlPlace) {
  const resources = resourcesIn(place)
  const targets = targetsIn(resources)
  const found = resources.flatMap(({ name, type, properties }) => {
    const userData = properties.at(...(userDataPaths.get(type) ?? []))
    return !userDataPaths.has(type) || userData.value === undefined ? [] : [{ name, userData }]
  })
  const read = new Set(found.map(({ userData }) => userData.value))
  const { Resources, ...others } = mapOf(place.value)
  const unread = JSON.stringify([others, Object.values(mapOf(Resources))], (_, value) =>
    read.has(value) ? undefined : value,
  )
  const isElsewhere = mentionsSettings.test(unread)
  const whole = JSON.stringify(Resources)
  for (const resource of resources) takeStackVolumes(reading, resource, { targets, whole })
  reading.isWhole = !isElsewhere
  for (const { name, userData } of found) {
    const located = textOf(userData)
    // One word is a parameter's name, or packed.
    if (located && /\s/.test(located.text)) {
      takeUserData(reading, located, targets.get(name) ?? (found.length === 1 ? {} : unnamed))
      if (hidesSettings(located.text)) reading.isWhole = false
    } else {
      reading.isWhole = false
      const text = `The user data of ${name} is not judged: it is not written out. Give it as a file.`
      reading.problems.push(fileProblem('unread', userData.lineOf(), text))
    }
  }
}

interface Resource {
  name: string
  type: string
  properties: YamlPlace
}

const resourcesIn = (stack: YamlPlace): Resource[] =>
  Object.entries(mapOf(mapOf(stack.value).Resources)).map(([name, resource]) => ({
    name,
    type: String(mapOf(resource).Type),
    properties: stack.at('Resources', name, 'Properties'),
  }))

/** Sizes of volumes in launch templates, and of disks in nodegroups. */
function takeStackVolumes(
  reading: FileReading,
  { name, type, properties }: Resource,
  { targets, whole }: { targets: ReadonlyMap<string, Target>; whole: string },
) {
  const { DiskSize } = mapOf(properties.value)
  const isOfNodegroup = type === 'AWS::EKS::Nodegroup' && DiskSize !== undefined
  const volumes = isOfNodegroup
    ? [volumeOf(DiskSize, null, properties.lineOf('DiskSize'))]
    : volumesOfTemplate(type, properties)
  const target = isOfNodegroup ? groupOf(properties) : (targets.get(name) ?? unnamed)
  takeVolumes(reading, volumes, { target, userData: whole, line: properties.lineOf() })
}

const volumesOfTemplate = (type: unknown, properties: YamlPlace) =>
  type === 'AWS::EC2::LaunchTemplate'
    ? volumesIn(properties.at('LaunchTemplateData', 'BlockDeviceMappings'), {
        device: 'DeviceName',
        size: ['Ebs', 'VolumeSize'],
      })
    : []

/** Another stack, a macro, or a text outside user data may set something of a kubelet. */
const mentionsSettings =
  /user_?data|bootstrap|kubelet|nodeconfig|nodeadm|AWS::CloudFormation::|Custom::|Transform/i

/** The nodegroups that name a launch template, by the template's name. */
function targetsIn(resources: readonly Resource[]): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>()
  for (const { type, properties } of resources) {
    if (type !== 'AWS::EKS::Nodegroup') continue
    const { value: id } = properties.at('LaunchTemplate', 'Id')
    const target = groupOf(properties)
    if (target.group !== '') targets.set(String(mapOf(id).Ref ?? id), target)
  }
  return targets
}

/** What only the stack knows is no name. */
function groupOf(nodegroup: YamlPlace): Target {
  const [cluster = '', group = ''] = ['ClusterName', 'NodegroupName'].map(key => {
    const { value, tag } = nodegroup.at(key)
    return tag() === null ? knownName(value) : ''
  })
  return { cluster, group }
}

/** Null: no text is written out. @param tag `!Sub`; null: none, or it was applied */
function textOf(place: YamlPlace, tag: string | null = place.tag()): LocatedText | null {
  const { value } = place
  const [key = ''] = tag === null && isRawObject(value) ? Object.keys(value) : []
  const isLong = key.startsWith('Fn::')
  const argument = isLong ? place.at(key) : place
  switch (isLong ? key.slice(4) : tag?.slice(1)) {
    case 'Base64':
      return textOf(argument, isLong ? argument.tag() : null)
    case 'Sub':
      return (Array.isArray(argument.value) ? argument.at(0) : argument).textAt()
    case 'Join':
      return joined(argument)
    case undefined:
      return typeof value === 'string' ? place.textAt() : null
    default:
      return null
  }
}

function joined(list: YamlPlace): LocatedText | null {
  const [separator, items] = Array.isArray(list.value) ? list.value : []
  if (typeof separator !== 'string' || !Array.isArray(items)) return null
  const texts = items.map((_, index) => textOf(list.at(1, index))?.text ?? `\${value}`)
  return textOnLine(texts.join(separator), list.lineOf())
}
