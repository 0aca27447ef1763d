/** One node of a fleet, as its record. */
import { readFileSync } from 'node:fs'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { takenAt } from '#test/node-builder.ts'
import { type Files, hostOf, refusedHost } from './host.ts'
import {
  type Image,
  imageConfiguration,
  instanceTypes,
  kubeletVersions,
  type SuiteFamily,
} from './image.ts'

export const cluster = 'prod'

/** One node, by what is special about it. */
export interface Member extends Partial<Image> {
  /** Fields that run otherwise than the image has them; undefined: not there. */
  running?: RawObject
  /** Absent: nobody read the node's disk; `refused`: it would not be read. */
  files?: Files | 'refused'
  /** A version of the launch template; absent: the one that the nodegroup names. */
  madeFrom?: number
  /** Of the node class as it was; as it is, it is `now`. */
  classHash?: string
  classHashVersion?: string
  /** Its kubelet did not answer. */
  isUnread?: boolean
}

const addressOf = (index: number, subnet: number) => `10.0.${subnet}.${10 + index}`
export const nodeName = (index: number, subnet = 1) =>
  `ip-${addressOf(index, subnet).replaceAll('.', '-')}.ec2.internal`

export const uidOf = (text: string) =>
  Buffer.from(text).toString('hex').padEnd(32, '0').slice(0, 32)

interface Release {
  /** As EKS names it. */
  version: string
  ami: string
  osImage: string
}

export function releaseOf({
  family,
  minor,
  release,
}: Pick<Image, 'family' | 'minor' | 'release'>): Release {
  const isOld = release === 'old'
  const patch = kubeletVersions[minor].slice(1).replace(/-.*/, '')
  const ami = `ami-0${Buffer.from(`${family}${minor}${release}`).toString('hex').padEnd(16, '0').slice(-16)}`
  if (family === 'Bottlerocket') {
    const version = isOld ? '1.50.0' : '1.51.0'
    return {
      version: `${version}-47438798`,
      ami,
      osImage: `Bottlerocket OS ${version} (aws-k8s-1.${minor})`,
    }
  }
  const osImages: Record<Exclude<SuiteFamily, 'Bottlerocket'>, string> = {
    AL2: 'Amazon Linux 2',
    AL2023: isOld ? 'Amazon Linux 2023.8.20250915' : 'Amazon Linux 2023.9.20251117',
    'Auto Mode': `Bottlerocket (EKS Auto, Standard) ${isOld ? '2026.10.2' : '2026.11.4'} (aws-k8s-1.${minor}-standard)`,
    Hybrid: 'Ubuntu 22.04.5 LTS',
  }
  return { version: `${patch}-${isOld ? '20250915' : '20251120'}`, ami, osImage: osImages[family] }
}

const summary: unknown = JSON.parse(
  readFileSync(
    new URL('../../fixtures/real/single-disk-stats-summary.json', import.meta.url),
    'utf8',
  ),
)
const calm = isRawObject(summary) && isRawObject(summary.node) ? summary.node : {}

interface Marks {
  labels: Record<string, string>
  annotations?: Record<string, string>
}

export function nodeRecord(
  image: Image,
  { running, files, isUnread }: Member,
  index: number,
  subnet: number,
  marks: Marks,
): NodeRecord {
  const { instanceType, minor, family } = image
  const { cores, memoryMiB } = instanceTypes[instanceType]
  const name = nodeName(index, subnet)
  const ip = addressOf(index, subnet)
  const instanceId = `i-0${subnet}${String(index).padStart(15, '0')}`
  const providerId =
    family === 'Hybrid'
      ? `eks-hybrid:///us-east-1/${cluster}/${name}`
      : `aws:///us-east-1a/${instanceId}`
  const fields = Object.entries({ ...imageConfiguration(image, providerId), ...running }).filter(
    ([, value]) => value !== undefined,
  )
  const configuration: RawObject = Object.fromEntries(fields)
  const resources = {
    cpu: String(cores),
    memory: `${memoryMiB - 286}Mi`,
    pods: String(configuration.maxPods),
    'ephemeral-storage': '41202668Ki',
  }
  return {
    kind: 'Node',
    cluster,
    at: takenAt,
    node: {
      metadata: {
        name,
        uid: uidOf(name),
        creationTimestamp: '2026-11-12T06:00:41Z',
        labels: {
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/hostname': name,
          'kubernetes.io/os': 'linux',
          ...(family !== 'Hybrid' && {
            'node.kubernetes.io/instance-type': instanceType,
            'topology.kubernetes.io/zone': 'us-east-1a',
          }),
          ...marks.labels,
        },
        ...(marks.annotations && { annotations: marks.annotations }),
      },
      spec: { providerID: providerId },
      status: {
        capacity: resources,
        allocatable: {
          ...resources,
          cpu: `${cores * 1000 - 80}m`,
          memory: `${memoryMiB - 1200}Mi`,
        },
        conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map(type => ({
          type,
          status: type === 'Ready' ? 'True' : 'False',
          lastHeartbeatTime: '2026-11-20T23:59:51Z',
          lastTransitionTime: '2026-11-12T06:01:30Z',
        })),
        nodeInfo: {
          kubeletVersion: kubeletVersions[minor],
          osImage: releaseOf(image).osImage,
          kernelVersion: family === 'AL2' ? '5.10.245-241.976.amzn2.x86_64' : '6.12.55',
          containerRuntimeVersion: family === 'AL2' ? 'containerd://1.7.29' : 'containerd://2.1.5',
          operatingSystem: 'linux',
        },
      },
    },
    configz: isUnread ? null : { kubeletconfig: configuration },
    summary: isUnread ? null : { node: { ...calm, nodeName: name }, pods: [] },
    pods: [],
    ...(files && {
      host: files === 'refused' ? refusedHost : hostOf({ image, name, ip, providerId }, files),
    }),
    errors: isUnread ? [{ what: 'configz', message: 'timed out after 5 s' }] : [],
  }
}
