/**
 * Where a node came from, as its labels and provider id tell.
 * Sources: EKS user guide, karpenter.sh well-known labels, nodeadm getProviderId
 */
import type { StringMap } from '#model/kubelet/configuration.ts'
import type { InstanceTypeName } from './instance-types.ts'
import type { KubeletVersion } from './minors.ts'
import type { Family, NodeProfile } from './profile.ts'
import { digits, instanceIdOf } from './random.ts'

const zone = 'us-east-1a'

type Placement = Pick<
  NodeProfile,
  'name' | 'family' | 'version' | 'instanceType' | 'zone' | 'ip' | 'providerId' | 'labels'
>

interface Place {
  family: Family
  version: KubeletVersion
  instanceType: InstanceTypeName
  ip: string
}

/** `10.0.1.5` → `ip-10-0-1-5.ec2.internal`, EC2's private DNS name. */
export const nodeNameOf = (ip: string) => `ip-${ip.replaceAll('.', '-')}.ec2.internal`

export const inNodegroup = (nodegroup: string, place: Place): Placement =>
  onEc2(place, {
    'eks.amazonaws.com/nodegroup': nodegroup,
    'eks.amazonaws.com/nodegroup-image': `ami-${digits(`${place.family}/${place.version}`).slice(0, 17)}`,
    'eks.amazonaws.com/capacityType': 'ON_DEMAND',
  })

export const selfManaged = (place: Place, name = nodeNameOf(place.ip)): Placement => ({
  ...onEc2(place, {}),
  name,
})

export const autoMode = (nodePool: string, place: Place): Placement => {
  const id = instanceIdOf(place.ip)
  return {
    ...onEc2(place, {
      'eks.amazonaws.com/compute-type': 'auto',
      'eks.amazonaws.com/nodeclass': 'default',
      'karpenter.sh/nodepool': nodePool,
      'karpenter.sh/capacity-type': 'on-demand',
    }),
    name: id,
    providerId: `aws:///${zone}/${id}`,
  }
}

/** A machine of one's own, which SSM has activated. */
export const onPremises = (cluster: string, place: Omit<Place, 'family'>): Placement => {
  const name = `m${instanceIdOf(place.ip)}`
  return {
    ...place,
    family: 'Hybrid',
    name,
    zone,
    providerId: `eks-hybrid:///${zone.slice(0, -1)}/${cluster}/${name}`,
    labels: {
      'eks.amazonaws.com/compute-type': 'hybrid',
      'eks.amazonaws.com/hybrid-credential-provider': 'ssm',
    },
  }
}

export const onFargate = (place: Place): Placement => {
  const name = `fargate-${nodeNameOf(place.ip)}`
  return {
    ...place,
    name,
    zone,
    providerId: `aws:///${zone}/${digits(name).slice(0, 10)}-${digits(name).slice(10, 42)}/${name}`,
    labels: { 'eks.amazonaws.com/compute-type': 'fargate' },
  }
}

const onEc2 = (place: Place, labels: StringMap): Placement => ({
  ...place,
  name: nodeNameOf(place.ip),
  zone,
  providerId: `aws:///${zone}/${instanceIdOf(place.ip)}`,
  labels,
})
