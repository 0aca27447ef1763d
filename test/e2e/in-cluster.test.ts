/** The cluster in whose pod highwater runs, by the pod's own service account. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { inClusterEndpoint } from '#clients/kubernetes/kubeconfig.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { kubeconfigFleet } from '#pipeline/audit/fleet.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { auditRecords, labOf } from '#test/lab-audit.ts'

vi.setConfig({ testTimeout: 60_000 })

/** What a kubelet puts into a pod, and into its environment. */
async function pod() {
  const lab = await labOf([recorded])
  const { clusters, users } = parse(lab.kubeconfig)
  const server = new URL(clusters[0].cluster.server)
  Object.assign(process.env, {
    KUBERNETES_SERVICE_HOST: server.hostname,
    KUBERNETES_SERVICE_PORT: server.port,
  })
  const root = temporaryFolder()
  const folder = join(root, 'var/run/secrets/kubernetes.io/serviceaccount')
  mkdirSync(folder, { recursive: true })
  const token = join(folder, 'token')
  writeFileSync(token, users[0].user.token)
  writeFileSync(
    join(folder, 'ca.crt'),
    Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64'),
  )
  return { root, token }
}

describe('inside a cluster', () => {
  it('audits the cluster around, under the name that it was given', async () => {
    const { root } = await pod()
    const endpoint = await inClusterEndpoint('around', root)
    const live = {
      policy: defaultPolicy,
      selection: everything,
      signal: new AbortController().signal,
    }
    const { document } = await auditRecords(kubeconfigFleet([endpoint], live))
    expect(document.clusters).toMatchObject([{ name: 'around', coverage: { nodes: 2, read: 2 } }])
    expect(document.findings.length).toBeGreaterThan(0)
  })

  it('takes the token that the kubelet has renewed, and checks the server by the pod’s own CA', async () => {
    const { root, token } = await pod()
    const { endpoint } = await inClusterEndpoint('around', root)
    expect(String(endpoint.ca)).toContain('BEGIN CERTIFICATE')
    expect(endpoint.skipTlsVerification).toBe(false)
    writeFileSync(token, 'renewed')
    // The file is read again after a minute.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    onTestFinished(() => void vi.useRealTimers())
    expect(await endpoint.authorization(true)).toBe('Bearer renewed')
  })

  it('says what a pod lacks', async () => {
    const { root, token } = await pod()
    rmSync(token)
    await expect(inClusterEndpoint('around', root)).rejects.toThrow(
      /service account cannot be used.*automountServiceAccountToken/,
    )
  })

  it.each([
    [['--in-cluster', 'here'], 'this is no pod'],
    [
      ['--in-cluster', 'here', '--context', 'there'],
      "'--context <name>' cannot be used with option '--in-cluster",
    ],
    [
      ['--in-cluster', 'here', '--tag', 'a=b'],
      "'--in-cluster <name>' cannot be used with option '--tag",
    ],
    [
      ['--in-cluster', 'here', '--cluster', 'b'],
      "'--in-cluster <name>' cannot be used with option '--cluster",
    ],
    [
      ['--in-cluster', 'here', '--snapshot', 'f'],
      "'--snapshot <file>' cannot be used with option '--in-cluster",
    ],
    [['--in-cluster', '../x'], 'the first a letter or a digit'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await inProcess(['audit', ...args])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })
})
