import { describe, expect, it } from 'vitest'
import { byAge, isOneMinor, type Release, releaseOf } from '#facts/eks/node-identity.ts'

const release = (osImage: string, minor: number | null = 34): Release => ({
  image: osImage,
  osImage,
  minor,
})

describe('byAge', () => {
  it.each<[Release, Release, number]>([
    [release('Amazon Linux 2023.9.20251117'), release('Amazon Linux 2023.9.20251208'), -1],
    [release('Amazon Linux 2023.9.20251117'), release('Amazon Linux 2023.10.20251101'), -1],
    [
      release('Bottlerocket OS 1.9.2 (aws-k8s-1.34)'),
      release('Bottlerocket OS 1.50.0 (aws-k8s-1.34)'),
      -1,
    ],
    [release('Amazon Linux 2', 31), release('Amazon Linux 2', 29), 1],
    [release('Amazon Linux 2023.9.20251208', 33), release('Amazon Linux 2023.9.20251117', 34), -1],
    [release('Amazon Linux 2'), release('Amazon Linux 2'), 0],
    [release('', null), release('x'), 0],
  ])('%j and %j', (a, b, sign) => {
    expect(Math.sign(byAge(a, b))).toBe(sign)
    expect(Math.sign(byAge(b, a)) + sign).toBe(0)
  })
})

it('takes the AMI for the image where the node has its id', () => {
  const nodeInfo = { osImage: 'Amazon Linux 2' }
  expect(releaseOf({ status: { nodeInfo } }, 'v1.31.2')).toEqual(release('Amazon Linux 2', 31))
  const labels = { 'eks.amazonaws.com/nodegroup-image': 'ami-1' }
  expect(releaseOf({ metadata: { labels }, status: { nodeInfo } }, null)).toEqual({
    image: 'ami-1',
    osImage: 'Amazon Linux 2',
    minor: null,
  })
})

it('tells one minor from several', () => {
  expect(isOneMinor([release('a'), release('b')])).toBe(true)
  expect(isOneMinor([release('a', 33), release('a')])).toBe(false)
})
