import { expect, it } from 'vitest'
import { chunkSignature, sha256Hex, signature } from '#lab/sigv4.ts'

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
  const scope = {
    accessKeyId: 'AKIDEXAMPLE',
    date: '20261120',
    region: 'eu-west-1',
    service: 'sts',
  }
  expect(signature(request, scope, 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')).toBe(expected)
})

// The example of the Amazon S3 API reference: 65 KiB of the letter a in chunks of 64 KiB.
it('signs chunks as AWS does, each from the one before', () => {
  const scope = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    date: '20130524',
    region: 'us-east-1',
    service: 's3',
  }
  let previous = '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9'
  for (const [length, expected] of [
    [65_536, 'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648'],
    [1024, '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497'],
    [0, 'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9'],
  ] as const) {
    const chunk = Buffer.alloc(length, 'a')
    previous = chunkSignature(
      chunk,
      previous,
      '20130524T000000Z',
      scope,
      'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    )
    expect(previous).toBe(expected)
  }
})
