import { describe, expect, it } from 'vitest'
import { unpinnedSandboxImage } from '#judge/rules/image-gc/unpinned-sandbox-image.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { state } from '#test/rule-outcome.ts'

const pause = '602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10'

const node = (pinned: boolean) => ({
  runtime: { images: [{ id: 'sha256:ed210e3e', repoTags: [pause], repoDigests: [], pinned }] },
  host: { containerd: { sandboxImage: pause } },
})

itJudgesExamples(unpinnedSandboxImage, { bad: node(false), good: node(true) })

describe('unpinned-sandbox-image', () => {
  const pause = 'localhost/kubernetes/pause'
  const node = (image: object): NodeExample => ({
    runtime: { images: [image] },
    host: { containerd: { sandboxImage: pause } },
  })

  const byDigest = (digest: string, pinned: boolean): NodeExample => ({
    runtime: {
      images: [{ repoTags: [`${pause}:3.10`], repoDigests: [`${pause}@sha256:abc`], pinned }],
    },
    host: { containerd: { sandboxImage: `${pause}:3.10@${digest}` } },
  })

  it.each<[string, NodeExample, string]>([
    ['pinned', node({ repoTags: [pause], pinned: true }), 'pass'],
    ['not pinned', node({ repoTags: [pause], pinned: false }), 'fail'],
    ['pinned left out, as protobuf does with false', node({ repoTags: [pause] }), 'fail'],
    ['known by its latest tag', node({ repoTags: [`${pause}:latest`], pinned: false }), 'fail'],
    ['named by a tag and a digest', byDigest('sha256:abc', true), 'pass'],
    ['named by a tag and a digest, not pinned', byDigest('sha256:abc', false), 'fail'],
    ['named by a tag and another digest', byDigest('sha256:def', true), 'unknown'],
    ['not there', node({ repoTags: ['other'] }), 'unknown'],
    ['no name', { runtime: { images: [] }, host: {} }, 'unknown'],
    ['not read', {}, 'unknown'],
  ])('%s: %s', (_, example, expected) => {
    expect(state(unpinnedSandboxImage, example)).toBe(expected)
  })
})
