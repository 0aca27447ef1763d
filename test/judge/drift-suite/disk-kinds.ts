/** On the disk, and lost there: to another file, or to a flag. */
import { early, earlyFlags, imageGc, kind, late, lateFlags, nodeConfig, script } from './declare.ts'
import { eksctl, fleet, hybrid, image, karpenter, managed, selfManaged, times } from './fleet.ts'
import type { Files } from './host.ts'
import { trio } from './image.ts'
import { type DriftKind, lostOnDisk, lostToFlags } from './kind.ts'
import { type Member, nodeName } from './node.ts'

const with2 = (files: Files, running: Member['running'] = {}) => times(2, { files, running })
const imagefs = (threshold: string | null) => ({ evictionHard: { 'imagefs.available': threshold } })
const taints = { registerWithTaints: [{ effect: 'NoExecute', key: 'karpenter.sh/unregistered' }] }
const everySignal = { ...trio, 'imagefs.available': '15%' }

const overridden: DriftKind[] = [
  kind('AL2023', 'a NodeConfig under a later drop-in', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        declares: [nodeConfig(early)],
        nodes: with2({ dropIns: { '40-nodeadm.conf': early, '90-local.conf': late } }),
      }),
    ),
  ),
  kind('AL2023', 'a log size under a later drop-in', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 31),
        declares: [nodeConfig({ containerLogMaxSize: '50Mi' })],
        nodes: with2(
          {
            dropIns: {
              '40-nodeadm.conf': { containerLogMaxSize: '50Mi' },
              '50-team.conf': { containerLogMaxSize: '20Mi' },
            },
          },
          { containerLogMaxSize: '20Mi' },
        ),
      }),
    ),
  ),
  kind('AL2023', 'a key of evictionHard under a later drop-in', lostOnDisk(), () =>
    fleet(
      karpenter({
        image: image('AL2023', 35),
        kubelet: imagefs('15%'),
        nodes: with2(
          {
            dropIns: {
              '40-nodeadm.conf': { ...imagefs('15%'), ...taints, maxPods: 29 },
              '50-team.conf': imagefs('5%'),
            },
          },
          { evictionHard: { ...trio, 'imagefs.available': '5%' }, ...taints },
        ),
      }),
    ),
  ),
  kind('AL2023', "a drop-in that sorts before nodeadm's own", lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 33),
        declares: [nodeConfig(imageGc(75, 65))],
        nodes: with2(
          { dropIns: { '10-team.conf': imageGc(60, 50), '40-nodeadm.conf': imageGc(75, 65) } },
          imageGc(75, 65),
        ),
      }),
    ),
  ),
  kind('AL2', 'user data under a hand edit', lostOnDisk(), () =>
    fleet(
      managed({ image: image('AL2', 31), declares: [script(early)], nodes: with2({ main: late }) }),
    ),
  ),
  kind('AL2', 'a key of evictionHard under a hand edit that sets another', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2', 29),
        declares: [script({ ...early, evictionHard: everySignal })],
        nodes: with2(
          { main: { ...early, evictionHard: { 'memory.available': '100Mi' } } },
          { ...early, evictionHard: { 'memory.available': '100Mi' } },
        ),
      }),
    ),
  ),
  kind('AL2023', 'a key that a later drop-in takes away with null', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        declares: [nodeConfig(imagefs('15%'))],
        nodes: with2({
          dropIns: { '40-nodeadm.conf': imagefs('15%'), '90-local.conf': imagefs(null) },
        }),
      }),
    ),
  ),
  kind('AL2023', 'a field that a later drop-in takes away with null', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 35),
        declares: [nodeConfig(early)],
        nodes: with2({
          dropIns: {
            '40-nodeadm.conf': early,
            '90-local.conf': {
              imageGCHighThresholdPercent: null,
              imageGCLowThresholdPercent: null,
            },
          },
        }),
      }),
    ),
  ),
  kind('AL2023', 'a key that null takes away from another drop-in, in 1.31', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 31),
        declares: [nodeConfig(imagefs('15%'))],
        nodes: with2({
          dropIns: { '40-nodeadm.conf': imagefs('15%'), '90-local.conf': imagefs(null) },
        }),
      }),
    ),
  ),
]

const dropped: DriftKind[] = [
  kind('AL2', 'a misspelt field in the main file', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2', 31),
        nodes: with2({ main: { imageGCHighTresholdPercent: 70 } }),
      }),
    ),
  ),
  kind('AL2', 'a misspelt field in the main file of a self-managed node', lostOnDisk(), () =>
    fleet(
      selfManaged({
        image: image('AL2', 29),
        nodes: with2({ main: { evictionMinReclaim: { 'nodefs.available': '2Gi' } } }),
      }),
    ),
  ),
  kind('AL2', "a misspelt field in what eksctl's kubeletExtraConfig wrote", lostOnDisk(), () =>
    fleet(
      eksctl({ image: image('AL2', 31), nodes: with2({ main: { evictionsHard: everySignal } }) }),
    ),
  ),
  kind('AL2023', 'a misspelt field in the main file', lostOnDisk(), () =>
    fleet(
      managed({ image: image('AL2023', 33), nodes: with2({ main: { imageMaxGCAge: '168h' } }) }),
    ),
  ),
  kind('AL2023', 'a misspelt field in a drop-in', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        nodes: with2({ dropIns: { '90-local.conf': { containerLogMaxSizes: '50Mi' } } }),
      }),
    ),
  ),
  kind('AL2023', 'a misspelt field in a drop-in of 1.29', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 29),
        nodes: with2({ dropIns: { '90-local.conf': { imageGCLowTreshold: 60 } } }),
      }),
    ),
  ),
  kind('AL2', 'a field in wrong case in the main file', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2', 29),
        nodes: with2({ main: { imageGcHighThresholdPercent: 70 } }),
      }),
    ),
  ),
  kind('AL2023', 'evictionhard in the main file, beside the true one', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 35),
        nodes: with2({ main: { evictionhard: everySignal } }),
      }),
    ),
  ),
  kind(
    'AL2023',
    'a field with a capital in a drop-in, which the true one then wins over',
    lostOnDisk(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          nodes: with2({ dropIns: { '90-local.conf': { ImageGCHighThresholdPercent: 90 } } }),
        }),
      ),
  ),
  kind('AL2023', 'a field that this minor does not know, in a drop-in', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 31),
        nodes: with2({ dropIns: { '90-local.conf': { mergeDefaultEvictionSettings: true } } }),
      }),
    ),
  ),
  kind('AL2023', 'a drop-in that ends in .yaml', lostOnDisk(), () =>
    fleet(
      karpenter({
        image: image('AL2023', 35),
        nodes: with2({ dropIns: { '90-local.yaml': early } }),
      }),
    ),
  ),
  kind('AL2023', 'a drop-in that ends in .json', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 33),
        nodes: with2({ dropIns: { '90-local.json': early } }),
      }),
    ),
  ),
  kind('Hybrid', 'a drop-in that ends in .conf.disabled', lostOnDisk(), () =>
    fleet(
      hybrid({
        image: image('Hybrid', 34),
        nodes: with2({ dropIns: { '90-local.conf.disabled': early } }),
      }),
    ),
  ),
  kind('AL2023', 'a drop-in in a folder that no flag names', lostOnDisk(), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        nodes: with2({ dropIns: { '90-local.conf': early }, hasConfigDir: false }),
      }),
    ),
  ),
  kind('AL2023', "nodeadm's drop-in, left behind by a NodeConfig that is gone", lostOnDisk(), () =>
    fleet(
      selfManaged({
        image: image('AL2023', 31),
        nodes: with2({ dropIns: { '40-nodeadm.conf': early }, hasConfigDir: false }),
      }),
    ),
  ),
]

const mostAreSound: DriftKind[] = [
  kind(
    'AL2023',
    'three nodes of seven, each in another place',
    {
      ...lostOnDisk(nodeName(0), nodeName(1), nodeName(2)),
      layers: ['declared', 'disk', 'flags'],
      beside: ['peer-drift'],
    },
    () => {
      const own = { '40-nodeadm.conf': imageGc(75, 60) }
      return fleet(
        managed({
          image: image('AL2023', 34),
          declares: [nodeConfig(imageGc(75, 60))],
          nodes: [
            {
              running: imageGc(90, 60),
              files: { dropIns: { ...own, '90-x.conf': { imageGCHighThresholdPercent: 90 } } },
            },
            {
              running: imageGc(88, 60),
              files: { dropIns: own, flags: ['--image-gc-high-threshold=88'] },
            },
            { files: {} },
            ...times(4, { running: imageGc(75, 60), files: { dropIns: own } }),
          ],
        }),
      )
    },
  ),
]

const flagged: DriftKind[] = [
  kind('AL2', 'user data under the flags of a hand edit', lostToFlags(), () =>
    fleet(
      managed({
        image: image('AL2', 31),
        declares: [script(early)],
        nodes: with2({ main: early, flags: lateFlags }),
      }),
    ),
  ),
  kind('AL2', 'a map in user data under a flag, which replaces it whole', lostToFlags(), () =>
    fleet(
      managed({
        image: image('AL2', 29),
        declares: [script({ evictionHard: everySignal })],
        nodes: with2(
          {
            main: { evictionHard: everySignal },
            flags: ['--eviction-hard=memory.available<200Mi'],
          },
          { evictionHard: { 'memory.available': '200Mi' } },
        ),
      }),
    ),
  ),
  kind('AL2', 'the file of a self-managed node, under flags', lostToFlags(), () =>
    fleet(
      selfManaged({ image: image('AL2', 29), nodes: with2({ main: early, flags: lateFlags }) }),
    ),
  ),
  kind('AL2023', 'a NodeConfig under flags that somebody added', lostToFlags(), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        declares: [nodeConfig(early)],
        nodes: with2({ dropIns: { '40-nodeadm.conf': early }, flags: lateFlags }),
      }),
    ),
  ),
  kind('AL2023', 'a NodeConfig under its own flags', lostToFlags(), () =>
    fleet(
      managed({
        image: image('AL2023', 33),
        declares: [nodeConfig(early, ...lateFlags)],
        nodes: with2({ dropIns: { '40-nodeadm.conf': early }, flags: lateFlags }),
      }),
    ),
  ),
  kind('AL2023', 'an EC2NodeClass under flags of its user data', lostToFlags(), () =>
    fleet(
      karpenter({
        image: image('AL2023', 35),
        kubelet: imageGc(60, 50),
        userData: [nodeConfig({}, ...earlyFlags)],
        nodes: with2(
          { dropIns: { '40-nodeadm.conf': { ...imageGc(60, 50), ...taints } }, flags: earlyFlags },
          { ...early, ...taints },
        ),
      }),
    ),
  ),
  kind(
    'AL2023',
    'three fields, each lost in another place',
    { ...lostOnDisk(), layers: ['declared', 'disk', 'flags'] },
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          declares: [
            nodeConfig({ ...early, containerLogMaxSize: '50Mi' }),
            script({}, '--registry-qps=20'),
          ],
          nodes: with2({
            dropIns: {
              '40-nodeadm.conf': { ...early, containerLogMaxSize: '50Mi' },
              '90-local.conf': late,
            },
            flags: ['--container-log-max-size=10Mi'],
          }),
        }),
      ),
  ),
]

export const diskKinds: DriftKind[] = [...overridden, ...mostAreSound, ...dropped, ...flagged]
