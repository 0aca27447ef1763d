/** Folders of the node that its pods can write: what the API alone shows of bytes that the kubelet counts to no pod. */
import { type NodeSubject, nameLength, shorten } from '#judge/rule.ts'
import { podName, shortPodName } from '#judge/text.ts'
import type { StepAction } from '#model/finding.ts'
import {
  controllerOf,
  isVolumeWritable,
  type KubernetesPod,
  placedWorkload,
} from '#model/input/record.ts'

/** Folders of devices, sockets, programs and settings: what is written there takes no disk, or little. */
const small =
  /^\/(?:dev|proc|sys|run|var\/run|etc|lib|lib64|usr|boot|opt\/cni|var\/lib\/(?:cni|kubelet))(?:\/|$)/
const shown = 3
/** Behind the last, if there are more. */
const cutMark = '…'

/** They read the logs below /var/log, and write there only how far they have read. */
const logAgents =
  /(?:^|[/_-])(?:alloy|datadog-agent|filebeat|fluent-?bit|fluentd|grafana-agent|logstash|opentelemetry-collector(?:-contrib)?|promtail|vector)(?:[-:@]|$)/

const isReadByAgent = (place: string, { spec }: KubernetesPod) =>
  /^\/var\/log(?:\/|$)/.test(place) &&
  (spec?.containers ?? []).some(({ image = '' }) => logAgents.test(image))

type Mounting = Partial<Pick<NodeSubject, 'pods' | 'summary' | 'filesystems'>>

interface Mount {
  place: string
  isFolder: boolean
  workload: string
}

/** Folders and claims on the node that its pods can write. A claim with the size of the node's disk is a folder on it. */
function* writableParts({ pods, summary, filesystems }: Mounting): Generator<Mount> {
  const diskBytes = filesystems?.nodefs?.capacityBytes
  const measured = new Map(summary?.pods?.map(({ podRef, volume }) => [podName(podRef), volume]))
  for (const pod of pods ?? []) {
    const { namespace = '', name = '' } = pod.metadata ?? {}
    if (namespace === 'kube-system') continue
    const workload = placedWorkload(namespace, controllerOf(pod) ?? `Pod ${name}`)
    for (const { pvcRef, capacityBytes } of measured.get(podName(pod.metadata)) ?? [])
      if (pvcRef?.name !== undefined && diskBytes != null && capacityBytes === diskBytes)
        yield { place: `PersistentVolumeClaim ${pvcRef.name}`, isFolder: false, workload }
    for (const { name: volume, hostPath } of pod.spec?.volumes ?? []) {
      const place = hostPath?.path
      if (place === undefined || isReadByAgent(place, pod)) continue
      if (!small.test(place) && isVolumeWritable(pod, volume))
        yield { place, isFolder: true, workload }
    }
  }
}

/** The author of a pod chooses its hostPath: other characters could say anything in a report. */
const shownPlace = ({ place, isFolder }: Mount) =>
  isFolder && (!/^\/[\w./@:+~-]{0,99}$/.test(place) || place.includes('//'))
    ? 'a path that is not shown'
    : place

/** `/tmp (Deployment shop/api)`, one for each folder and workload; at most three, and a mark if there are more. */
function shownMounts(subject: Mounting, isShown: (mount: Mount) => boolean): string[] {
  const mounts = new Set<string>()
  for (const mount of writableParts(subject)) {
    if (isShown(mount)) mounts.add(`${shownPlace(mount)} (${mount.workload})`)
    if (mounts.size > shown) break
  }
  return cutMounts(mounts)
}

/** Three of them, and a mark if there are more. */
export function cutMounts(mounts: Iterable<string>): string[] {
  const all = [...new Set(mounts)]
  const named = all.filter(mount => mount !== cutMark)
  return [...named.slice(0, shown), ...(all.length > named.slice(0, shown).length ? [cutMark] : [])]
}

export const writableMounts = (subject: Mounting): string[] => shownMounts(subject, () => true)

/** Of these, folders that lie on none of the measured ones: another disk may be mounted there. @param only null: all of them */
export const foldersElsewhere = (
  subject: Mounting,
  measured: readonly string[],
  only: string | null = null,
): string[] =>
  shownMounts(
    subject,
    ({ place, isFolder }) =>
      isFolder &&
      place !== '/' &&
      (only === null || place === only) &&
      !measured.some(path => place === path || place.startsWith(`${path}/`)),
  )

interface ClaimOfPod {
  namespace: string
  claim: string
  workload: string
}

/** Claims of the node's pods, those that were evicted, too. The kubelet measures none of the kind hostPath; another size is another disk. */
export function claimsOf({
  pods,
  summary,
  filesystems,
}: Pick<NodeSubject, 'pods' | 'summary' | 'filesystems'>): ClaimOfPod[] {
  const diskBytes = filesystems.nodefs?.capacityBytes
  const elsewhere = new Set(
    summary?.pods?.flatMap(({ podRef, volume = [] }) =>
      volume.flatMap(({ pvcRef, capacityBytes }) =>
        pvcRef?.name === undefined || capacityBytes === diskBytes
          ? []
          : podName({ namespace: podRef?.namespace, name: pvcRef.name }),
      ),
    ),
  )
  return (pods ?? []).flatMap(pod => {
    const { namespace = '', name = '' } = pod.metadata ?? {}
    const workload = placedWorkload(namespace, controllerOf(pod) ?? `Pod ${name}`)
    return (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
      const claim = persistentVolumeClaim?.claimName
      return claim === undefined || elsewhere.has(podName({ namespace, name: claim }))
        ? []
        : [{ namespace, claim, workload }]
    })
  })
}

/** `/var/lib/rancher/k3s/storage (claims pgsql, spacewalk of Deployment shop/db)`: folders that are claims, beside each other. At most three. */
export function claimFolders(
  claims: readonly ClaimOfPod[],
  localFolder: (namespace: string, claim: string) => string | null,
): string[] {
  const found = claims.flatMap(one => {
    const folder = localFolder(one.namespace, one.claim)
    return folder === null ? [] : [{ ...one, parent: folder.replace(/\/[^/]+\/?$/, '') || '/' }]
  })
  const places = Map.groupBy(found, ({ parent, workload }) => `${parent} ${workload}`)
  return [...places.values()].slice(0, shown).map(alike => {
    const { parent, workload } = alike[0]!
    const names = [...new Set(alike.map(({ claim }) => shorten(claim, nameLength)))]
    const more = names.length > shown ? ', …' : ''
    return `${parent} (${names.length === 1 ? 'claim' : 'claims'} ${names.slice(0, shown).join(', ')}${more} of ${workload})`
  })
}

/** A look at the node begins with what its pods can write. */
export function withMounts(step: StepAction, subject: Mounting) {
  const isOfAll = step.id === 'look-on-node' && !step.place && !step.variant
  const mounts = isOfAll || step.id === 'read-on-node' ? writableMounts(subject) : []
  return mounts.length === 0 ? step : { ...step, mounts }
}

/** Pods that run and may fill the disk by an emptyDir, which no eviction message counts. At most three. */
export const unlimitedPods = (pods: NodeSubject['pods']): string[] =>
  (pods ?? [])
    .filter(
      ({ spec, status }) =>
        status?.phase === 'Running' &&
        spec?.volumes?.some(
          ({ emptyDir }) =>
            emptyDir && emptyDir.medium !== 'Memory' && emptyDir.sizeLimit === undefined,
        ),
    )
    .map(({ metadata }) => shortPodName(metadata))
    .slice(0, shown)
