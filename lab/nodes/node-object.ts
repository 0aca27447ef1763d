/** `v1.Node` of a profile: labels, conditions, what it has and what pods may use, its images. */
import type { KubernetesNode } from '#model/input/record.ts'
import { configurationOf } from './configz.ts'
import { imagesOf, namesOf } from './images.ts'
import { instanceTypes } from './instance-types.ts'
import type { NodeProfile } from './profile.ts'
import { digits, randomOf, uidOf } from './random.ts'
import { allocatableOf, capacityOf } from './resources.ts'
import { restartTimes } from './restart-times.ts'

/** The lab's nodes are 2 to 41 days old; a silent one has been so for 40 minutes. */
export const ageMsOf = ({ name }: Pick<NodeProfile, 'name'>): number =>
  Math.round((2 + 40 * randomOf(`age/${name}`)()) * 86_400) * 1000
const silentMs = 40 * 60_000
const transitionMinutes = 3

export function nodeObject(profile: NodeProfile, at: string): KubernetesNode {
  const { arch } = instanceTypes[profile.instanceType]
  const system = profile.family === 'Windows' ? 'windows' : 'linux'
  return {
    metadata: {
      name: profile.name,
      uid: uidOf(`node/${profile.name}`),
      resourceVersion: String(200_000 + parseInt(digits(profile.name).slice(0, 5), 16)),
      creationTimestamp: before(at, ageMsOf(profile)),
      labels: {
        'beta.kubernetes.io/arch': arch,
        'beta.kubernetes.io/os': system,
        'kubernetes.io/arch': arch,
        'kubernetes.io/hostname': profile.name,
        'kubernetes.io/os': system,
        // A machine of one's own is of no instance type.
        ...(profile.family !== 'Hybrid' && {
          'node.kubernetes.io/instance-type': profile.instanceType,
          'topology.kubernetes.io/region': profile.zone.slice(0, -1),
          'topology.kubernetes.io/zone': profile.zone,
        }),
        ...profile.labels,
      },
      annotations: {
        'node.alpha.kubernetes.io/ttl': '0',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: {
      ...(profile.providerId && { providerID: profile.providerId }),
      ...(taintsOf(profile).length > 0 && { taints: taintsOf(profile) }),
    },
    status: {
      capacity: capacityOf(profile),
      allocatable: allocatableOf(profile),
      conditions: conditionsOf(profile, at),
      addresses: [
        { type: 'InternalIP', address: profile.ip },
        { type: 'Hostname', address: profile.name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      nodeInfo: { ...nodeInfo(profile), operatingSystem: system, architecture: arch },
      images: namedImagesOf(profile),
    },
  }
}

function conditionsOf(
  profile: NodeProfile,
  at: string,
): NonNullable<NonNullable<KubernetesNode['status']>['conditions']> {
  const kinds: [
    type: string,
    on: boolean,
    reasonOn: string,
    reasonOff: string,
    messageOn: string,
    messageOff: string,
  ][] = [
    [
      'MemoryPressure',
      false,
      'KubeletHasInsufficientMemory',
      'KubeletHasSufficientMemory',
      'kubelet has insufficient memory available',
      'kubelet has sufficient memory available',
    ],
    [
      'DiskPressure',
      profile.diskPressure === true,
      'KubeletHasDiskPressure',
      'KubeletHasNoDiskPressure',
      'kubelet has disk pressure',
      'kubelet has no disk pressure',
    ],
    [
      'PIDPressure',
      false,
      'KubeletHasInsufficientPID',
      'KubeletHasSufficientPID',
      'kubelet has insufficient PID available',
      'kubelet has sufficient PID available',
    ],
    [
      'Ready',
      isReady(profile),
      'KubeletReady',
      'KubeletNotReady',
      'kubelet is posting ready status',
      '[container runtime status check may not have completed yet]',
    ],
  ]
  return kinds.map(([type, on, reasonOn, reasonOff, messageOn, messageOff]) => ({
    type,
    lastHeartbeatTime: heartbeatOf(profile, at),
    lastTransitionTime: transitionOf(profile, type, on, at),
    // Upstream: pkg/controller/nodelifecycle: a kubelet that stopped posting leaves every condition Unknown.
    ...(profile.silent
      ? {
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
        }
      : {
          status: on ? 'True' : 'False',
          reason: on ? reasonOn : reasonOff,
          message: on ? messageOn : messageOff,
        }),
  }))
}

function isReady({ started }: NodeProfile): boolean {
  return (
    !started ||
    started.start.downSinceMs !== null ||
    started.nowMs - started.start.atMs >= restartTimes.readyMs
  )
}

const silentSinceMs = ({ silentHours }: NodeProfile): number =>
  silentHours === undefined ? silentMs : silentHours * 3_600_000

/** What the kubelet itself has told, and so by its clock. */
function heartbeatOf(profile: NodeProfile, at: string): string {
  const { silent, started, changeFault } = profile
  if (started) return time(started.start.downSinceMs ?? started.nowMs)
  return before(
    at,
    (silent ? silentSinceMs(profile) + 40_000 : 12_000) -
      (changeFault?.kind === 'clock-skew' ? changeFault.byMs : 0),
  )
}

function transitionOf(profile: NodeProfile, type: string, on: boolean, at: string): string {
  const { silent, started, diskPressureMinutes = transitionMinutes } = profile
  if (silent)
    return started?.start.downSinceMs
      ? time(started.start.downSinceMs + restartTimes.unheardMs)
      : before(at, silentSinceMs(profile))
  if (started && type === 'Ready' && started.start.downSinceMs === null)
    return time(started.start.atMs + (on ? restartTimes.readyMs : 0))
  return before(at, type === 'DiskPressure' && on ? diskPressureMinutes * 60_000 : ageMsOf(profile))
}

function taintsOf({
  silent,
  diskPressure,
  family,
}: NodeProfile): NonNullable<NonNullable<KubernetesNode['spec']>['taints']> {
  return [
    ...(silent
      ? ['NoSchedule', 'NoExecute'].map(effect => ({
          key: 'node.kubernetes.io/unreachable',
          effect,
        }))
      : []),
    ...(diskPressure ? [{ key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' }] : []),
    ...(family === 'Fargate'
      ? [{ key: 'eks.amazonaws.com/compute-type', value: 'fargate', effect: 'NoSchedule' }]
      : []),
  ]
}

export function nodeInfo(profile: NodeProfile) {
  const [osImage, kernelVersion, runtime] = {
    AL2: ['Amazon Linux 2', '5.10.245-241.976.amzn2.x86_64', '1.7.29'],
    AL2023: ['Amazon Linux 2023.9.20261103', '6.12.55-74.119.amzn2023.x86_64', '2.1.5'],
    Bottlerocket: ['Bottlerocket OS 1.51.0 (aws-k8s)', '6.12.55', '2.1.5+bottlerocket'],
    'Auto Mode': [
      'Bottlerocket (EKS Auto, Standard) 2026.11.4 (aws-k8s-standard)',
      '6.12.55',
      '2.1.5+bottlerocket',
    ],
    Ubuntu: ['Ubuntu 22.04.5 LTS', '5.15.0-160-generic', '1.7.28'],
    Hybrid: ['Ubuntu 24.04.3 LTS', '6.8.0-87-generic', '1.7.28'],
    Windows: ['Windows Server 2022 Datacenter', '10.0.20348.4297', '1.7.28'],
    Fargate: ['Amazon Linux 2', '5.10.245-241.976.amzn2.x86_64', '1.7.29'],
  }[profile.family]
  const machine = digits(profile.name)
  const suffix = profile.family === 'Ubuntu' ? '' : '-eks-113cf36'
  return {
    machineID: machine.slice(0, 32),
    systemUUID: uidOf(`system/${profile.name}`),
    bootID: uidOf(`boot/${profile.name}`),
    kernelVersion: profile.kernel ?? kernelVersion!,
    osImage: profile.osImage ?? osImage!,
    containerRuntimeVersion: `containerd://${runtime}`,
    kubeletVersion: `v${profile.version}${suffix}`,
    kubeProxyVersion: '',
  }
}

/** Upstream: pkg/kubelet/nodestatus/setters.go Images; -1 is no limit. */
function namedImagesOf(profile: NodeProfile) {
  const most = Number(configurationOf(profile).nodeStatusMaxImages)
  return imagesOf(profile)
    .slice(0, most < 0 ? undefined : most)
    .map(image => ({ names: namesOf(image), sizeBytes: image.sizeBytes }))
}

const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`
const before = (at: string, ms: number) => time(Date.parse(at) - ms)
