/**
 * Nodegroups and launch templates as objects of Kubernetes, for Crossplane and ACK.
 *
 * Source  crossplane-contrib/provider-upjet-aws apis/eks, apis/ec2; provider-aws apis/ec2/manualv1alpha1; aws-controllers-k8s eks-controller and
 *         ec2-controller apis/v1alpha1
 */
import { isRawObject, mapOf } from '#base/raw-object.ts'
import type { YamlPlace } from '#base/yaml-place.ts'
import { type FileReading, knownName, takeUserData, unnamed } from './user-data-parts.ts'
import { takeVolumes, volumeOf, volumesIn } from './volumes.ts'

/** The first of the paths that has a map. */
const mapAt = (place: YamlPlace, ...paths: string[][]) =>
  paths.map(path => place.at(...path)).find(({ value }) => isRawObject(value)) ?? place

/** ACK names the nodegroup in its spec, Crossplane by an annotation or by the object. */
export function takeNodegroup(reading: FileReading, place: YamlPlace) {
  const group = mapAt(place, ['spec', 'forProvider'], ['spec'])
  const { diskSize, clusterName, name } = mapOf(group.value)
  if (diskSize === undefined || diskSize === null) return
  const { annotations, name: own } = mapOf(mapOf(place.value).metadata)
  const given = name ?? mapOf(annotations)['crossplane.io/external-name'] ?? own
  const target = { cluster: knownName(clusterName), group: knownName(given) }
  const line = group.lineOf('diskSize')
  takeVolumes(reading, [volumeOf(diskSize, null, line)], { target, userData: '', line })
}

/** Which nodegroup has it stands in another object. */
export function takeLaunchTemplate(reading: FileReading, place: YamlPlace) {
  const data = mapAt(
    place,
    ...[
      ['spec', 'forProvider', 'launchTemplateData'],
      ['spec', 'data'],
      ['spec', 'forProvider'],
    ],
  )
  const userData = data.textAt('userData')
  if (userData.text !== '') takeUserData(reading, userData)
  const mappings = data.at('blockDeviceMappings')
  const sizesAt = (...size: (string | number)[]) =>
    volumesIn(mappings, { device: 'deviceName', size })
  const volumes = [...sizesAt('ebs', 'volumeSize'), ...sizesAt('ebs', 0, 'volumeSize')]
  const script = Buffer.from(userData.text, 'base64').toString()
  takeVolumes(reading, volumes, { target: unnamed, userData: script, line: data.lineOf() })
}
