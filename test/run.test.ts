/** The other ways to run it: what is in docs/run is what the code says, and what Kubernetes, Docker and GitHub take. */

import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseQuantity, quantityNumber } from '#base/go/quantity.ts'
import { minuteOf, tickOf } from '#cli/tick.ts'
import { policyRules } from '#facts/kubernetes/rbac.ts'
import { kubernetesRights } from '#pipeline/access/permissions.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { parsePolicy } from '#policy/parse.ts'
import { parseSettings } from '#settings.ts'
import { assetOf } from '#test/api-server.ts'
import { inProcess } from '#test/in-process.ts'
import { instantiate, ofType, parseTemplate } from '#test/template.ts'

const run = promisify(execFile)
const folder = 'docs/run/kubernetes'
const overlays = ['in-cluster', 'eks']

interface Container {
  args: string[]
  env?: { name: string; value?: string }[]
  securityContext: object
  resources: { requests: Record<string, string>; limits: Record<string, string> }
}
interface Manifest {
  kind: string
  metadata: { name: string; namespace?: string }
  data?: Record<string, string>
  spec?: {
    jobTemplate: {
      spec: {
        template: {
          spec: { containers: Container[]; securityContext: object; serviceAccountName: string }
        }
      }
    }
  }
}

const built = async (overlay: string): Promise<Manifest[]> => {
  const { stdout } = await run(assetOf('kubectl') ?? '', ['kustomize', join(folder, overlay)])
  return parseAllDocuments(stdout).map(document => document.toJS())
}
const containerOf = (manifests: Manifest[]): Container => {
  const [container] =
    manifests.find(({ kind }) => kind === 'CronJob')?.spec?.jobTemplate.spec.template.spec
      .containers ?? []
  if (!container) throw new Error('the overlay has no CronJob with a container')
  return container
}

describe('generated', () => {
  it('cluster-role.yaml is what highwater permissions prints for a service account', async () => {
    const { stdout } = await inProcess([
      'permissions',
      '--format',
      'yaml',
      '--service-account',
      'highwater/highwater',
    ])
    const file = readFileSync(`${folder}/in-cluster/cluster-role.yaml`, 'utf8')
    expect(file.replace(/^#.*\n/, '')).toBe(stdout)
    const [role, binding] = parseAllDocuments(stdout).map(document => document.toJS())
    expect(role.rules).toEqual(
      policyRules(kubernetesRights('proxy', 'reader').map(({ right }) => right)),
    )
    expect(binding.subjects).toEqual([
      { kind: 'ServiceAccount', namespace: 'highwater', name: 'highwater' },
    ])
  })

  it('a service account is written with its namespace', async () => {
    const { code, stderr } = await inProcess(['permissions', '--service-account', 'highwater'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('NAMESPACE/NAME') })
  })

  const podStack = () =>
    instantiate(parseTemplate(readFileSync(`${folder}/eks/pod-identity.yaml`, 'utf8')), {
      HomeCluster: 'ops',
      Bucket: 'reports',
    })
  const podRole = () =>
    podStack().resources.Role?.Properties as {
      AssumeRolePolicyDocument: { Statement: unknown[] }
      Policies: {
        PolicyDocument: { Statement: { Action: string[]; Resource: string | string[] }[] }
      }[]
    }

  it('pod-identity.yaml has * only where AWS knows nothing narrower, and writes only what the service writes', () => {
    const statements = podRole().Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    expect(
      statements
        .filter(({ Resource }) => [Resource].flat().includes('*'))
        .flatMap(({ Action }) => Action),
    ).toEqual([
      ...[
        'eks:ListClusters',
        'ec2:DescribeLaunchTemplateVersions',
        'ec2:DescribeVolumes',
        'ec2:DescribeInstances',
      ],
    ])
    const puts = statements
      .filter(({ Action }) => Action.includes('s3:PutObject'))
      .flatMap(({ Resource }) => Resource)
    expect(JSON.stringify(puts)).not.toContain('approvals')
    const places = puts.map(place => String(place).split(':::reports/')[1])
    expect(places).toEqual(['index.html', 'latest/*', 'history/*', 'runs/*', 'remediation/plans/*'])
  })

  it('pod-identity.yaml gives the role to the pods of its own cluster alone, and sends no tags on into the roles that it takes', () => {
    expect(podRole().AssumeRolePolicyDocument.Statement).toMatchObject([
      {
        Principal: { Service: 'pods.eks.amazonaws.com' },
        Condition: {
          StringEquals: { 'aws:SourceAccount': '111122223333' },
          ArnEquals: { 'aws:SourceArn': 'arn:aws:eks:eu-west-1:111122223333:cluster/ops' },
        },
      },
    ])
    const [association] = ofType(podStack(), 'AWS::EKS::PodIdentityAssociation').map(
      ({ Properties }) => Properties,
    )
    expect(association).toMatchObject({
      DisableSessionTags: true,
      Namespace: 'highwater',
      ServiceAccount: 'highwater',
    })
    for (const file of ['base/namespace', 'base/service-account'])
      expect(parse(readFileSync(`${folder}/${file}.yaml`, 'utf8')).metadata.name).toBe('highwater')
  })
})

describe('a run now, as docs/run/README.md makes it', () => {
  const named = async (overlay: string) => {
    const [block = ''] = [
      ...readFileSync('docs/run/README.md', 'utf8').matchAll(/```sh\n([\s\S]*?)```/g),
    ].flatMap(([, text = '']) => (text.includes(`apply -k ${folder}/${overlay} `) ? [text] : []))
    // Bash is not everywhere, and kubectl only says whose name it was given.
    const script = `kubectl() { case "$*" in *'create job'*) for last; do :; done; echo "$last";; esac; }; aws() { :; }\n${block}`
    return (await run('sh', ['-euc', script])).stdout.trim()
  }

  it('gives the Job of the service a name that is its tick', async () => {
    const before = minuteOf(new Date())
    const tick = tickOf(await named('eks'))
    expect(tick?.getTime()).toBeGreaterThanOrEqual(before.getTime())
    expect(tick?.getTime()).toBeLessThanOrEqual(Date.now())
  })

  it('may call it as it likes where the Job’s name says nothing', async () => {
    expect(await named('in-cluster')).toBe('now')
    expect(readFileSync(`${folder}/in-cluster/cron-job.yaml`, 'utf8')).not.toContain('--at')
  })

  it('says how to name a Job to whoever named it otherwise', async () => {
    const { code, stderr } = await inProcess(['tick', '--at=now'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('highwater-$(($(date +%s) / 60))'),
    })
  })
})

describe('the manifests', () => {
  it('name only files that are there, and each of them is used', () => {
    for (const file of globSync(`${folder}/*/kustomization.yaml`)) {
      const { resources, patches = [], configMapGenerator = [] } = parse(readFileSync(file, 'utf8'))
      const named: string[] = [
        ...resources,
        ...patches.map(({ path }: { path: string }) => path),
        ...configMapGenerator.flatMap(({ files = [] }: { files?: string[] }) => files),
      ]
      for (const name of named)
        expect({ name, isThere: existsSync(join(dirname(file), name)) }).toEqual({
          name,
          isThere: true,
        })
      const beside = globSync('*.yaml', { cwd: dirname(file) }).filter(
        name => !['kustomization.yaml', 'pod-identity.yaml'].includes(name),
      )
      expect(beside.filter(name => !named.includes(name))).toEqual([])
    }
  })

  it('carry a policy and settings that are taken', () => {
    const policy = `${folder}/in-cluster/highwater.yaml`
    expect(parsePolicy(readFileSync(policy, 'utf8'), policy, policyTerms).report.formats).toEqual([
      'prometheus',
      'prometheus-rules',
    ])
    const { configMapGenerator } = parse(readFileSync(`${folder}/eks/kustomization.yaml`, 'utf8'))
    const settings = Object.fromEntries(
      configMapGenerator[0].literals.map((literal: string) => literal.split('=')),
    )
    expect(parseSettings(settings)).toMatchObject({
      bucket: 'highwater-reports-111122223333',
      sender: 'highwater@example.com',
    })
  })

  it.skipIf(assetOf('kubectl') === null).each(overlays)(
    '%s: pods may do nothing, and the command takes its options',
    async overlay => {
      const manifests = await built(overlay)
      const container = containerOf(manifests)
      expect(container.securityContext).toEqual({
        ...{
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      })
      // Our own rules ask that of everybody.
      for (const { 'ephemeral-storage': quantity } of [
        container.resources.requests,
        container.resources.limits,
      ])
        expect(quantityNumber(parseQuantity(quantity ?? ''))).toBeGreaterThan(0)
      const [command = '', ...options] = container.args
      const { stdout: help } = await inProcess([command, '--help'])
      for (const option of options) expect(help).toContain(`${option.split('=')[0]} <`)
      for (const { kind, metadata } of manifests)
        if (!['Namespace', 'ClusterRole', 'ClusterRoleBinding'].includes(kind))
          expect(metadata.namespace).toBe('highwater')
    },
  )
})

describe('the image', () => {
  const dockerfile = readFileSync('docs/run/container/Dockerfile', 'utf8')
  const ignored = readFileSync('docs/run/container/Dockerfile.dockerignore', 'utf8')
    .trim()
    .split('\n')

  it('is made of the package alone, for each architecture, and does not run as root', () => {
    const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const archive = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
    expect(dockerfile.split('\n')).toContain(`ADD ${archive} /app/`)
    expect(ignored).toEqual(['*', '!highwater-cli-*.tgz'])
    // A RUN step would need emulation.
    expect(dockerfile).not.toMatch(/^RUN/m)
    expect(dockerfile).toMatch(/^USER 65532:65532$/m)
    const entry: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '')
    expect(existsSync(entry.at(-1)?.replace('/app/package/', '') ?? '')).toBe(true)
    expect(/^ARG NODE=node:(\d+)/m.exec(dockerfile)?.[1]).toBe('24')
  })

  it.skipIf(assetOf('hadolint') === null)('is a recipe that hadolint likes', async () => {
    expect((await run(assetOf('hadolint') ?? '', ['docs/run/container/Dockerfile'])).stdout).toBe(
      '',
    )
  })
})
