/**
 * containerd's files, and its lists as crictl prints them: the node's own images and pods.
 *
 * Sources  awslabs/amazon-eks-ami containerd-config.toml of both; k8s.io/cri-api runtime/v1; containerd internal/cri/server (images/image_list.go,
 *          images/imagefs_info.go, status.go)
 */

import type { RawObject } from '#base/raw-object.ts'
import {
  imageId,
  imagesBytes,
  imagesOf,
  isThere,
  namesOf,
  sandboxImageOf,
} from '#lab/nodes/images.ts'
import { nodeInfo } from '#lab/nodes/node-object.ts'
import { containerId, podStart, podUid } from '#lab/nodes/pod-object.ts'
import type { ContainerProfile, PodProfile } from '#lab/nodes/pod-profile.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import { digits } from '#lab/nodes/random.ts'
import { inodesOf } from '#lab/nodes/summary.ts'
import { runtimeFolder } from './filesystems.ts'
import type { MachinePart } from './machine.ts'

const snapshots = `${runtimeFolder}/io.containerd.snapshotter.v1.overlayfs`
const certificates = '/etc/containerd/certs.d:/etc/docker/certs.d'

export function containerdPart(profile: NodeProfile, at: string): MachinePart {
  const lists = {
    images: { images: criImages(profile) },
    containers: { containers: profile.pods.flatMap(pod => containersOf(pod, at)) },
    sandboxes: { items: profile.pods.filter(isThere).map(pod => sandboxOf(pod, at)) },
    imagefsinfo: {
      status: { imageFilesystems: [imageFilesystem(profile, at)], containerFilesystems: [] },
    },
    info: {
      status: {
        conditions: ['RuntimeReady', 'NetworkReady'].map(type => ({ type, status: true })),
      },
      config: infoConfig(profile),
    },
  }
  return {
    files: {
      '/etc/containerd/config.toml': hasVersion2(profile)
        ? tomlOfVersion2(profile)
        : tomlOfVersion3(profile),
    },
    folders: [snapshots, '/run/containerd'],
    answers: Object.fromEntries(
      Object.entries(lists).map(([name, list]) => [
        `crictl.${name}.json`,
        `${JSON.stringify(list, null, 2)}\n`,
      ]),
    ),
  }
}

const hasVersion2 = (profile: NodeProfile) =>
  nodeInfo(profile).containerRuntimeVersion.startsWith('containerd://1.')

const tomlOfVersion2 = (profile: NodeProfile) => `version = 2
root = "${runtimeFolder}"
state = "/run/containerd"
imports = ["/etc/containerd/config.d/*.toml"]

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${sandboxImageOf(profile)}"

[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"
discard_unpacked_layers = true
snapshotter = "overlayfs"

[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "${certificates}"
`

const tomlOfVersion3 = (profile: NodeProfile) => `version = 3
root = "${runtimeFolder}"
state = "/run/containerd"

[plugins.'io.containerd.cri.v1.images']
discard_unpacked_layers = true
snapshotter = "overlayfs"

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "${sandboxImageOf(profile)}"

[plugins.'io.containerd.cri.v1.images'.registry]
config_path = "${certificates}"
`

/** Since 2.0 what concerns images is another plugin's, and info does not show it. */
const infoConfig = (profile: NodeProfile): RawObject => ({
  containerd: {
    defaultRuntimeName: 'runc',
    runtimes: { runc: { runtimeType: 'io.containerd.runc.v2', options: { SystemdCgroup: true } } },
    ...(hasVersion2(profile) && { snapshotter: 'overlayfs', discardUnpackedLayers: true }),
  },
  ...(hasVersion2(profile) && {
    sandboxImage: sandboxImageOf(profile),
    registry: {
      configPath: certificates,
      mirrors: null,
      configs: null,
      auths: null,
      headers: null,
    },
  }),
  containerdEndpoint: '/run/containerd/containerd.sock',
})

function criImages(profile: NodeProfile): RawObject[] {
  return imagesOf(profile).map(image => ({
    id: imageId(image.name),
    repoTags: [image.name],
    repoDigests: [namesOf(image)[0]],
    size: String(image.sizeBytes),
    uid: null,
    username: '',
    spec: null,
    pinned: isSandboxImage(profile, image.name) && profile.disk?.isSandboxImageUnpinned !== true,
  }))
}

const isSandboxImage = (profile: NodeProfile, name: string) =>
  [name, name.replace(/:latest$/, '')].includes(sandboxImageOf(profile))

export const sandboxId = (pod: PodProfile) => digits(`sandbox/${podUid(pod)}`)
const nanoseconds = (time: string) => `${Date.parse(time)}000000`

const podLabels = (pod: PodProfile) => ({
  'io.kubernetes.pod.name': pod.name,
  'io.kubernetes.pod.namespace': pod.namespace,
  'io.kubernetes.pod.uid': podUid(pod),
})

function containersOf(pod: PodProfile, at: string): RawObject[] {
  if (!isThere(pod)) return []
  return pod.containers.map((container: ContainerProfile) => ({
    id: containerId(pod, container),
    podSandboxId: sandboxId(pod),
    metadata: { name: container.name, attempt: 0 },
    image: {
      image: imageId(container.image),
      annotations: {},
      userSpecifiedImage: container.image,
      runtimeHandler: '',
    },
    imageRef: imageId(container.image),
    imageId: imageId(container.image),
    state: pod.phase === 'Running' ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
    createdAt: nanoseconds(podStart(at)),
    labels: { 'io.kubernetes.container.name': container.name, ...podLabels(pod) },
    annotations: {
      'io.kubernetes.container.hash': digits(container.image).slice(0, 8),
      'io.kubernetes.container.restartCount': '0',
    },
  }))
}

const sandboxOf = (pod: PodProfile, at: string): RawObject => ({
  id: sandboxId(pod),
  metadata: { name: pod.name, uid: podUid(pod), namespace: pod.namespace, attempt: 0 },
  state: pod.phase === 'Running' ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
  createdAt: nanoseconds(podStart(at)),
  labels: { ...pod.labels, ...podLabels(pod) },
  annotations: { 'kubernetes.io/config.source': 'api', ...pod.annotations },
  runtimeHandler: '',
})

function imageFilesystem(profile: NodeProfile, at: string): RawObject {
  const usedBytes = imagesBytes(profile)
  return {
    timestamp: nanoseconds(at),
    fsId: { mountpoint: snapshots },
    usedBytes: { value: String(usedBytes) },
    inodesUsed: { value: String(inodesOf(usedBytes)) },
  }
}
