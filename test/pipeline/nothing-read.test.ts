import { describe, expect, it } from 'vitest'
import type { NotAudited } from '#model/finding.ts'
import type { AuditedNode } from '#model/report.ts'
import { whyNothingRead } from '#pipeline/service/report.ts'
import {
  auditedNode,
  findingsDocument,
  nothingPredicted,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'

const of = (nodes: AuditedNode[], notAudited: NotAudited[] = []) =>
  whyNothingRead({ nodes, document: findingsDocument({ notAudited }) })
const refused = [{ what: 'configz' as const, message: 'HTTP 403' }]
const silent = unreadNode('n1', refused)
const onlyPods = auditedNode('n2', nothingPredicted, { coverage: 'partlyRead', errors: refused })
const fargate = unreadNode('fargate-n3', refused, { identity: { owner: 'fargate' } })
const onlyDisks = auditedNode(
  'n4',
  { ...sharedDisk(40), eviction: null, imageGC: null },
  { coverage: 'partlyRead', errors: refused },
)
const unlisted: NotAudited = {
  cluster: 'prod-us',
  node: null,
  cause: 'nodes',
  reason: 'nodes: the list of nodes could not be read: HTTP 401',
}
const withoutJobs: NotAudited = {
  cluster: 'prod-eu',
  node: null,
  cause: 'objects',
  reason: 'jobs.batch: HTTP 403',
}

describe('a run has read nothing', () => {
  it.each([
    [
      'where no node answers',
      [silent],
      [],
      'no node was read: 1 node could not be read. The report names each with its reason, as that of node n1',
    ],
    ['where nothing but pods is known', [silent, onlyPods], [], '2 nodes could not be read'],
    [
      'where no list of nodes could be read',
      [],
      [unlisted],
      'of 1 cluster it is not known which nodes there are',
    ],
    ['where neither', [silent, fargate], [unlisted], '1 node could not be read, and of 1 cluster'],
    [
      'where the cluster that has no nodes is not the only one',
      [],
      [unlisted, withoutJobs],
      'as that of cluster prod-us: nodes: the list',
    ],
  ])('%s', (_, nodes, notAudited, said) => {
    expect(of(nodes, notAudited)).toContain(said)
  })
})

describe('a run is not one of nothing', () => {
  it.each([
    ['where one node of many was read', [silent, auditedNode('n5', sharedDisk(40))], [unlisted]],
    ['where one node’s disks are known', [silent, onlyDisks], []],
    ['where there are no nodes', [], []],
    ['where there are none, whatever else could not be listed', [], [withoutJobs]],
    ['where there are only Fargate’s, which cannot be read', [fargate], []],
  ])('%s', (_, nodes, notAudited) => {
    expect(of(nodes, notAudited)).toBeNull()
  })
})
