import { endedRegistries } from '#facts/kubernetes/registries.ts'
import { imagesOf } from '#judge/images.ts'
import { nodeRule } from '#judge/rule.ts'
import { bounded, byText, counted } from '#judge/text.ts'

const shown = 10
const pod = (image: string) => ({ metadata: { namespace: 'shop', name: 'web' }, spec: { containers: [{ name: 'web', image }] } })

export const deadRegistry = nodeRule({
  id: 'dead-registry',
  family: 'image-pull',
  severity: 'medium',
  needs: ['pods'],
  docs: {
    title: 'Pods name images in a registry that has ended',
    why: 'Such a pod runs only where its image is already on the node. Once image GC or eviction deletes it, or the pod moves, the image cannot be pulled again.',
    fix: 'Name the successor in the pod: ghcr.io instead of docker.pkg.github.com, registry.k8s.io instead of k8s.gcr.io; or copy the image into a registry of your own.',
    sources: [
      'github.blog/changelog/2025-01-23-legacy-docker-registry-closing-down',
      'containerd/containerd#3291',
      'kubernetes.io/blog/2023/02/06/k8s-gcr-io-freeze-announcement',
    ],
  },
  examples: { bad: { pods: [pod('docker.pkg.github.com/shop/web/web:1')] }, good: { pods: [pod('ghcr.io/shop/web:1')] } },

  *judge({ pods }) {
    const images = imagesOf(pods)
    for (const [registry, { successor, state, isGone }] of Object.entries(endedRegistries)) {
      const dead = images.filter(image => image.registry === registry)
      if (dead.length === 0) continue
      const names = [...new Set(dead.map(({ image }) => image))].toSorted(byText)
      yield {
        severity: isGone ? 'high' : 'medium',
        consequence: `${registry} ${state}. Once the kubelet deletes ${names.length === 1 ? bounded(names[0] ?? '', 200) : `one of these ${names.length} images`}, a pod that needs it waits in ImagePullBackOff; ${successor} has taken its place.`,
        evidence: names.slice(0, shown).map(name => {
          const users = [...new Set(dead.filter(({ image }) => image === name).map(user => user.pod))].toSorted(byText)
          return {
            what: `image of ${bounded(users[0] ?? '', 200)}${users.length > 1 ? ` and ${counted(users.length - 1, 'more pod')}` : ''}`,
            value: bounded(name),
          }
        }),
      }
    }
  },
})
