import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oomScores } from '#replay/oom-score.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf } from '#test/at-the-door.ts'

const capacity = 16_481_411_072

interface Container {
  name: string
  memory?: string
  isSidecar?: boolean
}

interface Asked {
  spec?: Record<string, unknown>
  annotations?: Record<string, string>
  containers?: Container[]
  initContainers?: Container[]
  version?: string
  gates?: Record<string, boolean>
  memoryCapacityBytes?: number
}

const manifestOf = ({ name, memory, isSidecar }: Container) => ({
  name,
  resources: { requests: { cpu: '1m', ...(memory !== undefined && { memory }) } },
  ...(isSidecar && { restartPolicy: 'Always' }),
})

function scoresOf(asked: Asked): Record<string, number> | null {
  const {
    spec = {},
    annotations = {},
    containers = [],
    initContainers = [],
    version = 'v1.34.4',
    gates = null,
  } = asked
  const manifest = {
    containers: containers.map(manifestOf),
    initContainers: initContainers.map(manifestOf),
    ...spec,
  }
  const pod = podOf({ metadata: { name: 'p', namespace: 'n', annotations }, spec: manifest })
  const scores =
    pod && oomScores(pod, asked.memoryCapacityBytes ?? capacity, kubeletOf(version, gates))
  return (
    scores &&
    Object.fromEntries(scores.map(({ container, oomScoreAdj }) => [container, oomScoreAdj]))
  )
}

const scoreOf = (memory: string, memoryCapacityBytes = capacity) =>
  scoresOf({ containers: [{ name: 'c', memory }], memoryCapacityBytes })?.c

describe('oomScores of a Burstable container', () => {
  it.each([
    ['1Gi', 935],
    ['0', 999],
    ['1Mi', 999],
    ['16Gi', 3],
  ])(
    'trap 37: of a machine with 16,481,411,072 bytes a request of %s gives %i',
    (memory, score) => {
      expect(scoreOf(memory)).toBe(score)
    },
  )

  it.each([
    { memory: '999', score: 999 }, // 1000 less nothing: BestEffort's score, so one less
    { memory: '1000', score: 999 },
    { memory: '1999', score: 999 },
    { memory: '2000', score: 998 },
    { memory: '996000', score: 4 },
    { memory: '996999', score: 4 },
    { memory: '997000', score: 3 },
    { memory: '998000', score: 3 },
    { memory: '2000000', score: 3 },
  ])(
    'trap 37: divides without a rest, not below 3 nor above 999: $memory of 1,000,000 gives $score',
    ({ memory, score }) => {
      expect(scoreOf(memory, 1_000_000)).toBe(score)
    },
  )

  it('trap 37: divides by the memory of the machine, whatever the product', () => {
    expect(scoreOf('9007199254740993', 2 ** 53 - 1)).toBe(3)
    expect(scoreOf('4503599627370496', 2 ** 53 - 1)).toBe(500)
    // 1000 × 2^55 wraps to a negative int64 in upstream.
    expect(scoreOf(String(2n ** 54n), 2 ** 50)).toBeGreaterThan(1000)
  })

  it.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'knows no score where the machine has %d bytes',
    bytes => {
      expect(
        scoresOf({ containers: [{ name: 'c', memory: '1Gi' }], memoryCapacityBytes: bytes }),
      ).toBe(null)
    },
  )

  it('names the pod, the container and its class; regular containers first', () => {
    const pod = podOf({
      metadata: { name: 'p', namespace: 'n' },
      spec: { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] },
    })
    expect(pod && oomScores(pod, 1, kubeletOf('v1.34.4'))).toEqual([
      { namespace: 'n', pod: 'p', container: 'c', qos: 'BestEffort', oomScoreAdj: 1000 },
      { namespace: 'n', pod: 'p', container: 'i', qos: 'BestEffort', oomScoreAdj: 1000 },
    ])
  })
})

describe('oomScores of the other classes', () => {
  it('trap 37: a Guaranteed container is killed last, one of BestEffort first', () => {
    const amounts = { cpu: '1', memory: '1Gi' }
    expect(
      scoresOf({
        spec: { containers: [{ name: 'c', resources: { requests: amounts, limits: amounts } }] },
      }),
    ).toEqual({ c: -997 })
    expect(scoresOf({ spec: { containers: [{ name: 'c' }] } })).toEqual({ c: 1000 })
  })

  it('counts no memory without a request', () => {
    expect(scoresOf({ containers: [{ name: 'c' }], memoryCapacityBytes: 1 })).toEqual({ c: 999 })
  })
})

describe('oomScores of critical pods', () => {
  const nodeCritical = { priorityClassName: 'system-node-critical' }
  it.each<{ what: string; asked: Asked; score: number }>([
    {
      what: 'the class with its priority',
      asked: { spec: { ...nodeCritical, priority: 2_000_001_000 } },
      score: -997,
    },
    {
      what: 'the class at the least critical priority',
      asked: { spec: { ...nodeCritical, priority: 2_000_000_000 } },
      score: -997,
    },
    {
      what: 'the class just below it',
      asked: { spec: { ...nodeCritical, priority: 1_999_999_999 } },
      score: 935,
    },
    { what: 'the class alone', asked: { spec: nodeCritical }, score: 935 },
    {
      what: 'the other class',
      asked: { spec: { priorityClassName: 'system-cluster-critical', priority: 2_000_001_000 } },
      score: 935,
    },
    {
      what: 'a static pod with the class',
      asked: { spec: nodeCritical, annotations: { 'kubernetes.io/config.source': 'file' } },
      score: -997,
    },
    {
      what: 'a static pod without',
      asked: { annotations: { 'kubernetes.io/config.source': 'file' } },
      score: 935,
    },
    {
      what: 'a mirror pod with the class',
      asked: { spec: nodeCritical, annotations: { 'kubernetes.io/config.mirror': 'x' } },
      score: -997,
    },
    {
      what: 'a pod of the API with the class',
      asked: { spec: nodeCritical, annotations: { 'kubernetes.io/config.source': 'api' } },
      score: 935,
    },
  ])('trap 37: $what gives $score', ({ asked, score }) => {
    expect(scoresOf({ ...asked, containers: [{ name: 'c', memory: '1Gi' }] })?.c).toBe(score)
  })
})

describe('oomScores of sidecars', () => {
  const containers = [
    { name: 'a', memory: '4Gi' },
    { name: 'b', memory: '2Gi' },
    { name: 'c', memory: '3Gi' },
  ]
  it.each([
    ['v1.31.14', 999],
    ['v1.32.0', 870],
    ['v1.34.4', 870],
    ['v1.37.0', 870],
  ])(
    '%s: one with a small request is killed at %i, where the smallest regular container is at 870',
    (version, score) => {
      const scores = scoresOf({
        containers,
        initContainers: [{ name: 's', memory: '10Mi', isSidecar: true }],
        version,
      })
      expect(scores).toEqual({ a: 740, b: 870, c: 805, s: score })
    },
  )

  it('keeps its own request where that is greater, and leaves init containers alone', () => {
    const initContainers = [
      { name: 's', memory: '8Gi', isSidecar: true },
      { name: 'i', memory: '10Mi' },
    ]
    expect(scoresOf({ containers, initContainers })).toMatchObject({ s: 479, i: 999 })
  })

  it('takes no regular container for a sidecar', () => {
    expect(
      scoresOf({
        containers: [
          ...containers,
          { name: 'r', memory: '2Gi', isSidecar: true },
          { name: 'x', memory: '3Gi', isSidecar: true },
        ],
      }),
    ).toMatchObject({ x: 805 })
  })

  it('needs no regular container', () => {
    expect(scoresOf({ initContainers: [{ name: 's', memory: '2Gi', isSidecar: true }] })).toEqual({
      s: 870,
    })
  })
})

describe('oomScores with requests of the whole pod', () => {
  const Gi = (count: number) => `${count}Gi`
  const podLevel = (memory: string) => ({ resources: { requests: { memory } } })
  const two = [
    { name: 'a', memory: Gi(1) },
    { name: 'b', memory: Gi(2) },
  ]

  it.each([
    { version: 'v1.31.14', gates: null, a: 935 },
    { version: 'v1.33.13', gates: null, a: 935 },
    { version: 'v1.33.13', gates: { PodLevelResources: true }, a: 805 },
    { version: 'v1.34.4', gates: null, a: 805 },
    { version: 'v1.34.4', gates: { PodLevelResources: false }, a: 935 },
    { version: 'v1.37.0', gates: null, a: 805 },
  ])(
    'trap 38: $version with gates $gates shares what is left of 7Gi: $a',
    ({ version, gates, a }) => {
      expect(
        scoresOf({ containers: two, spec: podLevel(Gi(7)), version, ...(gates && { gates }) })?.a,
      ).toBe(a)
    },
  )

  it('shares among init containers too, and cuts the share to whole bytes', () => {
    expect(
      scoresOf({
        containers: two,
        initContainers: [{ name: 'i' }, { name: 'j' }],
        spec: podLevel(Gi(7)),
      }),
    ).toEqual({ a: 870, b: 805, i: 935, j: 935 })
    const scores = scoresOf({
      containers: [
        { name: 'a', memory: '1' },
        { name: 'b', memory: '1' },
      ],
      spec: podLevel('1001'),
      memoryCapacityBytes: 1000,
    })
    expect(scores).toEqual({ a: 500, b: 500 })
  })

  it('shares exactly, byte by byte', () => {
    const ones = [
      { name: 'a', memory: '1' },
      { name: 'b', memory: '1' },
    ]
    expect(
      scoresOf({ containers: ones, spec: podLevel('1002'), memoryCapacityBytes: 1000 }),
    ).toEqual({ a: 499, b: 499 })
    expect(
      scoresOf({ containers: ones.slice(1), spec: podLevel('501'), memoryCapacityBytes: 1000 }),
    ).toEqual({ b: 499 })
    const initContainers = [
      { name: 'i', memory: '2' },
      { name: 'j', memory: '3' },
    ]
    // (1006 − 3) ÷ 4
    expect(
      scoresOf({
        containers: ones,
        initContainers,
        spec: podLevel('1006'),
        memoryCapacityBytes: 1000,
      }),
    ).toMatchObject({ a: 749, b: 749 })
    expect(
      scoresOf({
        containers: ones,
        spec: podLevel('1'),
        memoryCapacityBytes: 1000,
        version: 'v1.37.0',
      }),
    ).toEqual({ a: 999, b: 999 })
    expect(
      scoresOf({
        containers: ones,
        spec: podLevel('1'),
        memoryCapacityBytes: 100,
        version: 'v1.37.0',
      }),
    ).toEqual({ a: 990, b: 990 })
  })

  it('gives no share where the pod asks for no memory', () => {
    expect(
      scoresOf({ containers: two, spec: { resources: { requests: { cpu: '1', memory: '0' } } } }),
    ).toEqual({ a: 935, b: 870 })
    expect(scoresOf({ containers: two, spec: { resources: { requests: { cpu: '4' } } } })).toEqual({
      a: 935,
      b: 870,
    })
  })

  it('adds the share to the least that a sidecar has', () => {
    const initContainers = [{ name: 's', memory: '1Gi', isSidecar: true }]
    expect(
      scoresOf({
        containers: [{ name: 'a', memory: Gi(2) }],
        initContainers,
        spec: podLevel(Gi(5)),
      }),
    ).toEqual({ a: 805, s: 805 })
  })

  // Together: 3Gi, and 1Gi of the sidecar. Init containers need 6Gi at most: 5Gi beside the sidecar.
  it('counts sidecars with the containers, and init containers by the hungriest moment', () => {
    const initContainers = [
      { name: 'before', memory: Gi(2) },
      { name: 's', memory: Gi(1), isSidecar: true },
      { name: 'after', memory: Gi(5) },
      { name: 'late', memory: Gi(1) },
    ]
    expect(scoresOf({ containers: two, initContainers, spec: podLevel(Gi(12)) })?.a).toBe(870)
    expect(
      scoresOf({
        containers: two,
        initContainers: initContainers.slice(0, 2),
        spec: podLevel(Gi(8)),
      })?.a,
    ).toBe(870)
    const late = [
      { name: 's', memory: Gi(1), isSidecar: true },
      { name: 't', memory: Gi(4), isSidecar: true },
    ]
    expect(scoresOf({ containers: two, initContainers: late, spec: podLevel(Gi(12)) })?.a).toBe(870)
  })

  it.each([
    ['v1.36.3', { a: 968, b: 903 }],
    ['v1.37.0', { a: 935, b: 870 }],
  ])('%s: containers that ask for more than their pod: %j', (version, scores) => {
    expect(scoresOf({ containers: two, spec: podLevel(Gi(2)), version })).toEqual(scores)
  })
})

it('never throws and never tells a number that is none', () => {
  const memory = fc.oneof(fc.constantFrom('1', '1Gi', '-5', '1e30', '3.5', '9Ei'), fc.string())
  const container = fc.record({ name: fc.string(), memory, isSidecar: fc.boolean() })
  const asked = fc.record({
    containers: fc.array(container),
    initContainers: fc.array(container),
    spec: fc.oneof(
      fc.constant({}),
      fc.record({
        resources: fc.oneof(fc.anything(), fc.record({ requests: fc.record({ memory }) })),
      }),
    ),
    version: fc.constantFrom('v1.31.0', 'v1.34.0', 'v1.37.0'),
    memoryCapacityBytes: fc.oneof(fc.double(), fc.maxSafeNat()),
  })
  fc.assert(
    fc.property(asked, given => {
      for (const score of Object.values(scoresOf(given) ?? {}))
        expect(Number.isFinite(score)).toBe(true)
    }),
  )
})
