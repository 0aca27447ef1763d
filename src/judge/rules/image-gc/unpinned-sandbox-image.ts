import { line, nodeRule, settingIn, shorten } from '#judge/rule.ts'
import { canonicalName } from '#model/input/image-reference.ts'
import { runtimeNames } from '#model/input/inspection.ts'

export const unpinnedSandboxImage = nodeRule({
  id: 'unpinned-sandbox-image',
  family: 'image-gc',
  severity: 'high',
  cause: settingIn('runtime', 'io.cri-containerd.pinned', 'sandbox_image'),
  steps: ['pin-images'],
  needs: ['runtime', 'host'],
  title: 'The sandbox image is not pinned: image GC deletes it',
  why: 'No container uses the pause image, so image GC takes it for unused. The kubelet spares it only where the runtime has it pinned. Once it is gone no pod starts on the node until it is pulled again, which fails where its registry asks for credentials that containerd does not have.',
  fix: 'Take a newer AMI (AL2023 from v20241115 on, Bottlerocket) and replace the node. On a node that must stay: import or pull the image and set its label io.cri-containerd.pinned=pinned.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go imagesInEvictionOrder',
    'awslabs/amazon-eks-ami#1597',
  ],

  images: ({ host }) => [host?.containerd?.sandboxImage ?? ''],

  *judge({ runtime, host }) {
    const name = host.containerd?.sandboxImage ?? ''
    if (name === '' || !runtime.images)
      return yield {
        unknown: 'host and runtime: the sandbox image, or the list of images, was not read',
      }
    const image = runtime.images.find(
      ({ id, ...names }) =>
        id === name ||
        runtimeNames(names).some(known => canonicalName(known) === canonicalName(name)),
    )
    if (!image)
      return yield {
        unknown: `runtime: the sandbox image ${shorten(name)} is not among the images of this node`,
      }
    if (image.pinned === true) return
    yield {
      consequence: `When image GC or eviction next needs space it may delete ${shorten(name)}. Then no new pod starts here until it is ${name.startsWith('localhost/') ? 'imported' : 'pulled'} again.`,
      evidence: [
        line('host', 'containerd sandboxImage', name),
        line('runtime', 'pinned', image.pinned === false ? 'false' : 'absent, which means false'),
      ],
    }
  },
})
