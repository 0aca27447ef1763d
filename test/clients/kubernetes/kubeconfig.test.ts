import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { describe, expect, it, vi } from 'vitest'
import { kubeconfigEndpoints } from '#clients/kubernetes/kubeconfig.ts'
import { temporaryFolder } from '#test/cli.ts'
import { kubeconfigEndpoint } from '#test/kubeconfig-endpoint.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

function kubeconfig(user: Record<string, unknown>, cluster: Record<string, unknown> = {}): string {
  const path = join(temporaryFolder(), 'config')
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: {
          server: 'https://127.0.0.1:6443',
          'certificate-authority-data': base64('the CA'),
          ...cluster,
        },
      },
    ],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'one', context: { cluster: 'c', user: 'u' } },
      { name: 'lost', context: { cluster: 'nowhere', user: 'u' } },
    ],
    'current-context': 'one',
  }
  writeFileSync(path, JSON.stringify(document))
  return path
}

it('merges the files of KUBECONFIG as kubectl does: the first that names something wins', async () => {
  const first = kubeconfig({ token: 'first' })
  const second = kubeconfig({ token: 'second' }, { server: 'https://127.0.0.2:6443' })
  vi.stubEnv('KUBECONFIG', [first, '/absent', second].join(delimiter))
  try {
    const { endpoint } = await kubeconfigEndpoint(null, 'one')
    expect(endpoint.server).toBe('https://127.0.0.1:6443')
  } finally {
    vi.unstubAllEnvs()
  }
})

describe('a broken kubeconfig shows no credentials', () => {
  const head = 'users:\n- name: u\n  user:\n    token: SuperSecretWord\n'
  it.each(['    token: OtherWord\n', '    expires: "OtherWord\n', '   x\n'])(
    'that goes on with %j',
    async more => {
      const path = join(temporaryFolder(), 'config')
      writeFileSync(path, head + more)
      const refusal = await kubeconfigEndpoints(path, []).catch(String)
      expect(refusal).toMatch(/cannot be read: .+$/)
      expect(refusal).not.toMatch(/Word/)
    },
  )

  it('whose plugin fails', async () => {
    const exec = {
      ...{ apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' },
      ...{ command: 'sh', args: ['-c', 'echo "no region, token=SuperSecretWord" >&2; exit 1'] },
    }
    const refusal = await kubeconfigEndpoints(kubeconfig({ exec }), []).catch(String)
    expect(refusal).toMatch(/could not be read: no region, token=\(removed\)/)
  })
})

describe('the contexts of a kubeconfig', () => {
  const many = (count: number) => {
    const path = kubeconfig({ token: 'abc' })
    const contexts = Array.from({ length: count }, (_, index) => ({
      name: `n${index}`,
      context: { cluster: 'c', user: 'u' },
    }))
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), contexts }))
    return path
  }

  it('are read from a file that is parsed once', async () => {
    const load = vi.spyOn(KubeConfig.prototype, 'loadFromString')
    try {
      const endpoints = await kubeconfigEndpoints(many(50), ['*'])
      expect(endpoints.map(({ context }) => context)).toContain('n49')
      expect(load).toHaveBeenCalledTimes(1)
    } finally {
      load.mockRestore()
    }
  })

  it('are at most 1,000', async () => {
    await expect(kubeconfigEndpoints(many(1_001), ['n*'])).rejects.toThrow(
      'has 1001 such contexts: choose at most 1000 by --context',
    )
  })
})

describe('kubeconfigEndpoint', () => {
  it('takes the current context, its server, its CA and its token', async () => {
    const { context, endpoint } = await kubeconfigEndpoint(kubeconfig({ token: 'abc' }), null)
    expect({ context, server: endpoint.server, ca: String(endpoint.ca) }).toEqual({
      context: 'one',
      server: 'https://127.0.0.1:6443',
      ca: 'the CA',
    })
    expect(await endpoint.authorization(false)).toBe('Bearer abc')
    expect(endpoint.skipTlsVerification).toBe(false)
  })

  it('takes a client certificate', async () => {
    const user = {
      'client-certificate-data': base64('the certificate'),
      'client-key-data': base64('the key'),
    }
    const { endpoint } = await kubeconfigEndpoint(kubeconfig(user), 'one')
    expect(String(endpoint.clientCertificate?.cert)).toBe('the certificate')
    expect(String(endpoint.clientCertificate?.key)).toBe('the key')
    expect(await endpoint.authorization(false)).toBeNull()
  })

  it('runs an exec plugin for a token', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'from-plugin' },
    }
    const exec = {
      apiVersion: credential.apiVersion,
      command: 'echo',
      args: [JSON.stringify(credential)],
      interactiveMode: 'Never',
    }
    const { endpoint } = await kubeconfigEndpoint(kubeconfig({ exec }), null)
    expect(await endpoint.authorization(false)).toBe('Bearer from-plugin')
  })

  it('says when the plugin fails, and what to try', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'no-such-plugin',
      interactiveMode: 'Never',
    }
    await expect(kubeconfigEndpoint(kubeconfig({ exec }), null)).rejects.toThrow(
      /context "one" could not be read.*kubectl/s,
    )
  })

  it('goes by the names that the file gives for TLS', async () => {
    const { endpoint } = await kubeconfigEndpoint(
      kubeconfig(
        { token: 'a' },
        { 'tls-server-name': 'api.internal', 'insecure-skip-tls-verify': true },
      ),
      null,
    )
    expect(endpoint).toMatchObject({ serverName: 'api.internal', skipTlsVerification: true })
  })

  it.each([
    ['staging', /has no context "staging"\. It has: one, lost/],
    ['lost', /names a cluster that the file does not describe/],
  ])('refuses context %s', async (context, message) => {
    await expect(kubeconfigEndpoint(kubeconfig({ token: 'a' }), context)).rejects.toThrow(message)
  })

  it('refuses a map with more keys than a kubeconfig has, also in the default file', async () => {
    const home = temporaryFolder()
    const path = join(home, '.kube', 'config')
    mkdirSync(dirname(path))
    writeFileSync(path, Array.from({ length: 1_001 }, (_, index) => `k${index}: 1\n`).join(''))
    await expect(kubeconfigEndpoint(path, null)).rejects.toThrow('it has a map of 1001 keys')
    vi.stubEnv('KUBECONFIG', '')
    vi.stubEnv('HOME', home)
    await expect(kubeconfigEndpoint(null, null)).rejects.toThrow('it has a map of 1001 keys')
    vi.unstubAllEnvs()
  })

  it('refuses equal keys, for which the library takes quadratic time', async () => {
    const path = join(temporaryFolder(), 'config')
    writeFileSync(path, 'k: 1\n'.repeat(1_001))
    await expect(kubeconfigEndpoint(path, null)).rejects.toThrow('a key stands twice')
  })

  it('gives the library plain JSON, without tags, aliases and equal keys', async () => {
    const path = kubeconfig({ token: 'abc' })
    const tags = 'more: !!omap [a: &x 1, b: *x]\nset: !!set {a, b}\n'
    const load = vi.spyOn(KubeConfig.prototype, 'loadFromString')
    const text = JSON.stringify(JSON.parse(readFileSync(path, 'utf8')), null, 2)
    writeFileSync(path, `${text.slice(0, -2)},\n"added": { ${tags.replace('\n', ', ')} } }`)
    try {
      const { endpoint } = await kubeconfigEndpoint(path, null)
      expect(await endpoint.authorization(false)).toBe('Bearer abc')
      const [[given] = []] = load.mock.calls
      expect(given).toBe(JSON.stringify(JSON.parse(given ?? '')))
    } finally {
      load.mockRestore()
    }
  })

  it('finds the files of a kubeconfig beside it', async () => {
    const path = kubeconfig(
      { token: 'a' },
      { 'certificate-authority-data': undefined, 'certificate-authority': 'ca.pem' },
    )
    writeFileSync(join(dirname(path), 'ca.pem'), 'the CA beside')
    const { endpoint } = await kubeconfigEndpoint(path, null)
    expect(String(endpoint.ca)).toBe('the CA beside')
  })

  it('refuses a file that is no kubeconfig', async () => {
    const path = join(temporaryFolder(), 'config')
    writeFileSync(path, 'contexts: [')
    await expect(kubeconfigEndpoint(path, null)).rejects.toThrow(`${path} cannot be read`)
  })
})
