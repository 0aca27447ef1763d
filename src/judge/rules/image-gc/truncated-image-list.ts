import { line, lines, nodeRule } from '#judge/rule.ts'
import { kubeletSetting } from '#judge/subject/settings.ts'

/** Source: pkg/kubelet/apis/config/v1beta1/defaults.go NodeStatusMaxImages. */
const defaultMost = 50

export const truncatedImageList = nodeRule({
  id: 'truncated-image-list',
  family: 'image-gc',
  severity: 'info',
  cause: kubeletSetting('nodeStatusMaxImages'),
  needs: ['configuration'],
  title: "The node's list of images is cut",
  why: 'The Node object lists only the largest images, up to nodeStatusMaxImages. The scheduler does not see the others when it looks for a node that has an image, and the prediction of image GC is incomplete.',
  fix: 'Set nodeStatusMaxImages higher, or to -1 for all; on large clusters mind the size of the Node objects.',
  sources: ['pkg/kubelet/nodestatus/setters.go Images'],

  *judge({ configuration, node, runtime }) {
    const most = configuration.nodeStatusMaxImages ?? defaultMost
    if (most < 0) return
    const listed = node.status?.images?.length ?? 0
    const present = runtime?.images?.length ?? null
    if (listed < most || (present !== null && present <= listed)) return
    yield {
      // A full list might still contain every image of the node.
      confidence: present === null ? 'possible' : 'certain',
      consequence: `The Node object names ${listed} images and no more fit${present === null ? '; how many there are it does not tell' : `, of ${present} on the node`}: the smaller ones are unseen by the scheduler, and by this audit.`,
      evidence: lines(
        line(
          'configz',
          'nodeStatusMaxImages',
          configuration.nodeStatusMaxImages ?? `absent (default ${defaultMost})`,
        ),
        line('node', 'node status.images', listed),
        present !== null && line('runtime', 'images of the runtime', present),
      ),
      fix: { config: { nodeStatusMaxImages: -1 } },
    }
  },
})
