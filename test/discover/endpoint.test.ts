import { describe, expect, it } from 'vitest'
import { targetAt } from '#discover/discover.ts'
import { defaultPolicy } from '#model/policy.ts'

const place = { region: 'eu-west-1', roleArn: null, externalId: null }
const target = (endpoint: string) =>
  targetAt(
    {
      kind: 'Cluster',
      cluster: 'prod',
      eks: { name: 'prod', status: 'ACTIVE', endpoint, certificateAuthority: { data: 'AAAA' } },
    },
    place,
    defaultPolicy,
  )

describe('the endpoint that EKS names', () => {
  it('is used when it is https', () => {
    expect(target('https://a.eks.amazonaws.com').endpoint?.server).toBe(
      'https://a.eks.amazonaws.com',
    )
  })

  it.each(['http://a.eks.amazonaws.com', 'http://127.0.0.1:8001', 'ftp://a.eks.amazonaws.com'])(
    'is not used, and gets no token, when it is %s',
    endpoint => {
      expect(target(endpoint).endpoint).toBeNull()
    },
  )
})
