/**
 * Where a node's kubelet settings are, by image: the only files that a plan may write, and the only image names that it may pull.
 *
 * Source  awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go, doc/examples.md, #2427 (instance overrides since AMI v20251023);
 *         templates/al2/runtime/kubelet-config.json; eks-hybrid internal/kubelet/config.go; kubelet-eks snap (Ubuntu)
 */
import { isLogrotateFile } from '#facts/logrotate.ts'
import { isImageName } from '#model/input/image-reference.ts'
import type { AmiFamily } from '#model/input/record.ts'
import type { PlanMethod } from '#model/plan.ts'

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
/** The same of earlier releases. */
export const oldNodeadmDropIn = '/etc/kubernetes/kubelet/config.json.d/00-nodeadm.conf'
/** Not a file: the settings that apiclient sets. */
export const bottlerocketPlace = 'settings.kubernetes'

/** nodeadm writes the flags of the kubelet there before user data runs, and the kubelet starts after it. */
export const nodeadmEnvironment = '/etc/eks/kubelet/environment'

/** Files and folders in which people put settings of a kubelet, with the images whose kubelet gets them. */
const readers: readonly [path: string, families: readonly AmiFamily[]][] = [
  ['/etc/kubernetes/kubelet/config.json.d/', ['AL2023']],
  ['/etc/kubernetes/kubelet/config.json', ['AL2023']],
  [nodeadmEnvironment, ['AL2023']],
  ['/etc/kubernetes/kubelet/kubelet-config.json', ['AL2']],
  ['/etc/kubernetes/kubelet/kubelet-config.json.d/', []],
  ['/etc/eksctl/', ['AL2']],
  ['/etc/sysconfig/kubelet', ['AL2']],
  ['/etc/systemd/system/kubelet.service.d/', ['AL2']],
  ['/etc/default/kubelet', []],
  ['/var/lib/kubelet/config.yaml', []],
  ['/var/lib/kubelet/kubeadm-flags.env', []],
]

/** The only one of these files, or of their files, that a script names. Null: none, or several. */
export function nodePathIn(script: string): string | null {
  const named = script.match(/\/(?:etc|var)\/[\w./-]+/g) ?? []
  const [path = null, ...others] = new Set(named.filter(one => readerOf(one) !== undefined))
  return others.length === 0 ? path : null
}

const readerOf = (path: string) =>
  readers.find(([known]) => (known.endsWith('/') ? path.startsWith(known) : path === known))

/** Whether the kubelet of an image gets the settings in a file of the node. An unknown file may be copied anywhere. */
export const isReadByImage = (path: string, family: AmiFamily): boolean =>
  readerOf(path)?.[1].includes(family) ?? true

const placesOf: Readonly<Record<PlanMethod, (path: string) => boolean>> = {
  'kubelet-file': path => kubeletFiles.includes(path),
  nodeadm: path => path === nodeadmPiece,
  'drop-in': path => path === kubeletDropIn,
  bottlerocket: path => path === bottlerocketPlace,
  'sync-file': isLogrotateFile,
  'pull-image': isImageName,
}

export const isAllowedPath = (method: PlanMethod, path: string): boolean => placesOf[method](path)

/** First day of AMI releases whose nodeadm reads the folder, as YYYYMMDD. */
const nodeadmFolderSince = 20251023
/** The Amazon Linux release in an image is at most some weeks older than the image. */
const oldestBase = 20251001

const dateNumberIn = (text: string | null) => {
  const day = /(?:^|[.\s-])v?(20\d{6})(?:\b|$)/.exec((text ?? '').slice(0, 100))?.[1]
  return day === undefined ? null : Number(day)
}

/**
 * Whether nodeadm on this node reads /etc/eks/nodeadm.d.
 * @param osImage `Amazon Linux 2023.9.20251117`, never newer than the AMI
 * @param releaseVersion of its nodegroup, `1.34.2-20251120`; null: unknown. Some nodes of the nodegroup may still run an older release
 */
export function readsNodeadmFolder(osImage: string, releaseVersion: string | null): boolean {
  const base = dateNumberIn(osImage)
  const release = dateNumberIn(releaseVersion)
  if (base !== null && base >= nodeadmFolderSince) return true
  return release !== null && release >= nodeadmFolderSince && base !== null && base >= oldestBase
}

/** SSM and Kubernetes know hybrid nodes that SSM activated by this name. SSM does not know those of IAM Roles Anywhere. */
export const hybridInstanceForm = /^mi-[0-9a-f]{17}$/
