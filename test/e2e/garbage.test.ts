/** A cluster's own uncollected objects: read from the lab, replayed, judged; live and saved alike. */

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { auditExitCode, exitCode } from '#cli/terminal.ts'
import { garbageResources } from '#facts/kubernetes/garbage-resources.ts'
import { rules as everyRule } from '#judge/rules/index.ts'
import { bareDeployment } from '#lab/nodes/leftover-objects.ts'
import { garbage } from '#lab/scenarios/garbage.ts'
import { leftoverDeployments } from '#lab/scenarios/leftover-objects.ts'
import {
  type ClusterScenario,
  fixedNodes,
  fixedObjects,
  type ObjectSource,
  type Scenario,
} from '#lab/scenarios/scenario.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy, type Policy, type Waiver } from '#model/policy.ts'
import { savedFleet } from '#pipeline/audit/fleet.ts'
import { sections } from '#replay/cluster-gc/cluster-replay.ts'
import { english } from '#report/languages/language.ts'
import { auditLive, auditRecords, firedRules, labOf } from '#test/lab-audit.ts'

/** Rules that read Jobs and CronJobs. */
const ofJobs = /job|suspended/

/** Rules that read the account. */
const ofAccount = new Set(['unattached-disk', 'node-without-instance'])

const generous = { timeout: 60_000 }
const expected = garbage.expect().garbage ?? []

const found = ({ findings }: FindingsDocument) =>
  findings
    .filter(({ family }) => family === 'cluster-gc')
    .map(({ cluster, rule, subject }) => ({
      cluster,
      rule,
      subject: `${subject.kind} ${subject.name}`,
    }))
    .toSorted((a, b) => (`${a.rule} ${a.subject}` < `${b.rule} ${b.subject}` ? -1 : 1))

const changed = (more: Partial<ClusterScenario>): Scenario => ({
  ...garbage,
  clusters: garbage.clusters.map(each => ({ ...each, ...more })),
})
const looking = (more: Partial<Policy['clusterGarbage']>) => ({
  policy: { clusterGarbage: { ...defaultPolicy.clusterGarbage, ...more } },
})

describe('cluster garbage', () => {
  it('is found where the scenario has it, and no healthy twin with it', generous, async () => {
    await labOf([garbage])
    const { document } = await auditLive()
    expect(found(document)).toEqual(expected)
    const ofGarbage = document.findings.filter(({ family }) => family === 'cluster-gc')
    // This rule counts all finished pods, whatever their owner.
    expect(
      JSON.stringify(ofGarbage.filter(({ rule }) => rule !== 'terminated-pods-near-threshold')),
    ).not.toContain('kept-')
    expect(JSON.stringify(ofGarbage)).toContain('in deletion, held by example.com/audit')
    for (const { rule, steps, evidence } of ofGarbage) {
      if (rule !== 'terminated-pods-near-threshold')
        expect(steps[0]?.commands[0]?.command).toMatch(
          /^(kubectl --context garbage|aws --region \S+) \w+ /,
        )
      expect(evidence.length).toBeGreaterThan(0)
    }
    const nodes = garbage.expect().nodes.filter(({ rules }) => rules.length > 0)
    expect(firedRules(document)).toEqual(
      Object.fromEntries(
        nodes.map(({ cluster, node, rules }) => [`${cluster}/${node}`, [...rules]]),
      ),
    )
    const rules = new Set(expected.map(({ rule }) => rule))
    expect(document.clusters[0]?.outcomes.fail).toBeGreaterThanOrEqual(rules.size)
    // No rule without its case.
    expect([...rules].toSorted()).toEqual(
      everyRule.filter(({ family }) => family === 'cluster-gc').map(({ id }) => id),
    )
    expect(document.clusters[0]?.coverage.clusterGc?.read).toBe(
      document.clusters[0]?.coverage.clusterGc?.lists,
    )
  })

  it('has a section of the page, whose rows lead to every finding of it', generous, async () => {
    await labOf([garbage])
    const { document, files } = await auditLive()
    const page = files.find(({ name }) => name === 'report.html')?.body ?? ''
    const [table = ''] =
      /<details class="section" id="cluster-gc">[\s\S]*?(?=<details class="section")/.exec(page) ??
      []
    const led = [...table.matchAll(/href="#finding-([\w-]+)"[^>]*>(\d+) finding/g)]
    const byId = new Map(document.findings.map(finding => [finding.id, finding]))
    const rules = new Set(led.map(([, id = '']) => byId.get(id)?.rule))
    expect([...new Set(expected.map(({ rule }) => rule))].filter(rule => !rules.has(rule))).toEqual(
      [],
    )
    expect(table).toMatch(/about 40.USD a month/)
    // What the findings come to: none of the young ones is counted.
    expect(table).toContain('about 324\u00a0USD a month')
    expect(table).not.toContain('Not read')
  })

  it(
    'is the same of the snapshot, byte for byte, which holds no secret and no specification',
    generous,
    async () => {
      await labOf([garbage])
      const path = join(mkdtempSync(join(tmpdir(), 'highwater-garbage-')), 'snapshot.ndjson')
      const live = await auditLive({ snapshotPath: path })
      const saved = await auditRecords(savedFleet(path, everything))
      expect(JSON.stringify(saved.document)).toBe(JSON.stringify(live.document))
      const records = JSON.stringify(await Array.fromAsync(savedFleet(path, everything)))
      expect(records).not.toContain('lab-secret')
      expect(records).toContain('catalog-import-29384701')
    },
  )

  it(
    'asks for each list once, and for pods of nodes that were read not again',
    generous,
    async () => {
      const lab = await labOf([garbage])
      await auditLive()
      const routes = lab.requests().routes['kubernetes/garbage']
      for (const { resource } of garbageResources) {
        const [plural = ''] = resource.split('.')
        expect(routes?.[`list ${plural}`], plural).toBe(1)
      }
      // Each node's own, those of no node, and those that are over.
      expect(routes?.listPods).toBe(garbage.expect().nodes.length + 2)
    },
  )

  it('that may not be listed costs its own rules, named, and no other', generous, async () => {
    const rights = auditorRights.filter(right => right !== 'list jobs.batch')
    await labOf([changed({ access: { [labPrincipal]: rights } })])
    const { document } = await auditLive()
    expect(found(document)).toEqual(expected.filter(({ rule }) => !ofJobs.test(rule)))
    const unknown = document.unknowns.filter(({ rule }) => ofJobs.test(rule))
    expect(unknown.length).toBeGreaterThan(0)
    for (const { subject, reason } of unknown) {
      expect(subject.kind).toBe('Cluster')
      expect(reason).toMatch(/^jobs\.batch: GET \/apis\/batch\/v1\/jobs was answered 403/)
    }
    expect(document.notAudited).toMatchObject([
      { node: null, reason: expect.stringMatching(/cannot list resource "jobs"/) },
    ])
    expect(document.clusters[0]?.coverage.clusterGc).toMatchObject({ lists: 14, read: 13 })
  })

  it.each(garbageResources.map(({ resource }) => resource))(
    'of which %s may not be listed: no other finding changes, and the reason is named once',
    generous,
    async resource => {
      await labOf([
        changed({
          access: { [labPrincipal]: auditorRights.filter(right => right !== `list ${resource}`) },
        }),
      ])
      const { document } = await auditLive()
      const readers = everyRule.filter(
        rule =>
          rule.kind === 'cluster' &&
          rule.needs.some(need =>
            [...sections[need].resources, ...(sections[need].also ?? [])].includes(resource),
          ),
      )
      const isReader = (rule: string) => readers.some(({ id }) => id === rule)
      const reported = found(document)
      expect(expected).toEqual(expect.arrayContaining(reported))
      expect(
        expected
          .filter(
            each =>
              !reported.some(({ rule, subject }) => rule === each.rule && subject === each.subject),
          )
          .filter(({ rule }) => !isReader(rule)),
      ).toEqual([])
      expect(
        document.unknowns.filter(
          ({ rule, subject }) => subject.kind === 'Cluster' && !isReader(rule),
        ),
      ).toEqual([])
      expect(document.notAudited).toMatchObject([
        { node: null, reason: expect.stringMatching(new RegExp(`^${resource}: .*403`)) },
      ])
    },
  )

  it(
    'without the right to list nodes finds what needs no nodes, and names the rest',
    generous,
    async () => {
      await labOf([
        changed({
          access: { [labPrincipal]: auditorRights.filter(right => right !== 'list nodes') },
        }),
      ])
      const { document } = await auditLive()
      const reported = found(document)
      expect(expected).toEqual(expect.arrayContaining(reported))
      expect(reported.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining([
          'job-without-ttl',
          'dangling-owner',
          'released-volume',
          'failed-pods',
          'stuck-finalizer',
        ]),
      )
      expect(document.clusters[0]?.coverage.clusterGc).toMatchObject({ lists: 14, read: 14 })
      const ofNodes = everyRule.filter(
        rule => rule.kind === 'cluster' && rule.needs.some(need => sections[need].needsNodes),
      )
      for (const { id } of ofNodes)
        expect(document.unknowns.filter(({ rule }) => rule === id)).toMatchObject([
          { reason: expect.stringMatching(/^nodes: .*403/) },
        ])
      expect(document.unknowns).toContainEqual(
        expect.objectContaining({ rule: 'failed-pods', reason: expect.stringMatching(/^nodes: /) }),
      )
      for (const rule of ['leftover-lease', 'unrenewed-lease'])
        expect(document.unknowns.filter(each => each.rule === rule)).toMatchObject([
          { reason: expect.stringMatching(/node/) },
        ])
    },
  )

  it('is found in a cluster without nodes, live and saved alike', generous, async () => {
    await labOf([changed({ nodes: fixedNodes({}) })])
    const path = join(mkdtempSync(join(tmpdir(), 'highwater-scaled-')), 'snapshot.ndjson')
    const live = await auditLive({ snapshotPath: path })
    expect(found(live.document).map(({ rule }) => rule)).toEqual(
      expect.arrayContaining(['leftover-lease', 'job-without-ttl']),
    )
    expect(live.document.unknowns.filter(({ reason }) => reason.startsWith('nodes:'))).toEqual([])
    const saved = await auditRecords(savedFleet(path, everything))
    expect(found(saved.document)).toEqual(found(live.document))
    expect(auditExitCode(saved, { failOn: null, failOnUnread: 'node' })).toBe(exitCode.ok)
  })

  it(
    'is waived by namespace, and a waiver that covers nothing is named on the page',
    generous,
    async () => {
      await labOf([garbage])
      const of = (namespace: string): Waiver => ({
        rule: 'job-without-ttl',
        match: { namespace },
        until: '2099-01-01',
        reason: 'known',
      })
      const { document, files } = await auditLive({
        policy: { waivers: [of('batch'), of('nowhere')] },
      })
      expect(document.waived).toMatchObject([
        { rule: 'job-without-ttl', subject: { kind: 'Namespace', name: 'batch' } },
      ])
      expect(document.waiverNotices).toEqual([
        {
          ...{ rule: 'job-without-ttl', match: { namespace: 'nowhere' }, until: '2099-01-01' },
          state: 'idle',
        },
      ])
      const page = files.find(({ name }) => name === 'report.html')?.body ?? ''
      expect(page).toContain(
        english.words.waived.notices.idle('job-without-ttl, namespace nowhere', '2099-01-01'),
      )
    },
  )

  it('is looked for as the policy says', generous, async () => {
    const lab = await labOf([garbage])
    const only = await auditLive(looking({ kinds: ['leases'] }))
    expect(found(only.document).map(({ rule }) => rule)).toEqual(
      expected.map(({ rule }) => rule).filter(rule => /-lease$/.test(rule)),
    )
    expect(only.document.unknowns.filter(({ rule }) => ofJobs.test(rule))).toEqual([])
    expect(lab.requests().routes['kubernetes/garbage']).not.toHaveProperty('list jobs')
    expect(found((await auditLive(looking({ enabled: false }))).document)).toEqual([])
    const patient = await auditLive(looking({ minAgeHours: 2000 }))
    expect(found(patient.document).map(({ rule }) => rule)).not.toContain('job-without-ttl')
  })

  it('reports whether the controller of a finalizer exists', generous, async () => {
    const held = async (more: Record<string, ObjectSource>) => {
      await labOf([changed({ objects: { ...garbage.clusters[0]?.objects, ...more } })])
      const { findings } = (await auditLive()).document
      return findings.find(({ rule }) => rule === 'stuck-finalizer')?.consequence
    }
    expect(await held({})).toBe(
      '1 object of edge does not go: the finalizer service.k8s.aws/resources is for the AWS Load Balancer Controller, and nothing in this cluster is called like it.',
    )
    const there = fixedObjects(at => [
      ...leftoverDeployments(at),
      bareDeployment(at, { namespace: 'kube-system', name: 'aws-load-balancer-controller' }),
    ])
    expect(await held({ 'deployments.apps': there })).toBe(
      '1 object of edge does not go: the AWS Load Balancer Controller has not taken away the finalizer service.k8s.aws/resources.',
    )
  })

  it('reports size and cost of an unused volume, and details of each case', generous, async () => {
    await labOf([garbage])
    const { findings } = (await auditLive()).document
    const findingsText = (rule: string) =>
      findings
        .filter(each => each.rule === rule)
        .map(({ consequence, evidence }) => JSON.stringify([consequence, evidence]))
    const expectations: [rule: string, ...says: string[]][] = [
      [
        'overdue-job-ttl',
        '1 whose deletion has not started, 1 in deletion, held by example.com/audit',
      ],
      [
        'released-volume',
        '1 volume of claims',
        '500.0 GiB',
        'about 40 USD a month',
        'vol-0aaaaaaaaaaaaaaa1',
        '40 days ago',
      ],
      [
        'unattached-disk',
        '2 EBS volumes',
        '250.0 GiB',
        'about 282 USD a month',
        'vol-0bbbbbbbbbbbbbbb1, vol-0bbbbbbbbbbbbbbb4"',
        'pvc-0009',
      ],
      ['node-without-instance', '1 node is not Ready'],
      ['volume-not-deleted', 'ebs.csi.aws.com has not done it', '20.0 GiB'],
      ['volume-held-in-deletion', 'still used by pods: queue/worker-9'],
      [
        'pending-certificate-request',
        'kubernetes.io/kubelet-serving',
        'csr-4x2lp',
        'no serving certificate',
      ],
      [
        'uncollected-certificate-request',
        'denied-past-deadline',
        'csr-9k3vd',
        'issued-past-deadline',
        'csr-issued',
      ],
      [
        'pod-stuck-terminating',
        'no known controller removes the finalizer example.com/flush',
        'worker-9',
      ],
      [
        'pod-stuck-terminating',
        'the Job controller has not taken away the finalizer batch.kubernetes.io/job-tracking',
        'batch-4',
      ],
      ['volume-held-in-deletion', 'still bound to ci/build-7-scratch'],
      [
        'volume-held-in-deletion',
        "is for the EBS CSI driver's controller, and nothing in this cluster is called like it",
        'pvc-0008',
      ],
      ['dangling-owner', 'owner Deployment web', 'ReplicaSet web-lost'],
      [
        'dangling-owner',
        'PersistentVolumeClaim scratch-of-pod',
        'owner Job build-2","value":"PersistentVolumeClaim scratch-of-job',
      ],
      ['dangling-owner', 'owner Deployment apis","value":"ReplicaSet api-renamed"'],
      ['dangling-owner', 'Deployment api (another one has its name now)'],
      [
        'blocked-foreground-deletion',
        'Deployment portal for ReplicaSet portal-1',
        'Job sync waits for","value":"Pod sync-4x2lp"',
      ],
      ['orphaned-dependent', 'ReplicaSet without its Deployment', 'web-1'],
    ]
    for (const [rule, ...says] of expectations)
      for (const words of says) expect(findingsText(rule).join(), rule).toContain(words)
  })

  it(
    'in the account is unknown where EC2 may not be asked, page by page where it may, and called a loss only where all volumes are known',
    generous,
    async () => {
      const unknownOf = ({ unknowns }: FindingsDocument) =>
        Object.fromEntries(
          unknowns
            .filter(({ rule }) => ofAccount.has(rule))
            .map(({ rule, reason }) => [rule, reason]),
        )
      await labOf([{ ...garbage, ec2Denied: ['ec2:DescribeInstances'] }])
      const denied = (await auditLive()).document
      expect(unknownOf(denied)).toEqual({
        'node-without-instance': expect.stringMatching(
          /^instances\.ec2\.amazonaws\.com: EC2 DescribeInstances in .* not allowed/,
        ),
      })
      const lab = await labOf([{ ...garbage, ec2PageSize: 2 }])
      expect(found((await auditLive()).document)).toEqual(expected)
      // Of two tags each: three pages of the one, an empty one of the other; of instances the same. Volumes of nodes: two pages.
      expect(lab.requests().routes.ec2).toMatchObject({ DescribeVolumes: 6, DescribeInstances: 4 })
      await labOf([
        changed({
          access: {
            [labPrincipal]: auditorRights.filter(right => right !== 'list persistentvolumes'),
          },
        }),
      ])
      expect(unknownOf((await auditLive()).document)['unattached-disk']).toContain(
        'that is not attached',
      )
    },
  )

  it('is not looked for where only some nodes are audited, live or saved', generous, async () => {
    const lab = await labOf([garbage])
    const [node = ''] = garbage.expect().nodes.map(each => each.node)
    const some = { nodes: [node] }
    const path = join(mkdtempSync(join(tmpdir(), 'highwater-garbage-')), 'snapshot.ndjson')
    expect(found((await auditLive({ selection: some })).document)).toEqual([])
    expect(lab.requests().routes['kubernetes/garbage']).not.toHaveProperty('list leases')
    await auditLive({ snapshotPath: path })
    expect(
      found((await auditRecords(savedFleet(path, { ...everything, ...some }))).document),
    ).toEqual([])
  })
})
