import { expect, it } from 'vitest'
import { sha256Hex, signature } from '#lab/sigv4.ts'

// An EKS token's presigned URL for the key and secret of AWS's documentation; botocore signs it alike.
it.each([
  [null, '6a037550a1f1bef58a1b135ece2c39b685e76810fee1ec8891d87950674e4fa2'],
  ['TOKEN/with+chars==', 'c8bd1b23ba785a0e0a91e74a60c1b380755e21e61a191bfb484029713924ef9b'],
])('signs as AWS does, session token %s', (sessionToken, expected) => {
  const query: [string, string][] = [
    ['Action', 'GetCallerIdentity'],
    ['Version', '2011-06-15'],
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', 'AKIDEXAMPLE/20261120/eu-west-1/sts/aws4_request'],
    ['X-Amz-Date', '20261120T000000Z'],
    ['X-Amz-Expires', '60'],
    ['X-Amz-SignedHeaders', 'host;x-k8s-aws-id'],
  ]
  if (sessionToken !== null) query.push(['X-Amz-Security-Token', sessionToken])
  const request = {
    method: 'GET',
    path: '/',
    query,
    headers: [
      ['host', 'sts.eu-west-1.amazonaws.com'],
      ['x-k8s-aws-id', 'my-cluster'],
    ] as [string, string][],
    payloadSha256: sha256Hex(''),
    amzDate: '20261120T000000Z',
  }
  const scope = { accessKeyId: 'AKIDEXAMPLE', date: '20261120', region: 'eu-west-1', service: 'sts' }
  expect(signature(request, scope, 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')).toBe(expected)
})
