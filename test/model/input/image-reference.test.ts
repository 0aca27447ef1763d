import { describe, expect, it } from 'vitest'
import { canonicalName, familiarName, repositoryOf } from '#model/input/image-reference.ts'

describe('names of images', () => {
  it.each([
    ['redis', 'docker.io/library/redis:latest', 'redis:latest'],
    ['bitnami/redis:7', 'docker.io/bitnami/redis:7', 'bitnami/redis:7'],
    ['index.docker.io/library/redis:7', 'docker.io/library/redis:7', 'redis:7'],
    ['docker.io/redis:7', 'docker.io/library/redis:7', 'redis:7'],
    ['index.docker.io/a/b', 'docker.io/a/b:latest', 'a/b:latest'],
    [
      'registry-1.docker.io/redis',
      'registry-1.docker.io/redis:latest',
      'registry-1.docker.io/redis:latest',
    ],
    ['localhost/a', 'localhost/a:latest', 'localhost/a:latest'],
    ['registry:5000/app', 'registry:5000/app:latest', 'registry:5000/app:latest'],
    [
      'registry.k8s.io/pause:3.10@sha256:ab',
      'registry.k8s.io/pause@sha256:ab',
      'registry.k8s.io/pause@sha256:ab',
    ],
    ['redis@sha256:ab', 'docker.io/library/redis@sha256:ab', 'redis@sha256:ab'],
  ])('%s is %s', (image, canonical, familiar) => {
    expect(canonicalName(image)).toBe(canonical)
    expect(familiarName(image)).toBe(familiar)
  })
})

it.each([
  ['docker.io/library/redis:7', 'docker.io/library/redis'],
  ['r.io:5000/web', 'r.io:5000/web'],
  ['r.io:5000/web:1@sha256:ab', 'r.io:5000/web'],
  ['redis:7', 'redis'],
])('the repository of %s is %s', (name, repository) => {
  expect(repositoryOf(name)).toBe(repository)
})
