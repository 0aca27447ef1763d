/** Where credentials come from, as far as it is not a profile: the agent of EKS Pod Identity. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { credentialSource } from '#clients/aws/credentials.ts'
import { temporaryFolder } from '#test/cli.ts'

describe('in a pod with EKS Pod Identity', () => {
  it('the agent is asked with the pod’s own token, and its keys are taken', async () => {
    const asked: (string | undefined)[] = []
    const agent = createServer(({ headers }, response) => {
      asked.push(headers.authorization)
      response.setHeader('content-type', 'application/json')
      const Expiration = new Date(Date.now() + 3_600_000).toISOString()
      response.end(
        JSON.stringify({
          AccessKeyId: 'key',
          SecretAccessKey: 'secret',
          Token: 'session',
          Expiration,
        }),
      )
    })
    await new Promise<void>(resolve => agent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      agent.close()
      vi.unstubAllEnvs()
    })
    const tokenFile = join(temporaryFolder(), 'eks-pod-identity-token')
    writeFileSync(tokenFile, 'of-the-pod')
    for (const name of Object.keys(process.env)) if (/^AWS_/.test(name)) vi.stubEnv(name, undefined)
    vi.stubEnv('HOME', temporaryFolder())
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
    // Source: EKS user guide, Pod Identity: what the agent's webhook puts into a pod.
    vi.stubEnv(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      `http://127.0.0.1:${(agent.address() as AddressInfo).port}/v1/credentials`,
    )
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', tokenFile)
    const credentials = await credentialSource(null, null, 'us-east-1')()
    expect(credentials).toMatchObject({
      accessKeyId: 'key',
      secretAccessKey: 'secret',
      sessionToken: 'session',
    })
    expect(asked).toEqual(['of-the-pod'])
  })
})
