/**
 * Disk space of unpacked image layers, as multiples of the sizes that the CRI and `node.status.images` list. On containerd these sizes
 * are packed layers, and a layer that images share counts for each of them.
 *
 * Source: Zhao et al., Large-Scale Analysis of the Docker Hub Dataset, IEEE CLUSTER 2019: 167 TB unpacked from 47 TB, a layer 2.6 in the median.
 */

/** The images of a node unpack to at most this multiple of the sum of their listed sizes. A single odd layer can exceed it. */
export const mostUnpacking = 3.5

/** Unpacked layers take at least this multiple of their packed size. */
export const leastUnpacking = 0.9
