/**
 * Disk space of unpacked image layers, as multiples of the sizes that the CRI and `node.status.images` list. On containerd these sizes
 * are packed layers, on CRI-O unpacked ones. A layer that images share counts for each of them.
 *
 * Source: Zhao et al., Large-Scale Analysis of the Docker Hub Dataset, IEEE CLUSTER 2019: 167 TB unpacked from 47 TB, a layer 2.6 in the median;
 * containers/image storage/storage_src.go getSize, which CRI-O lists (internal/storage/image.go imageSize).
 */

/** The images of a node unpack to at most this multiple of the sum of their listed sizes. A single odd layer can exceed it. */
export const mostUnpacking = 3.5

/** Unpacked layers take at least this multiple of their packed size. */
const leastUnpacking = 0.9

export interface Unpacking {
  least: number
  most: number
  /** Whether the packed layers of a pull stay on the disk, if the runtime's configuration does not say otherwise. */
  keepsPacked: boolean
}

/** The disk gives each small file a whole block; a tar archive does not. */
const ofCrio: Unpacking = { least: leastUnpacking, most: 1.5, keepsPacked: false }
const ofOthers: Unpacking = { least: leastUnpacking, most: mostUnpacking, keepsPacked: true }

/** @param runtimeVersion `containerRuntimeVersion` of the node, such as `cri-o://1.32.5` */
export const unpackingOf = (runtimeVersion: string | undefined): Unpacking =>
  isCrio(runtimeVersion) ? ofCrio : ofOthers

/** Its unit of systemd. Sources: cri-o contrib/systemd/crio.service, moby contrib/init/systemd/docker.service, containerd containerd.service */
export function runtimeUnit(runtimeVersion: string | undefined): 'containerd' | 'crio' | 'docker' {
  if (isCrio(runtimeVersion)) return 'crio'
  return runtimeVersion?.startsWith('docker:') === true ? 'docker' : 'containerd'
}

export const isCrio = (runtimeVersion: string | undefined): boolean =>
  runtimeVersion?.startsWith('cri-o://') === true
