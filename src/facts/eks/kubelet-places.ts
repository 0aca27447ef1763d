/**
 * Where a node's kubelet settings are, by image: the only files that a plan may write, and the only image names that it may pull.
 *
 * Source  awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go, doc/examples.md, #2427 (instance overrides since AMI v20251023);
 *         templates/al2/runtime/kubelet-config.json; eks-hybrid internal/kubelet/config.go; kubelet-eks snap (Ubuntu)
 */
import { isLogrotateFile } from '#facts/logrotate.ts'
import { isImageName } from '#model/input/image-reference.ts'
import type { PlanMethod } from '#model/plan/plan.ts'

/** Main configuration files that a plan may replace as a whole. */
export const kubeletFiles: readonly string[] = [
  '/etc/kubernetes/kubelet/config.json',
  '/etc/kubernetes/kubelet/kubelet-config.json',
]
/** Read only with `--config-dir`, after nodeadm's own 40-nodeadm.conf. */
export const kubeletDropIn = '/etc/kubernetes/kubelet/config.json.d/90-highwater.conf'
export const nodeadmPiece = '/etc/eks/nodeadm.d/50-highwater.yaml'
/** nodeadm writes this file from all NodeConfigs that it reads. */
export const nodeadmDropIn = '/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf'
/** Not a file: the settings that apiclient sets. */
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

/** First day of AMI releases whose nodeadm reads the folder, as YYYYMMDD. */
const nodeadmFolderSince = 20251023
/** The Amazon Linux release in an image is at most some weeks older than the image. */
const oldestBase = 20251001

const dayIn = (text: string | null) => {
  const day = /(?:^|[.\s-])v?(20\d{6})(?:\b|$)/.exec((text ?? '').slice(0, 100))?.[1]
  return day === undefined ? null : Number(day)
}

/**
 * Whether nodeadm on this node reads /etc/eks/nodeadm.d.
 * @param osImage `Amazon Linux 2023.9.20251117`, never newer than the AMI
 * @param releaseVersion of its nodegroup, `1.34.2-20251120`; null: unknown. Some nodes of the nodegroup may still run an older release
 */
export function readsNodeadmFolder(osImage: string, releaseVersion: string | null): boolean {
  const base = dayIn(osImage)
  const release = dayIn(releaseVersion)
  if (base !== null && base >= nodeadmFolderSince) return true
  return release !== null && release >= nodeadmFolderSince && base !== null && base >= oldestBase
}

/** SSM and Kubernetes know hybrid nodes that SSM activated by this name. SSM does not know those of IAM Roles Anywhere. */
export const hybridInstanceForm = /^mi-[0-9a-f]{17}$/
