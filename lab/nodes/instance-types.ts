/**
 * EC2 instance types that the lab's nodes have. `maxPods` by secondary IPs: ENIs × (IPv4 per ENI − 1) + 2.
 * Source: awslabs/amazon-eks-ami eni-max-pods.txt
 */

export interface InstanceType {
  vcpus: number
  memoryMiB: number
  maxPods: number
  arch: 'amd64' | 'arm64'
}

export const instanceTypes = {
  't3.medium': { vcpus: 2, memoryMiB: 4096, maxPods: 17, arch: 'amd64' },
  'm5.large': { vcpus: 2, memoryMiB: 8192, maxPods: 29, arch: 'amd64' },
  'm5.xlarge': { vcpus: 4, memoryMiB: 16_384, maxPods: 58, arch: 'amd64' },
  'm6i.large': { vcpus: 2, memoryMiB: 8192, maxPods: 29, arch: 'amd64' },
  'm6i.2xlarge': { vcpus: 8, memoryMiB: 32_768, maxPods: 58, arch: 'amd64' },
  'm7g.xlarge': { vcpus: 4, memoryMiB: 16_384, maxPods: 58, arch: 'arm64' },
  'c6i.4xlarge': { vcpus: 16, memoryMiB: 32_768, maxPods: 234, arch: 'amd64' },
  'r6i.2xlarge': { vcpus: 8, memoryMiB: 65_536, maxPods: 58, arch: 'amd64' },
} as const satisfies Record<string, InstanceType>

export type InstanceTypeName = keyof typeof instanceTypes
