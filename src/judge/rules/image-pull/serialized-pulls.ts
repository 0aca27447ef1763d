import { isLinux, kubeletSetting, line, lines, nodeRule } from '#judge/rule.ts'

/** Enough pulls that a slow pull does not delay the others, and few enough for any disk. */
const soundParallelPulls = 5

export const serializedPulls = nodeRule({
  id: 'serialized-pulls',
  family: 'image-pull',
  severity: 'low',
  cause: kubeletSetting('serializeImagePulls'),
  needs: ['configuration'],
  title: 'The kubelet pulls one image at a time',
  why: 'One large image, or one registry that does not answer, holds up every other pull of the node: after a GC that deleted much, after a drain of a neighbour, and for the pods that the node itself needs.',
  fix: 'Set serializeImagePulls: false, as EKS images do, and maxParallelImagePulls (kubelet 1.27 and later) where the disk must be spared.',
  sources: [
    'pkg/kubelet/images/puller.go newSerialImagePuller',
    'pkg/kubelet/apis/config/v1beta1/defaults.go',
    'awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go',
  ],
  appliesTo: isLinux,

  *judge({ configuration: { serializeImagePulls, maxParallelImagePulls } }) {
    if (serializeImagePulls === undefined)
      yield { unknown: 'configz: serializeImagePulls is absent, and the kubelet always shows it' }
    // Parallel pulls with a maximum of 1 are serial pulls.
    const isOneAtATime = serializeImagePulls === false && maxParallelImagePulls === 1
    if (!serializeImagePulls && !isOneAtATime) return
    yield {
      consequence:
        'When several pods of this node need images, each pull waits for all pulls that were requested before it.',
      evidence: lines(
        line('configz', 'serializeImagePulls', serializeImagePulls),
        isOneAtATime && line('configz', 'maxParallelImagePulls', '1'),
      ),
      fix: {
        config: {
          serializeImagePulls: false,
          ...(isOneAtATime && { maxParallelImagePulls: soundParallelPulls }),
        },
      },
    }
  },
})
