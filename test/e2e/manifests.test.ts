/** The manifests of docs/run by a real API server. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { inClusterEndpoint } from '#clients/kubernetes/kubeconfig.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { kubeconfigFleet } from '#pipeline/audit/fleet.ts'
import { hasApiServer, startApiServer } from '#test/api-server.ts'
import { temporaryFolder } from '#test/cli.ts'
import { auditRecords } from '#test/lab-audit.ts'

const folder = 'docs/run/kubernetes'
const overlays = ['in-cluster', 'eks']

it.skipIf(!hasApiServer)(
  'are taken by a real API server, and their service account may read all that an audit reads',
  { timeout: 300_000 },
  async () => {
    const server = await startApiServer()
    for (const overlay of overlays) {
      const made = await server.kubectl(['apply', '-k', join(folder, overlay)])
      expect(made).toContain('cronjob.batch/highwater')
      // Admission looks at pods when somebody makes them: here, as the CronJob would.
      const { template } = JSON.parse(
        await server.kubectl(['-n', 'highwater', 'get', 'cronjob', 'highwater', '-o', 'json']),
      ).spec.jobTemplate.spec
      const pod = join(temporaryFolder(), 'pod.json')
      writeFileSync(
        pod,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'p', namespace: 'highwater' },
          spec: template.spec,
        }),
      )
      expect(await server.kubectl(['create', '--dry-run=server', '-f', pod])).toContain(
        'pod/p created',
      )
    }
    await server.kubectl(['apply', '-k', join(folder, 'in-cluster')])
    const root = temporaryFolder()
    const secrets = join(root, 'var/run/secrets/kubernetes.io/serviceaccount')
    mkdirSync(secrets, { recursive: true })
    writeFileSync(
      join(secrets, 'token'),
      (await server.kubectl(['-n', 'highwater', 'create', 'token', 'highwater'])).trim(),
    )
    writeFileSync(join(secrets, 'ca.crt'), server.ca)
    vi.stubEnv('KUBERNETES_SERVICE_HOST', server.host)
    vi.stubEnv('KUBERNETES_SERVICE_PORT', String(server.port))
    const live = {
      policy: defaultPolicy,
      selection: everything,
      signal: new AbortController().signal,
    }
    const endpoint = await inClusterEndpoint('around', root)
    vi.unstubAllEnvs()
    const { document } = await auditRecords(kubeconfigFleet([endpoint], live))
    // Karpenter's and Auto Mode's kinds are not installed here.
    expect(document.notAudited).toEqual([])
    expect(document.clusters[0]?.coverage.clusterGc).toMatchObject({
      lists: expect.any(Number),
      read: document.clusters[0]?.coverage.clusterGc?.lists,
    })
    await expect(
      server.kubectl([
        'auth',
        'can-i',
        'list',
        'secrets',
        '--as=system:serviceaccount:highwater:highwater',
      ]),
    ).rejects.toThrow()
    await expect(
      server.kubectl([
        'auth',
        'can-i',
        'delete',
        'pods',
        '--as=system:serviceaccount:highwater:highwater',
      ]),
    ).rejects.toThrow()
  },
)
