/** Files that were changed after the kubelet had read them. */
import { early, imageGc, kind, nodeConfig, settings } from './declare.ts'
import { eksctl, fleet, hybrid, image, karpenter, managed, selfManaged, times } from './fleet.ts'
import type { Files } from './host.ts'
import { type SuiteFamily, type SuiteMinor, trio } from './image.ts'
import { type DriftKind, notRestarted } from './kind.ts'
import { nodeName } from './node.ts'

const inDropIn = (content: Record<string, unknown>): Files => ({
  dropIns: { '90-local.conf': content },
})
const inMain = (content: Record<string, unknown>): Files => ({ main: content })

const edits: [field: string, family: SuiteFamily, minor: SuiteMinor, files: Files][] = [
  ['image GC percentages', 'AL2', 31, inMain(early)],
  ['image GC percentages', 'AL2023', 34, inDropIn(early)],
  ['image GC percentages', 'Bottlerocket', 33, inMain(early)],
  [
    'one more key of evictionHard',
    'AL2023',
    31,
    inDropIn({ evictionHard: { 'imagefs.available': '15%' } }),
  ],
  [
    'one key fewer of evictionHard',
    'AL2',
    29,
    inMain({ evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } }),
  ],
  [
    'another value in evictionHard',
    'AL2023',
    35,
    inMain({ evictionHard: { ...trio, 'nodefs.available': '15%' } }),
  ],
  [
    'an evictionHard that was not there',
    'Bottlerocket',
    34,
    inMain({ evictionHard: { 'memory.available': '200Mi' } }),
  ],
  [
    'evictionSoft',
    'AL2023',
    33,
    inDropIn({
      evictionSoft: { 'memory.available': '500Mi' },
      evictionSoftGracePeriod: { 'memory.available': '1m30s' },
    }),
  ],
  [
    'evictionMinimumReclaim',
    'AL2',
    31,
    inMain({ evictionMinimumReclaim: { 'nodefs.available': '2Gi' } }),
  ],
  [
    'evictionPressureTransitionPeriod',
    'AL2023',
    34,
    inDropIn({ evictionPressureTransitionPeriod: '1m0s' }),
  ],
  ['containerLogMaxSize', 'AL2023', 35, inDropIn({ containerLogMaxSize: '50Mi' })],
  ['containerLogMaxSize', 'Bottlerocket', 35, inMain({ containerLogMaxSize: '50Mi' })],
  ['containerLogMaxFiles', 'AL2', 29, inMain({ containerLogMaxFiles: 3 })],
  ['imageMinimumGCAge', 'AL2023', 29, inMain({ imageMinimumGCAge: '10m' })],
  ['imageMaximumGCAge', 'AL2023', 33, inDropIn({ imageMaximumGCAge: '168h' })],
  ['maxPods', 'AL2', 31, inMain({ maxPods: 20 })],
  ['kubeReserved', 'AL2023', 34, inDropIn({ kubeReserved: { memory: '1Gi' } })],
  ['systemReserved', 'AL2', 29, inMain({ systemReserved: { memory: '500Mi' } })],
  ['mergeDefaultEvictionSettings', 'AL2023', 33, inMain({ mergeDefaultEvictionSettings: true })],
  ['serializeImagePulls', 'AL2023', 31, inMain({ serializeImagePulls: true })],
]

const everyNode: DriftKind[] = edits.map(([field, family, minor, files]) =>
  kind(
    family,
    `${field}, in a ${files.main ? 'main file' : 'drop-in'} of 1.${minor}`,
    notRestarted(),
    () => fleet(managed({ image: image(family, minor), nodes: times(2, { files }) })),
  ),
)

const others: DriftKind[] = [
  kind('AL2023', 'one node of three', notRestarted(nodeName(1)), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        nodes: [{ files: {} }, { files: inDropIn(early) }, { files: {} }],
      }),
    ),
  ),
  kind(
    'AL2023',
    'a declared value that runs, and on the disk gave way to another',
    notRestarted(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 33),
          declares: [nodeConfig(early)],
          nodes: times(2, {
            running: early,
            files: { dropIns: { '40-nodeadm.conf': early, '90-local.conf': imageGc(60, 50) } },
          }),
        }),
      ),
  ),
  kind(
    'Bottlerocket',
    'a declared setting that runs, and another that was rendered since',
    notRestarted(),
    () =>
      fleet(
        managed({
          image: image('Bottlerocket', 34),
          declares: [settings(early)],
          nodes: times(2, { running: early, files: { main: imageGc(60, 50) } }),
        }),
      ),
  ),
  kind(
    'AL2023',
    'evictionhard in a drop-in of 1.34, where the case of a name does not matter',
    notRestarted(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 34),
          nodes: times(2, { files: inDropIn({ evictionhard: { 'imagefs.available': '15%' } }) }),
        }),
      ),
  ),
  kind(
    'AL2023',
    'a NodeConfig with a field in another case, which nodeadm wrote to a drop-in of 1.31',
    notRestarted(),
    () =>
      fleet(
        managed({
          image: image('AL2023', 31),
          declares: [nodeConfig({ imagegchighthresholdpercent: 90 })],
          nodes: times(2, {
            files: { dropIns: { '40-nodeadm.conf': { imagegchighthresholdpercent: 90 } } },
          }),
        }),
      ),
  ),
  kind('AL2023', "a key of the image's own file that does not run yet", notRestarted(), () =>
    fleet(
      managed({
        image: image('AL2023', 34),
        nodes: times(2, {
          running: { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } },
          files: {},
        }),
      }),
    ),
  ),
  kind('AL2023', 'a drop-in that is gone again', notRestarted(), () =>
    fleet(
      eksctl({
        image: image('AL2023', 35),
        nodes: times(2, { running: { containerLogMaxFiles: 3 }, files: { hasConfigDir: true } }),
      }),
    ),
  ),
  kind('AL2023', 'a node of Karpenter that somebody edited', notRestarted(nodeName(0)), () =>
    fleet(karpenter({ image: image('AL2023', 34), nodes: [{ files: inDropIn(early) }, {}, {}] })),
  ),
  kind('AL2', 'a self-managed node', notRestarted(), () =>
    fleet(
      selfManaged({
        image: image('AL2', 31),
        nodes: [{ files: inMain({ evictionHard: { ...trio, 'memory.available': '5%' } }) }],
      }),
    ),
  ),
  kind('Hybrid', 'a hybrid node', notRestarted(), () =>
    fleet(
      hybrid({
        image: image('Hybrid', 33),
        nodes: [{ files: inMain({ imageMaximumGCAge: '72h' }) }],
      }),
    ),
  ),
]

export const restartKinds: DriftKind[] = [...everyNode, ...others]
