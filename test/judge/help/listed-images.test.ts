import { expect, it } from 'vitest'
import { mebibyte } from '#base/units.ts'
import { type ListedSubject, unusedImages } from '#judge/help/listed-images.ts'

const app = (build: number) => `registry.example.com/app:${build}`
const nodeWith = (names: string[]): ListedSubject['node'] =>
  ({
    status: { images: names.map(name => ({ names: [name], sizeBytes: 100 * mebibyte })) },
  }) as ListedSubject['node']
const podOf = (image: string, imageID = '') => ({
  spec: { containers: [{ name: 'app', image }] },
  status: { containerStatuses: [{ name: 'app', image, imageID }] },
})
const five = [1, 2, 3, 4, 5].map(app)

it('counts images that no pod names, with the repository that has most of them', () => {
  const pods = [podOf(app(5))]
  expect(unusedImages({ node: nodeWith(five), pods })).toBe(
    'no pod uses 4 of the 5 images that the node lists (400.0 MiB in the list), 4 of them other builds of registry.example.com/app',
  )
})

it('knows images of pods by digest, short names, and as the image of sandboxes', () => {
  const digest = `registry.example.com/app@sha256:${'a'.repeat(64)}`
  const node = nodeWith([digest, 'docker.io/library/nginx:1', 'x.io/eks/pause:3.10', ...five])
  const pods = [
    podOf('registry.example.com/app:latest', `docker-pullable://${digest}`),
    podOf('nginx:1'),
  ]
  expect(unusedImages({ node, pods })).toContain('5 of the 8 images')
})

it.each([
  ['no pod was read', { node: nodeWith(five), pods: [] }],
  ['most are in use', { node: nodeWith(five), pods: five.slice(0, 3).map(image => podOf(image)) }],
  [
    'the node showed its images',
    { node: nodeWith(five), pods: [podOf(app(5))], runtime: { images: [] } },
  ],
])('says nothing where %s', (_, subject) => {
  expect(unusedImages(subject as ListedSubject)).toBeNull()
})
