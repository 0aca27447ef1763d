import { describe, expect, it } from 'vitest'
import { aws, clusterWord, kubectl } from '#judge/garbage/kubectl.ts'
import { type ClusterFailing, clusterRule } from '#judge/rule.ts'
import { evictedPods } from '#judge/rules/cluster-gc/evicted-pods.ts'
import { failedPods } from '#judge/rules/cluster-gc/failed-pods.ts'
import { jobWithoutTtl } from '#judge/rules/cluster-gc/job-without-ttl.ts'
import { releasedVolume } from '#judge/rules/cluster-gc/released-volume.ts'
import { volumeHeldInDeletion } from '#judge/rules/cluster-gc/volume-held-in-deletion.ts'
import { gatherSubjects, judgeCluster, mostSubjects } from '#judge/run/cluster-rules.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { waiverNotices } from '#judge/run/waivers.ts'
import type { ClusterPrediction } from '#model/cluster-garbage.ts'
import { defaultPolicy, type Waiver } from '#model/policy.ts'
import { exampleCluster, failedPod, hoursBefore } from '#test/example-cluster.ts'
import { evictedPodExamples } from '#test/examples/evicted-pods.ts'
import { jobExamples } from '#test/examples/job-without-ttl.ts'
import { releasedVolumeExamples } from '#test/examples/released-volume.ts'
import { heldVolumeExamples } from '#test/examples/volume-held-in-deletion.ts'

const bad = exampleCluster(jobExamples.bad)
const good = exampleCluster(jobExamples.good)
const state = (cluster: ClusterPrediction) =>
  judgeCluster(jobWithoutTtl, cluster, defaultPolicy).outcome

describe('a rule on cluster garbage', () => {
  it.each([
    [
      'what was refused',
      { ...good, jobs: null, missing: { jobs: ['jobs.batch: 403'] } },
      { state: 'unknown', reason: 'jobs.batch: 403' },
    ],
    ['what was not requested', { ...good, jobs: null }, { state: 'notApplicable' }],
    [
      'a list that broke off and shows nothing',
      { ...good, doubts: { jobs: ['cut'] } },
      { state: 'unknown', reason: 'cut' },
    ],
    [
      'a list that broke off after something was found',
      { ...bad, doubts: { jobs: ['cut'] } },
      { state: 'fail' },
    ],
    ['another section that is open', { ...good, doubts: { pods: ['cut'] } }, { state: 'pass' }],
  ])('of %s', (_, cluster, outcome) => {
    expect(state(cluster)).toMatchObject(outcome)
  })

  it('of a list that broke off has two parts: what was found, and that there may be more', () => {
    const { findings, unknowns, clusters } = openJudgement([jobWithoutTtl], defaultPolicy).close(
      bad.at,
      [{ ...bad, doubts: { jobs: ['cut'] } }],
    )
    expect(findings).toMatchObject([{ rule: 'job-without-ttl', confidence: 'certain' }])
    expect(unknowns).toMatchObject([
      { rule: 'job-without-ttl', subject: { kind: 'Cluster', name: 'prod' }, reason: 'cut' },
    ])
    expect(clusters[0]?.outcomes).toMatchObject({ fail: 1, unknown: 0 })
  })

  it('that throws is an error, and the other rules go on', () => {
    const broken = clusterRule({
      ...jobWithoutTtl,
      ...jobWithoutTtl.docs,
      id: 'broken',
      // biome-ignore lint/correctness/useYield: it never comes so far
      *judge() {
        throw new Error('no such thing')
      },
    })
    const { clusters, findings, ruleErrors } = openJudgement(
      [broken, jobWithoutTtl],
      defaultPolicy,
    ).close(bad.at, [bad])
    expect(ruleErrors).toMatchObject([
      { rule: 'broken', cluster: 'prod', message: 'no such thing' },
    ])
    expect(clusters[0]?.outcomes).toMatchObject({ error: 1, fail: 1 })
    expect(findings.map(({ rule }) => rule)).toEqual(['job-without-ttl'])
  })
})

const failingIn = (index: number, count: number): ClusterFailing => ({
  subject: { kind: 'Namespace', namespace: null, name: `team-${index}` },
  count,
  noun: 'failed pod',
  consequence: 'They stay.',
  evidence: [],
  commands: [['changes', `kubectl delete pods -n team-${index}`]],
})
const failings = (count: number) =>
  Array.from({ length: count }, (_, index) => failingIn(index, index + 1))
const gather = (count: number, isOwn = false) =>
  gatherSubjects(
    failedPods,
    'prod',
    failings(count),
    ({ name }) => isOwn && name === 'team-3',
    false,
  )

describe('findings', () => {
  it('are one for each namespace, as long as somebody reads them', () => {
    expect(gather(mostSubjects)).toHaveLength(mostSubjects)
  })

  it('are one for the cluster beyond that, which names the largest shares', () => {
    const [whole, ...others] = gather(mostSubjects + 5)
    expect(others).toEqual([])
    const finding = whole?.finding
    expect(finding).toMatchObject({
      subject: { kind: 'Cluster', name: 'prod' },
      nodes: { count: 0, sample: [] },
    })
    expect(finding?.consequence).toMatchSnapshot()
    expect(finding?.evidence.slice(0, 2)).toEqual([
      { kind: 'places', what: 'places', value: '30' },
      { kind: 'object', what: 'Namespace team-29', value: '30 failed pods' },
    ])
    expect(finding?.evidence.at(-1)).toEqual({
      kind: 'omitted',
      what: 'not shown',
      value: '16 more',
    })
    expect(whole?.commands).toHaveLength(3)
  })

  it('on many places say of all of them why, whose they are and since when', () => {
    const pod = failedPod(hoursBefore(30), 'Evicted')
    const terminated = Array.from({ length: 40 }, (_, index) => [
      { ...pod, namespace: `team-${index}`, name: 'a', finishedMs: hoursBefore(30 + index) },
      {
        ...pod,
        namespace: `team-${index}`,
        name: 'b',
        reason: 'NodeShutdown',
        controller: index < 30 ? pod.controller : null,
      },
    ]).flat()
    const { pods } = exampleCluster(evictedPodExamples.bad)
    const crowded = exampleCluster({ pods: { ...pods!, terminated } })
    const [finding] = openJudgement([evictedPods], defaultPolicy).close(bad.at, [crowded]).findings
    expect(finding?.evidence.slice(0, 4)).toEqual([
      { kind: 'places', what: 'places', value: '40' },
      { kind: 'object', what: 'reasons', value: 'Evicted: 40, NodeShutdown: 40' },
      { kind: 'object', what: 'controlled by', value: 'ReplicaSet cart-7d9c6bf5c8: 70, none: 10' },
      { kind: 'object', what: 'first', value: expect.stringMatching(/^2 days ago /) },
    ])
    expect(finding?.evidence.length).toBeLessThanOrEqual(24)
  })

  it('on many places are no surer than the least sure of them, and add up what is lost there', () => {
    const { volumes } = exampleCluster(releasedVolumeExamples.bad)
    const [volume] = volumes!.released
    const crowded = (untimed: number) => {
      const released = Array.from({ length: 30 }, (_, index) => ({
        ...{
          ...volume!,
          volume: `pv-${index}`,
          claim: `team-${index}/data`,
          handle: `vol-${index}`,
        },
        ...(index < untimed && { sinceMs: null }),
      }))
      const [finding] = openJudgement([releasedVolume], defaultPolicy).close(bad.at, [
        exampleCluster({ volumes: { ...volumes!, released } }),
      ]).findings
      return finding
    }
    const likely = crowded(4)
    expect(likely).toMatchObject({ subject: { kind: 'Cluster' }, confidence: 'likely' })
    expect(likely?.evidence.slice(0, 11)).toEqual([
      { kind: 'places', what: 'places', value: '30' },
      { kind: 'object', what: 'places by confidence', value: 'certain: 26, likely: 4' },
      { kind: 'object', what: 'capacity', value: '2.9 TiB' },
      {
        kind: 'object',
        what: 'cost of EBS at list price of us-east-1',
        value: 'about 240 USD a month',
      },
      {
        kind: 'object',
        what: 'of EBS, and in the cost by size alone',
        value: '30: IOPS and throughput are not known',
      },
      { kind: 'object', what: 'since when is not known', value: '4, by age of the volume' },
      {
        kind: 'object',
        what: 'first of these was made',
        value: expect.stringMatching(/^83 days ago /),
      },
      { kind: 'object', what: 'first was released', value: expect.stringMatching(/^37 days ago /) },
      { kind: 'object', what: 'volumes', value: 'pv-0, pv-1, pv-10, pv-11, pv-12 and 25 more' },
      {
        kind: 'object',
        what: 'disks',
        value: expect.stringMatching(/^ebs.csi.aws.com vol-0, .* and 25 more$/),
      },
      {
        kind: 'object',
        what: 'claims',
        value: expect.stringMatching(/^team-0\/data, .* and 25 more$/),
      },
    ])
    expect(likely?.evidence.at(-1)).toEqual({
      kind: 'omitted',
      what: 'not shown',
      value: '18 more',
    })
    expect(likely?.evidence).toHaveLength(24)
    expect(crowded(0)).toMatchObject({ confidence: 'certain' })
    expect(crowded(0)?.evidence.map(({ what }) => what)).not.toContain('places by confidence')
  })

  it('on many places count each thing by its own name', () => {
    const { volumes } = exampleCluster(heldVolumeExamples.bad)
    const [claim] = volumes!.held
    const held = Array.from({ length: 30 }, (_, index) => ({
      ...claim!,
      namespace: `team-${index}`,
    }))
    const [finding] = openJudgement([volumeHeldInDeletion], defaultPolicy).close(bad.at, [
      exampleCluster({ volumes: { ...volumes!, held: [...held, { ...claim!, namespace: '' }] } }),
    ]).findings
    expect(finding?.consequence).toMatchSnapshot()
  })

  it('stay their own where a waiver names them', () => {
    expect(gather(mostSubjects + 5, true).map(({ subject }) => subject.name)).toEqual([
      'team-3',
      'prod',
    ])
  })

  it.each<Waiver['match']>([
    { kind: 'Namespace', name: 'batch' },
    { namespace: 'batch' },
    { cluster: 'pr*', namespace: 'ba*' },
  ])('are waived by namespace, as %j, and cost no grade then', match => {
    const waiver: Waiver = { rule: 'job-without-ttl', match, until: '2026-12-31', reason: 'known' }
    const judged = openJudgement([jobWithoutTtl], { ...defaultPolicy, waivers: [waiver] }).close(
      bad.at,
      [bad],
    )
    expect(judged.findings).toEqual([])
    expect(judged.waived).toMatchObject([{ rule: 'job-without-ttl', waived: { reason: 'known' } }])
  })

  it.each<[string, Waiver['match'], Partial<ClusterPrediction>, string | null]>([
    ['that matches', { namespace: 'batch' }, {}, null],
    ['of another namespace', { namespace: 'shop' }, {}, 'idle'],
    [
      'of another namespace, where not all was read',
      { namespace: 'shop' },
      { doubts: { jobs: ['cut'] } },
      null,
    ],
    ['of a cluster that is not there', { cluster: 'test' }, {}, 'no-cluster'],
  ])('judge a waiver %s: %j', (_, match, more, state) => {
    const waiver: Waiver = { rule: 'job-without-ttl', match, until: '2026-12-31', reason: 'known' }
    const judged = openJudgement([jobWithoutTtl], { ...defaultPolicy, waivers: [waiver] }).close(
      bad.at,
      [{ ...bad, ...more }],
    )
    const { reason, ...rest } = waiver
    expect(reason).toBe('known')
    expect(waiverNotices([waiver], judged, '2026-11-21')).toEqual(
      state === null ? [] : [{ ...rest, state }],
    )
  })

  it.each([
    ['2026-11-20', 'expired'],
    ['2026-11-21', 'ends-soon'],
    ['2026-11-28', 'ends-soon'],
    ['2026-11-29', undefined],
  ])('name a waiver until %s: %s', (until, state) => {
    const waiver: Waiver = { rule: 'job-without-ttl', match: {}, until, reason: 'known' }
    const judged = openJudgement([jobWithoutTtl], { ...defaultPolicy, waivers: [waiver] }).close(
      bad.at,
      [bad],
    )
    expect(waiverNotices([waiver], judged, '2026-11-21')[0]?.state).toBe(state)
  })

  it('call no cluster missing if a list of clusters could not be read', () => {
    const match = { cluster: 'test' }
    const waiver: Waiver = { rule: 'job-without-ttl', match, until: '2026-12-31', reason: 'known' }
    const judged = openJudgement([jobWithoutTtl], defaultPolicy).close(bad.at, [bad])
    const unlisted = { cluster: '*', node: null, reason: 'denied', cause: 'clusters' as const }
    expect(waiverNotices([waiver], { ...judged, notAudited: [unlisted] }, '2026-11-21')).toEqual([])
  })
})

describe('kubectl', () => {
  it.each([
    [['delete', 'pods', '-n', 'shop', 'cart-0'], 'kubectl delete pods -n shop cart-0'],
    [
      ['get', 'pods', '--field-selector=status.phase=Failed'],
      'kubectl get pods --field-selector=status.phase=Failed',
    ],
    [['delete', 'pod', 'a; rm -rf /'], "kubectl delete pod 'a; rm -rf /'"],
    [['delete', 'pod', "it's"], "kubectl delete pod 'it'\\''s'"],
    [['delete', 'pod', ''], "kubectl delete pod ''"],
  ])('%j is one line that a shell reads so', (words, line) => {
    expect(kubectl(...words)).toBe(line)
  })

  it.each([
    [
      kubectl('get', 'jobs', '-n', '-A', clusterWord('j'), '-o', 'yaml'),
      'kubectl get jobs -n -A j -o yaml',
    ],
    [
      kubectl('get', clusterWord('Job'), clusterWord('--all'), '-n', 'shop', '-o', 'yaml'),
      'kubectl get -n shop -o yaml -- Job --all',
    ],
    [
      kubectl('delete', 'leases', clusterWord('a'), clusterWord('-A')),
      'kubectl delete leases -- a -A',
    ],
    [
      aws('ec2', 'describe-volumes', '--volume-ids', clusterWord('vol-1')),
      'aws ec2 describe-volumes --volume-ids vol-1',
    ],
    [
      aws('ec2', 'describe-volumes', '--volume-ids', clusterWord('--profile')),
      'aws ec2 describe-volumes --volume-ids=--profile',
    ],
  ])('takes no name for an option: %s', (line, expected) => {
    expect(line).toBe(expected)
  })
})
