/**
 * Events of volumes and of local storage for pods that do not start: whose words they are, what they mean, and who acts.
 *
 * Sources  pkg/controller/volume/attachdetach (FailedAttachVolume, Multi-Attach), pkg/kubelet/volumemanager (FailedMount, FailedMapVolume);
 *          pkg/volume/csi csi_client.go; pkg/volume/util/operationexecutor; kubernetes-sigs/aws-ebs-csi-driver pkg/cloud/cloud.go WaitForAttachmentState;
 *          pkg/scheduler/framework/plugins/noderesources fit.go; pkg/volume/{projected,secret,downwardapi} wrappedVolumeSpec (medium Memory)
 */

import { refusedHostPathIn, writeErrorIn } from '#facts/kubelet/event-messages.ts'

/** The attach-detach controller and the scheduler name no node: the pod says which one it is. */
export const reasonsWithoutNode: ReadonlySet<unknown> = new Set([
  'FailedAttachVolume',
  'FailedScheduling',
])

export const volumeReasons = ['FailedAttachVolume', 'FailedMapVolume', 'FailedMount']

/** What a message of these reasons means; the first that matches counts. `settings`: a ConfigMap or Secret is missing, and no volume. */
const meanings = [
  // Below its folder is a tmpfs of the pod. The folder itself, and a ConfigMap, lie on the disk of the kubelet.
  [
    'memory',
    /kubernetes\.io~(?:projected|secret|downward-api)\/[^/:]{1,253}\/[^:]{1,500}: no space left on device/i,
  ],
  [
    'disk',
    /kubernetes\.io~(?:configmap\/[^:]{1,500}|empty-dir\/[^:]{1,500}|[a-z-]{1,63}(?:\/[^/:]{1,253})?): no space left on device/i,
  ],
  [
    'settings',
    /(?:configmap|secret|references non-existent|object) [^:]{0,300}not (?:found|registered)/i,
  ],
  ['elsewhere', /Multi-Attach error|already (?:exclusively attached|used by)/],
  [
    'slots',
    /expected device to be attached but was attaching|could not attach volume .{0,200}: context deadline exceeded|attachment ?limit|max(?:imum)? (?:number of )?(?:volumes|attachments)/i,
  ],
  ['controller', /waiting for external-attacher|volume attachment is being deleted/],
  ['driver', /not found in the list of registered CSI drivers/],
  ['filesystem', /wrong fs type|superblock|fsck|structure needs cleaning|mkfs/i],
] as const

/** Whether nothing is attached for the volume: the kubelet makes it on the node itself. */
export const isWithoutAttachment = (message: string): boolean =>
  /kubernetes\.io~(?!csi\b|[a-z-]*(?:ebs|disk)\b)|volume "kube-api-access-/.test(message)

/** Words of a plugin or driver, without the kubelet's own before them where both name the volume. Upstream: pkg/volume/util/types GenerateErrorDetailed */
export function volumeWords(message: string): string {
  const [, volume = '', words = ''] =
    /^\w{1,40}\.\w{1,40} failed for volume "([^"]{1,253})" ?: ([\s\S]+)$/.exec(message) ?? []
  return words.includes(volume) && words !== '' ? words : message
}

/** The PersistentVolume of an event. Null: the words name none. */
export const volumeOf = (message: string): string | null =>
  /\b(pvc-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/.exec(message)?.[1] ?? null

/** Those that say most come first. */
export const volumeProblems = [
  'memory',
  'disk',
  'slots',
  'elsewhere',
  'controller',
  'driver',
  'filesystem',
  'other',
] as const

/** `other`: the words alone say what it is. Null: it is about no volume, or about a read-only disk of the node. */
export function volumeProblem(message: string): (typeof volumeProblems)[number] | null {
  const [meaning = 'other'] = meanings.find(([, words]) => words.test(message)) ?? []
  const isOfNode = writeErrorIn(message) !== null || refusedHostPathIn(message) !== null
  return meaning === 'settings' || isOfNode ? null : meaning
}

/** By the scheduler: no node has so much local storage left. */
export const isStorageShortage = (message: string): boolean =>
  message.includes('Insufficient ephemeral-storage')

const refusal =
  /enough resource: ephemeral-storage, requested: (\d{1,16}), used: (\d{1,16}), capacity: (\d{1,16})/

/** By the kubelet, for a pod that it does not admit. Upstream: pkg/kubelet/lifecycle/predicate.go InsufficientResourceError */
export function refusedStorage(
  message: string,
): { requested: number; used: number; capacity: number } | null {
  const [, requested, used, capacity] = refusal.exec(message)?.map(Number) ?? []
  return requested === undefined || used === undefined || capacity === undefined
    ? null
    : { requested, used, capacity }
}
