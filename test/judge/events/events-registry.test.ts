import { describe, expect, it } from 'vitest'
import { registryOf } from '#judge/events/events.ts'

describe('registries of images', () => {
  it.each([
    ['redis', 'docker.io'],
    ['bitnami/redis:7', 'docker.io'],
    ['docker.io/library/redis', 'docker.io'],
    ['index.docker.io/library/redis', 'docker.io'],
    ['localhost/kubernetes/pause', 'localhost'],
    ['registry:5000/app', 'registry:5000'],
    [
      '602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5',
      '602401143452.dkr.ecr.us-east-1.amazonaws.com',
    ],
    ['public.ecr.aws/docker/library/redis', 'public.ecr.aws'],
    ['docker.pkg.github.com/a/b/c:1', 'docker.pkg.github.com'],
  ])('%s is pulled from %s', (image, registry) => {
    expect(registryOf(image)).toBe(registry)
  })
})
