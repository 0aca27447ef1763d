/** Images that pressure deleted and that no pull brings back, and volumes that cannot be attached or mounted. */
import type { Incident } from '../incident.ts'
import { imageGc, images, nodeOf, users } from '../short-forms.ts'
import type { NodeWorld, Workload } from '../world.ts'

/** The kubelet reclaimed the disk so long ago, and the pressure is over. */
const pressedAgo = (minutes: number): NodeWorld['events'] => [
  {
    ...{ type: 'Warning', reason: 'EvictionThresholdMet', count: 6 },
    message: 'Attempting to reclaim ephemeral-storage',
    ...{ firstMinutesAgo: minutes + 5, lastMinutesAgo: minutes },
  },
  {
    ...{ type: 'Normal', reason: 'NodeHasDiskPressure', firstMinutesAgo: minutes },
    message: 'Node status is now: NodeHasDiskPressure',
  },
]

const failing = (
  reason: 'FailedAttachVolume' | 'FailedMount',
  message: string,
  count: number,
): NonNullable<Workload['events']>[0] => ({
  ...{ type: 'Warning', reason, count, message },
  ...{ firstMinutesAgo: 40, lastMinutesAgo: 1 },
  ...(reason === 'FailedAttachVolume' && { component: 'attachdetach-controller' }),
})

const roomy: Pick<NodeWorld, 'mode' | 'disk' | 'held'> = {
  ...{ mode: 'proxy', disk: { gib: 80, usedGib: 24 } },
  held: { images: images(3, 0.8, 2.4) },
}

/** Of a volume, no disk of the node is the cause. */
const noDisk = [imageGc, /larger (?:disk|volume)|volumeSize/, /drain/]

const ofVolume = (more: Partial<Workload>): Workload => ({
  ...{ namespace: 'db', owner: 'StatefulSet db', claim: 'data-db-0', waiting: 'ContainerCreating' },
  ...more,
})

export const lostIncidents: readonly Incident[] = [
  {
    name: 'air-gapped-images-lost-under-pressure',
    thread: 'https://github.com/k3s-io/k3s/issues/10209',
    found:
      'Air-gapped images are deleted when DiskPressure evicts the pods that use them, and no registry is in reach. They have to be imported again, and pinned.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 60, usedGib: 31 } },
      workloads: [
        ...users(3),
        {
          ...{ namespace: 'media', owner: 'Deployment transcoder', waiting: 'ImagePullBackOff' },
          image: 'docker.io/acme/transcoder:4.2',
          message:
            'Back-off pulling image "docker.io/acme/transcoder:4.2": ErrImagePull: failed to do request: Head "https://registry-1.docker.io/v2/acme/transcoder/manifests/4.2": dial tcp: lookup registry-1.docker.io: no such host',
        },
      ],
      held: { images: images(3, 1.2, 3.4) },
      events: pressedAgo(42),
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [
      /DiskPressure\s+\(2026-11-21\s+05:18\s+UTC\)/,
      /import\s+docker\.io\/acme\/transcoder:4\.2/,
      /pin/,
    ],
    never: noDisk,
  },
  {
    name: 'local-image-lost-to-a-failed-round',
    thread: 'https://github.com/wso2/labs-agentic-engineer/issues/471',
    found:
      'Images that a set-up script imports exist in no registry. The filesystem fills up, image GC deletes thunder-app-operator:local (pullPolicy Never), and its pod cannot start until the script imports it again.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 60, usedGib: 44 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'aep', owner: 'Deployment thunder-app-operator' },
          ...{ image: 'thunder-app-operator:local', waiting: 'ErrImageNeverPull' },
          message:
            'Container image "thunder-app-operator:local" is not present with pull policy of Never',
        },
      ],
      held: { images: images(8, 1, 3) },
      events: [
        {
          ...{ type: 'Warning', reason: 'FreeDiskSpaceFailed', count: 4 },
          message:
            'Failed to garbage collect required amount of images. Attempted to free 6394617549 bytes, but only found 1073741824 bytes eligible to free.',
          ...{ firstMinutesAgo: 50, lastMinutesAgo: 30 },
        },
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set'],
    words: [
      /Likely\s+image\s+GC\s+deleted\s+it/,
      /2026-11-21\s+05:30\s+UTC/,
      /import\s+thunder-app-operator:local\s+on\s+the\s+node\s+again/,
    ],
    never: noDisk,
  },
  {
    name: 'local-image-that-docker-hub-does-not-have',
    thread: 'https://github.com/wso2/labs-agentic-engineer/issues/471',
    found:
      'aep-runner:dev was imported, and image GC deleted it. Docker Hub answers "pull access denied, repository does not exist": a login would not help, another import does.',
    world: nodeOf({
      ...{ mode: 'proxy', disk: { gib: 60, usedGib: 40 } },
      workloads: [
        ...users(4),
        {
          ...{ namespace: 'aep', owner: 'Job runner-7', waiting: 'ImagePullBackOff' },
          image: 'aep-runner:dev',
          message:
            'Back-off pulling image "aep-runner:dev": ErrImagePull: failed to pull and unpack image "docker.io/library/aep-runner:dev": failed to resolve reference "docker.io/library/aep-runner:dev": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
        },
      ],
      held: { images: images(8, 1, 3) },
      events: pressedAgo(21),
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['ask-owner', 'set'],
    words: [
      /If\s+it\s+was\s+on\s+the\s+node\s+before,\s+image\s+GC\s+likely\s+deleted\s+it/,
      /2026-11-21\s+05:39\s+UTC/,
      /import\s+aep-runner:dev/,
    ],
    never: noDisk,
  },
  {
    name: 'attachment-that-is-being-deleted',
    thread: 'https://github.com/longhorn/longhorn/issues/1835',
    found:
      'A pod waits in ContainerCreating: "volume attachment is being deleted". The node before is gone, and its VolumeAttachment stays until the driver has detached the volume.',
    world: nodeOf({
      ...roomy,
      workloads: [
        ...users(3),
        ofVolume({
          events: [
            failing(
              'FailedAttachVolume',
              'AttachVolume.Attach failed for volume "pvc-ed79cf0c-7d59-427f-b64b-8ad8815421b0" : volume attachment is being deleted',
              9,
            ),
            failing(
              'FailedMount',
              'MountVolume.WaitForAttach failed for volume "pvc-ed79cf0c-7d59-427f-b64b-8ad8815421b0" : volume attachment is being deleted',
              4,
            ),
          ],
        }),
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set', 'read-more'],
    words: [/volume\s+attachment\s+is\s+being\s+deleted/, /VolumeAttachment/],
    never: noDisk,
  },
  {
    name: 'attacher-that-does-not-answer',
    thread: 'https://github.com/ctrox/csi-s3/issues/107',
    found:
      'FailedAttachVolume: "timed out waiting for external-attacher of ch.ctrox.csi.s3-driver CSI driver": its controller pod does not do its work.',
    world: nodeOf({
      ...roomy,
      workloads: [
        ...users(3),
        ofVolume({
          events: [
            failing(
              'FailedAttachVolume',
              'AttachVolume.Attach failed for volume "pvc-9fefdb47-2d79-41ad-8732-bfe02d435b1f" : timed out waiting for external-attacher of ch.ctrox.csi.s3-driver CSI driver to attach volume bucket/pvc-9fefdb47-2d79-41ad-8732-bfe02d435b1f',
              5,
            ),
          ],
        }),
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set', 'read-more'],
    words: [/ch\.ctrox\.csi\.s3-driver/, /controller\s+of\s+the\s+CSI\s+driver/],
    never: noDisk,
  },
  {
    name: 'driver-that-is-not-registered-on-a-new-node',
    thread: 'https://github.com/kubernetes-sigs/aws-efs-csi-driver/issues/1284',
    found:
      'On a node that Karpenter has just made, "driver name efs.csi.aws.com not found in the list of registered CSI drivers": the DaemonSet of the driver does not run there.',
    world: nodeOf({
      ...roomy,
      workloads: [
        ...users(3),
        ofVolume({
          events: [
            failing(
              'FailedMount',
              'MountVolume.MountDevice failed for volume "pvc-1b2c3d4e-0000-4000-8000-9fefdb472d79" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name efs.csi.aws.com not found in the list of registered CSI drivers',
              9,
            ),
          ],
        }),
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set', 'read-more'],
    words: [/efs\.csi\.aws\.com/, /DaemonSet/],
    never: noDisk,
  },
  {
    name: 'volume-of-a-node-that-stopped',
    thread: 'https://github.com/digitalocean/csi-digitalocean/issues/186',
    found:
      '"Multi-Attach error … Volume is already used by pod(s) io-mysql-7f4fdf4c66-n6788": the node that has the volume was stopped, and its pod still holds it.',
    world: nodeOf({
      ...roomy,
      workloads: [
        ...users(3),
        ofVolume({
          events: [
            failing(
              'FailedAttachVolume',
              'Multi-Attach error for volume "pvc-30c134ca-377c-4c29-8000-7e29c0850b7e" Volume is already used by pod(s) io-mysql-7f4fdf4c66-n6788',
              7,
            ),
          ],
        }),
      ],
    }),
    cause: [{ kind: 'world' }],
    owner: 'platform',
    steps: ['set', 'read-more'],
    words: [/io-mysql-7f4fdf4c66-n6788/, /end the pod\s+that\s+holds\s+the\s+volume/],
    never: noDisk,
  },
]
