/**
 * Sources of a node's kubelet settings, by image: the only files that a plan may write, and the only names that it may give to images.
 *
 * Source  awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go, doc/examples.md, #2427 (instance overrides since AMI v20251023);
 *         templates/al2/runtime/kubelet-config.json; eks-hybrid internal/kubelet/config.go; kubelet-eks snap (Ubuntu)
 */
import { isLogrotateFile } from '#facts/logrotate.ts'
import { isImageName } from '#model/image-reference.ts'
import type { PlanMethod } from '#model/plan.ts'

/** Main configuration files that may be swapped as a whole. */
export const kubeletFiles: readonly string[] = [
  '/etc/kubernetes/kubelet/config.json',
  '/etc/kubernetes/kubelet/kubelet-config.json',
]
/** Read only with `--config-dir`; after nodeadm's own, 40-nodeadm.conf. */
export const kubeletDropIn = '/etc/kubernetes/kubelet/config.json.d/90-highwater.conf'
export const nodeadmPiece = '/etc/eks/nodeadm.d/50-highwater.yaml'
/** What nodeadm makes of all NodeConfigs that it reads. */
export const nodeadmDropIn = '/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf'
/** No file: the settings that apiclient sets. */
export const bottlerocketPlace = 'settings.kubernetes'

const placesOf: Readonly<Record<PlanMethod, (path: string) => boolean>> = {
  'kubelet-file': path => kubeletFiles.includes(path),
  nodeadm: path => path === nodeadmPiece,
  'drop-in': path => path === kubeletDropIn,
  bottlerocket: path => path === bottlerocketPlace,
  'sync-file': isLogrotateFile,
  'pull-image': isImageName,
}

export const isPlace = (method: PlanMethod, path: string): boolean => placesOf[method](path)

/** As the day of an AMI release and of an Amazon Linux release are written. */
const nodeadmFolderSince = 20251023
/** An image is built on a release of Amazon Linux that is at most some weeks older. */
const oldestBase = 20251001

const dayIn = (text: string | null): number | null => {
  const day = /(?:^|[.\s-])v?(20\d{6})(?:\b|$)/.exec((text ?? '').slice(0, 100))?.[1]
  return day === undefined ? null : Number(day)
}

/**
 * Whether nodeadm on this node reads /etc/eks/nodeadm.d.
 * @param osImage `Amazon Linux 2023.9.20251117`, never newer than the AMI
 * @param releaseVersion of its nodegroup, `1.34.2-20251120`; null: none is known. Nodes of an older release may be left in it
 */
export function readsNodeadmFolder(osImage: string, releaseVersion: string | null): boolean {
  const base = dayIn(osImage)
  const release = dayIn(releaseVersion)
  if (base !== null && base >= nodeadmFolderSince) return true
  return release !== null && release >= nodeadmFolderSince && base !== null && base >= oldestBase
}

/** Hybrid nodes that SSM activated are known to it, and to Kubernetes, by this name; those of IAM Roles Anywhere are not known to SSM. */
export const hybridInstanceForm = /^mi-[0-9a-f]{17}$/
