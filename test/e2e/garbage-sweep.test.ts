/** What an API server says that it has: groups that do not answer, owners of kinds that are gone, and what finalizers hold of kinds that nobody lists. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { garbage } from '#lab/scenarios/garbage.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import { fixedObjects } from '#lab/scenarios/scenario.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { everything } from '#model/selection.ts'
import { savedFleet } from '#pipeline/fleet.ts'
import { english } from '#report/languages/language.ts'
import { auditLive, auditRecords, labOf } from '#test/lab-audit.ts'

const generous = { timeout: 60_000 }
const [cluster] = garbage.clusters
const changed = (more: Partial<ClusterScenario> = {}) =>
  labOf([{ ...garbage, clusters: garbage.clusters.map(each => ({ ...each, ...more })) }])
const granted = (...rights: string[]) => ({
  access: { [labPrincipal]: [...auditorRights, ...rights] },
})
const looking = (more: Partial<Policy['clusterGarbage']>) => ({
  policy: { clusterGarbage: { ...defaultPolicy.clusterGarbage, ...more } },
})
const heldIn = ({ findings }: FindingsDocument) =>
  findings
    .filter(({ rule }) => rule === 'stuck-finalizer')
    .map(({ subject, consequence }) => [subject.name, consequence])
const edge = expect.arrayContaining(['edge'])
const site = [
  'old-web',
  '1 object of old-web does not go: nobody takes away the finalizer web.example.com/unpublish.',
]
const rulesOf = ({ findings }: FindingsDocument) => [
  ...new Set(findings.filter(({ family }) => family === 'cluster-gc').map(({ rule }) => rule)),
]

describe('a sweep', () => {
  it(
    'is not made unless the policy names what for, and says what it leaves out',
    generous,
    async () => {
      const lab = await changed()
      const { document, files } = await auditLive()
      expect(heldIn(document)).toEqual([edge])
      expect(lab.requests().routes['kubernetes/garbage']).not.toHaveProperty('list sites')
      expect(document.clusters[0]?.coverage.clusterGc?.notSwept).toEqual({
        count: 3,
        sample: ['configmaps', 'secrets', 'sites.web.example.com'],
      })
      const page = files.find(({ name }) => name === 'report.html')
      expect(String(page?.body)).toContain(english.words.garbage.notSwept(3).trim())
    },
  )

  it.each([
    ['by its name', ['sites.web.example.com'], ['list sites.web.example.com'], 2],
    ['with its group', ['*.web.example.com'], ['list *.web.example.com'], 2],
    ['with all that is served, but not ConfigMaps and Secrets', ['*'], ['list *.*'], 2],
  ])(
    'finds what is held of a kind that the policy names %s',
    generous,
    async (_, sweep, rights, left) => {
      const lab = await changed(granted(...rights))
      const path = join(mkdtempSync(join(tmpdir(), 'highwater-sweep-')), 'snapshot.ndjson')
      const live = await auditLive({ ...looking({ sweep }), snapshotPath: path })
      expect(heldIn(live.document)).toEqual([edge, site])
      expect(JSON.stringify(live.document.findings)).not.toContain('kept-leaving')
      expect(live.document.clusters[0]?.coverage.clusterGc?.notSwept?.count).toBe(left)
      const routes = lab.requests().routes['kubernetes/garbage'] ?? {}
      expect(
        Object.entries(routes).filter(([route, count]) => route.startsWith('list ') && count > 1),
      ).toEqual([])
      expect(routes).not.toHaveProperty('list secrets')
      // Of what is not in deletion nothing is kept, and of the rest metadata alone.
      const saved = await Array.fromAsync(savedFleet(path, everything))
      expect(
        saved.filter(
          record => record.kind === 'Objects' && record.resource === 'sites.web.example.com',
        ),
      ).toMatchObject([
        { items: [{ metadata: { name: 'front' } }, { metadata: { name: 'kept-leaving' } }] },
      ])
      expect(JSON.stringify(saved)).not.toContain('lab-secret')
      const { document } = await auditRecords(savedFleet(path, everything), looking({ sweep }))
      expect(JSON.stringify(document)).toBe(JSON.stringify(live.document))
    },
  )

  it('of what may not be listed costs its own part, named', generous, async () => {
    await changed()
    const { document } = await auditLive(looking({ sweep: ['*.web.example.com'] }))
    expect(heldIn(document)).toEqual([edge])
    expect(document.notAudited).toMatchObject([
      { node: null, reason: expect.stringMatching(/^sites\.web\.example\.com: .*403/) },
    ])
    const lists = document.clusters[0]?.coverage.clusterGc
    expect(lists).toMatchObject({ lists: 18, read: 17, notSwept: { count: 2 } })
    // Where nothing else is held, that is not said to be so.
    const without = { objects: { ...cluster?.objects, 'deployments.apps': fixedObjects(() => []) } }
    await changed(without)
    const { unknowns } = (await auditLive(looking({ sweep: ['*.web.example.com'] }))).document
    expect(unknowns.find(({ rule }) => rule === 'stuck-finalizer')?.reason).toMatch(
      /^sites\.web\.example\.com: /,
    )
  })

  it(
    'reads on, page by page, and asks for nothing that is listed for another reason',
    generous,
    async () => {
      const many = Array.from({ length: 1200 }, (_, index) => ({
        metadata: { name: `kept-${index}`, namespace: 'pages', uid: `u-${index}` },
      }))
      const held = {
        metadata: {
          name: 'last',
          namespace: 'pages',
          uid: 'u',
          deletionTimestamp: '2026-01-01T00:00:00Z',
          finalizers: ['x/y'],
        },
      }
      const installed = [
        {
          ...{
            group: 'web.example.com',
            version: 'v1',
            plural: 'sites',
            kind: 'Site',
            isNamespaced: true,
          },
          objects: fixedObjects(() => [...many, held]),
        },
      ]
      const lab = await changed({ ...granted('list *.*', 'list secrets'), installed })
      const sweep = ['*', 'secrets', 'jobs.batch', 'events', 'nodes', 'pods']
      const { document } = await auditLive(looking({ sweep, kinds: ['finalizers', 'configs'] }))
      // Of kinds that nobody asks for no other rule tells: the Job of etl, and who waits in legacy for what he owns.
      expect(heldIn(document).map(([namespace]) => namespace)).toEqual([
        'edge',
        'etl',
        'legacy',
        'pages',
      ])
      const routes = lab.requests().routes['kubernetes/garbage'] ?? {}
      expect(routes).toMatchObject({
        'list sites': 3,
        'list secrets': 1,
        'list configmaps': 1,
        'list jobs': 1,
        listEvents: 1,
        listNodes: 1,
      })
    },
  )
})

describe('API groups', () => {
  it('that do not answer are named, and nothing else is unknown for it', generous, async () => {
    await changed()
    const { document } = await auditLive()
    const [found] = document.findings.filter(({ rule }) => rule === 'unanswered-api-group')
    expect(found).toMatchObject({
      subject: { kind: 'Cluster', name: 'garbage' },
      evidence: [
        { kind: 'object', what: 'did not answer', value: 'custom.metrics.k8s.io/v1beta1' },
      ],
      fix: { commands: ['kubectl get apiservice v1beta1.custom.metrics.k8s.io -o yaml'] },
    })
    expect(document.notAudited).toEqual([])
    await changed({ awayGroups: [] })
    expect(rulesOf((await auditLive()).document)).not.toContain('unanswered-api-group')
  })

  it(
    'tell which owners nobody can look up: of a group that does not answer that is not known',
    generous,
    async () => {
      await changed()
      const { findings } = (await auditLive()).document
      expect(findings.filter(({ rule }) => rule === 'unserved-owner')).toMatchObject([
        {
          subject: { name: 'pages' },
          evidence: [
            {
              kind: 'object',
              what: 'owner Blog news of web.example.com/v1',
              value: 'Deployment render-blog',
            },
            {},
          ],
        },
      ])
      await changed({ installed: [], awayGroups: ['web.example.com/v1'] })
      expect(rulesOf((await auditLive()).document)).not.toContain('unserved-owner')
    },
  )

  it('hold namespaces, which say what is left in them', generous, async () => {
    await changed()
    const { findings } = (await auditLive()).document
    expect(
      findings
        .filter(({ rule }) => rule === 'namespace-stuck-terminating')
        .map(({ fix }) => fix.commands),
    ).toEqual([
      [
        'kubectl get apiservice v1beta1.custom.metrics.k8s.io -o yaml',
        'kubectl get namespace old-monitoring -o yaml',
      ],
      [
        'kubectl get sites.web.example.com -n old-web -o yaml',
        'kubectl get namespace old-web -o yaml',
      ],
    ])
  })
})

describe('a policy that asks for what costs no list of its own', () => {
  it.each([
    ['nodes', ['leftover-taint', 'node-not-ready-long']],
    ['apis', ['unanswered-api-group']],
    [
      'owners',
      [
        'blocked-foreground-deletion',
        'dangling-owner',
        'misplaced-owner',
        'orphaned-dependent',
        'unserved-owner',
      ],
    ],
    ['finalizers', ['stuck-finalizer']],
    ['disks', ['unattached-disk']],
  ] as const)('only for %s has it judged', generous, async (kind, rules) => {
    await changed()
    const { document } = await auditLive(looking({ kinds: [kind] }))
    expect(rulesOf(document).toSorted()).toEqual(rules)
    expect(
      document.unknowns.filter(({ rule }) => (rules as readonly string[]).includes(rule)),
    ).toEqual([])
  })
})
