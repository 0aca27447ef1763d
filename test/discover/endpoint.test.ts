/** Where a token is sent: to the endpoint that EKS names, whatever a record in the bucket says. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { targetAt } from '#discover/discover.ts'
import type { ClusterRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'

const place = { region: 'eu-west-1', roleArn: null, externalId: null }
const certificateAuthority = { data: Buffer.from('of EKS').toString('base64') }

/** EKS, with one cluster. */
async function eksNaming(endpoint: string, status = 'ACTIVE') {
  const server = createServer((request, response) => {
    const isThere = request.url === '/clusters/prod'
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        isThere ? { cluster: { name: 'prod', status, endpoint, certificateAuthority } } : {},
      ),
    )
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  vi.stubEnv('AWS_ENDPOINT_URL_EKS', `http://127.0.0.1:${port}`)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1')
  onTestFinished(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  })
}

const recordOf = (eks: ClusterRecord['eks']): ClusterRecord => ({
  kind: 'Cluster',
  cluster: 'prod',
  eks,
})
const target = (record: ClusterRecord) =>
  targetAt(record, place, defaultPolicy, new AbortController().signal)
const real = 'https://a.eks.amazonaws.com'
const forged = {
  ...{ name: 'prod', status: 'ACTIVE', endpoint: 'https://evil.test' },
  certificateAuthority: { data: Buffer.from('of somebody else').toString('base64') },
}

describe('the way to a cluster', () => {
  it('leads to the endpoint of EKS with its certificate authority, not to those of a forged record', async () => {
    await eksNaming(real)
    const { endpoint, errors, record } = await target(recordOf(forged))
    expect(endpoint).toMatchObject({ server: real, ca: Buffer.from('of EKS') })
    expect({ errors, record }).toEqual({ errors: [], record: recordOf(forged) })
  })

  it('is none to a cluster that EKS does not have, and says why', async () => {
    await eksNaming(real)
    const { endpoint, kubelet, errors } = await target(recordOf({ ...forged, name: 'evil' }))
    expect([endpoint, kubelet]).toEqual([null, null])
    expect(errors).toMatchObject([{ what: 'cluster' }])
  })

  it('is none to a cluster that EKS does not call ACTIVE any more', async () => {
    await eksNaming(real, 'DELETING')
    expect(await target(recordOf(forged))).toMatchObject({
      endpoint: null,
      errors: [{ message: expect.stringContaining('DELETING') }],
    })
  })

  it('is none to a record without a name', async () => {
    expect(await target(recordOf(null))).toMatchObject({ endpoint: null, errors: [] })
  })

  it.each(['http://a.eks.amazonaws.com', 'http://127.0.0.1:8001', 'ftp://a.eks.amazonaws.com'])(
    'is none, and no token is sent, when EKS names %s',
    async endpoint => {
      await eksNaming(endpoint)
      expect((await target(recordOf(forged))).endpoint).toBeNull()
    },
  )
})
