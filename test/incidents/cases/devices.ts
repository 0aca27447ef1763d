/** Disks of the wrong size, on the wrong device, or mounted nowhere. */
import type { Incident } from '../incident.ts'
import { byNodeClass, evictionOf, held, images, nearMiss, nodeOf, users } from '../short-forms.ts'

const bottlerocketDisk = { gib: 19.94, usedGib: 18.2 }
const onData = /\/dev\/xvdb/
/** Neither ends a cause that is a mapping. */
const imageGc = /prune-images|growpart/

export const deviceIncidents: Incident[] = [
  {
    name: 'size-on-a-second-device',
    thread: 'https://github.com/rancher/rancher/issues/31361',
    found: 'The size went to another device than the root, which keeps 20 GiB: pods are evicted.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', disk: { gib: 20, usedGib: 18.4 }, diskPressure: true },
        volumes: [
          { device: '/dev/xvda', gib: 20 },
          { device: '/dev/sdr', gib: 100 },
        ],
        workloads: users(6),
        held: { images: images(7, 0.4, 1.2) },
      },
      { nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD' }] },
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['read-more'],
    words: [/100(?:\.0)? GiB/],
    never: [imageGc],
  },
  {
    name: 'claim-beside-the-root',
    thread: 'https://github.com/rancher/rancher/issues/31361',
    found: 'A near miss: the second volume is a PersistentVolume, by its name of two letters.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', disk: { gib: 20, usedGib: 9 } },
        volumes: [
          { device: '/dev/xvda', gib: 20 },
          { device: '/dev/xvdaa', gib: 100 },
        ],
        workloads: users(6),
        held: { images: images(7, 0.4, 0.6) },
      },
      { nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD' }] },
    ),
    ...nearMiss,
    never: [/another volume/],
  },
  {
    name: 'nodegroup-size-on-system-volume',
    thread: 'https://github.com/bottlerocket-os/bottlerocket/issues/4663',
    found:
      'Bottlerocket: the volume has 100 GB, the node 20414 MiB. /dev/xvda is the system; the data volume /dev/xvdb keeps its 20 GB. Mapping /dev/xvdb ended it.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
        disk: bottlerocketDisk,
        diskPressure: true,
        volumes: [
          { device: '/dev/xvda', gib: 100 },
          { device: '/dev/xvdb', gib: 20 },
        ],
        workloads: users(7),
        held: { images: images(8, 0.7, 2) },
      },
      { nodegroups: [{ nodegroupName: 'workers', amiType: 'BOTTLEROCKET_x86_64', diskSize: 100 }] },
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set', 'replace'],
    words: [onData],
    never: [imageGc],
  },
  {
    name: 'template-size-on-system-volume',
    thread: 'https://github.com/eksctl-io/eksctl/issues/4434',
    found:
      'eksctl volumeSize: 200 on Bottlerocket; the node has 20624592Ki of ephemeral storage and runs out at once.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
        disk: { gib: 19.67, usedGib: 17.9 },
        diskPressure: true,
        volumes: [
          { device: '/dev/xvda', gib: 200 },
          { device: '/dev/xvdb', gib: 20 },
        ],
        workloads: users(6),
        held: { images: images(7, 0.8, 2.3) },
      },
      {
        nodegroups: [
          {
            ...{ nodegroupName: 'workers', amiType: 'BOTTLEROCKET_x86_64' },
            launchTemplate: { id: 'lt-0a', name: 'br-test', version: '1' },
          },
        ],
        launchTemplates: [
          {
            ...{ launchTemplateId: 'lt-0a', launchTemplateName: 'br-test', versionNumber: 1 },
            volumes: [{ deviceName: '/dev/xvda', sizeGiB: 200 }],
          },
        ],
      },
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set', 'replace'],
    words: [onData],
    never: [imageGc],
  },
  {
    name: 'node-class-maps-only-the-system',
    thread: 'https://github.com/useparagon/enterprise-installer/pull/179',
    found:
      'The EC2NodeClass of Bottlerocket nodes maps /dev/xvda alone; containers live on /dev/xvdb, which stays small.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', family: 'Bottlerocket', instanceType: 'm5.xlarge' },
        nodeClass: 'bottlerocket',
        disk: bottlerocketDisk,
        diskPressure: true,
        volumes: [
          { device: '/dev/xvda', gib: 150 },
          { device: '/dev/xvdb', gib: 20 },
        ],
        workloads: users(6),
        held: { images: images(7, 0.8, 2.3) },
      },
      byNodeClass(
        'bottlerocket',
        [{ deviceName: '/dev/xvda', ebs: { volumeSize: '150Gi', volumeType: 'gp3' } }],
        { amiFamily: 'Bottlerocket' },
      ),
    ),
    cause: [{ kind: 'device' }],
    owner: 'platform',
    steps: ['resize', 'set', 'replace'],
    words: [onData],
    never: [imageGc],
  },
  {
    name: 'disk-size-ignored',
    thread: 'https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2005',
    found:
      'disk_size = 128 has no effect where a launch template is made: the template maps no volume, so nodes have 20 GB. block_device_mappings ended it.',
    world: nodeOf(
      {
        disk: { gib: 20, usedGib: 18.3 },
        diskPressure: true,
        workloads: users(6),
        held: { images: images(7, 0.7, 2) },
      },
      {
        nodegroups: [
          {
            ...{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD' },
            launchTemplate: { id: 'lt-0b', name: 'workers', version: '1' },
          },
        ],
        launchTemplates: [
          {
            launchTemplateId: 'lt-0b',
            launchTemplateName: 'workers',
            versionNumber: 1,
            volumes: [],
          },
        ],
      },
    ),
    cause: [{ kind: 'device' }, held('images-in-use')],
    owner: 'platform',
    steps: ['resize'],
    words: [/larger|volumeSize|VolumeSize|resize|GiB volume/i],
    never: [/prune-images/],
  },
  {
    name: 'instance-store-mounted-nowhere',
    thread: 'https://github.com/kubernetes/k8s.io/pull/6148',
    found:
      'Threshold quantity 3167092657, available 1824404Ki: test pods fill the root volume, and the NVMe disk of 474 GB of the new r6id.2xlarge has to be mounted to count.',
    world: nodeOf({
      disk: { gib: 29.5, usedGib: 27.76 },
      diskPressure: true,
      devices: [
        { name: '/dev/nvme0n1', gib: 30, mounted: true },
        { name: '/dev/nvme1n1', gib: 441, mounted: false },
      ],
      workloads: [
        ...users(4),
        { namespace: 'test-pods', owner: 'Job kops-e2e', pods: 5, layerGib: 2.8 },
      ],
      held: { images: images(4, 0.9, 2.4) },
    }),
    cause: [held('writable-layers')],
    owner: 'test-pods/Job kops-e2e',
    steps: ['ask-owner'],
    words: [/instance.store|nvme1n1|kops-e2e/i],
    never: [/prune-images/],
  },
  {
    name: 'image-state-on-tmpfs',
    thread: 'https://github.com/canonical/k8s-snap/issues/1456',
    found:
      'DiskPressure with 8 % of the root disk used: the runtime keeps its files on /run, a tmpfs of 3.2 GB, 85 % used.',
    world: nodeOf({
      disk: { gib: 145, usedGib: 12 },
      imageDisk: { gib: 3.2, usedGib: 2.8, device: 'tmpfs', mount: '/run' },
      configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      diskPressure: true,
      workloads: users(4),
      held: { images: images(4, 0.2, 0.6) },
    }),
    cause: [{ kind: 'device' }, held('images-in-use')],
    owner: 'platform',
    steps: ['resize', 'set'],
    words: [/imagefs|\/run/],
    notCauses: ['evictionHard.nodefs.available'],
    never: [/prune-images/],
  },
  {
    name: 'node-class-adds-a-second-volume',
    thread: 'https://github.com/pytorch/ci-infra/pull/29',
    found:
      'The default disk has only 20 Gi, so the EC2NodeClass got a separate volume; kubelet and containerd stay on the root volume.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'runners' },
        disk: { gib: 19.94, usedGib: 18.2 },
        diskPressure: true,
        volumes: [
          { device: '/dev/xvda', gib: 20 },
          { device: '/dev/xvdb', gib: 100 },
        ],
        workloads: users(6),
        held: { images: images(7, 0.8, 2.3) },
      },
      byNodeClass('runners', [{ deviceName: '/dev/xvdb', ebs: { volumeSize: '100Gi' } }]),
    ),
    cause: [{ kind: 'device', what: 'wrong-volume' }],
    owner: 'platform',
    steps: ['resize'],
    words: [/100\.0 GiB for \/dev\/xvda in the device mapping of\s+EC2NodeClass\s+runners/],
    never: [imageGc],
  },
  {
    name: 'second-volume-carries-the-images',
    thread: 'https://github.com/awslabs/amazon-eks-ami/issues/13',
    found:
      'The default root has 20 GB; a second volume for the runtime is mounted by user data, so that the kubelet still works if it is full.',
    world: nodeOf(
      {
        ...{ mode: 'proxy', nodeClass: 'runners' },
        disk: { gib: 19.94, usedGib: 6 },
        imageDisk: { gib: 99.9, usedGib: 40 },
        volumes: [
          { device: '/dev/xvda', gib: 20 },
          { device: '/dev/xvdb', gib: 100 },
        ],
        workloads: users(6),
        held: { images: images(7, 0.8, 2.3) },
        configuration: evictionOf({ 'nodefs.available': '10%', 'imagefs.available': '15%' }),
      },
      byNodeClass('runners', [{ deviceName: '/dev/xvdb', ebs: { volumeSize: '100Gi' } }]),
    ),
    ...nearMiss,
    never: [/wrong-volume|map-volume/],
  },
]
