import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalText, type Quantity } from '#base/go/quantity.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { type KubeletConfiguration, parseConfigz } from '#model/kubelet/configuration.ts'
import {
  type AllocatableConfiguration,
  type Machine,
  nodeAllocatable,
  overReservationError,
} from '#replay/node-allocatable.ts'
import { predictAllocatable } from '#replay/predict-allocatable.ts'
import { nodeOf as parsedNode } from '#test/at-the-door.ts'

const newest = featuresOf('v1.36.3')
const GiB = 2 ** 30

const machine: Machine = {
  cpuCores: 4,
  memoryBytes: 8 * GiB,
  ephemeralStorageBytes: 20 * GiB,
  hugePages: new Map(),
}

const shown = (list: ReadonlyMap<string, Quantity>) =>
  Object.fromEntries([...list].map(([name, amount]) => [name, canonicalText(amount)]))

function answerOf(
  given: Partial<AllocatableConfiguration> = {},
  present: Partial<Machine> = {},
  features = newest,
) {
  const answer = nodeAllocatable(
    { ...machine, ...present },
    { maxPods: 110, podsPerCore: 0, ...given },
    features,
  )
  if ('field' in answer) return answer
  const { reservation, podsCgroupLimit, capacity, allocatable, overReserved } = answer
  return {
    reservation: shown(reservation),
    podsCgroupLimit: shown(podsCgroupLimit),
    capacity: shown(capacity),
    allocatable: shown(allocatable),
    overReserved,
    error: overReservationError(answer, features),
  }
}

describe('nodeAllocatable', () => {
  it('offers everything where nothing is reserved', () => {
    const everything = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '20Gi' }
    expect(answerOf()).toEqual({
      reservation: {},
      podsCgroupLimit: everything,
      capacity: { ...everything, pods: '110' },
      allocatable: { ...everything, pods: '110' },
      overReserved: [],
      error: null,
    })
  })

  it('trap 34: holds the cgroup of pods by what is reserved, and not by what eviction keeps free', () => {
    const answer = answerOf({
      kubeReserved: { cpu: '100m', memory: '1Gi' },
      systemReserved: { cpu: '200m', memory: '1Gi' },
      evictionHard: { 'memory.available': '1Gi' },
    })
    expect(answer).toMatchObject({
      reservation: { cpu: '300m', memory: '3Gi' },
      podsCgroupLimit: { cpu: '3700m', memory: '6Gi' },
      allocatable: { cpu: '3700m', memory: '5Gi' },
    })
  })

  it('trap 35: takes all huge pages off memory', () => {
    const hugePages = new Map<string, number | bigint>([
      ['hugepages-2Mi', GiB],
      ['hugepages-1Gi', 2n * BigInt(GiB)],
    ])
    expect(answerOf({ kubeReserved: { memory: '1Gi' } }, { hugePages })).toMatchObject({
      reservation: { memory: '1Gi' },
      podsCgroupLimit: { memory: '7Gi', 'hugepages-2Mi': '1Gi', 'hugepages-1Gi': '2Gi' },
      allocatable: { memory: '4Gi', 'hugepages-2Mi': '1Gi', 'hugepages-1Gi': '2Gi' },
    })
    expect(answerOf({}, { hugePages: new Map([['hugepages-1Gi', 9 * GiB]]) })).toMatchObject({
      allocatable: { memory: '0' },
    })
  })

  it('trap 36: a percentage of nodefs is one of its capacity, and imagefs reserves nothing', () => {
    const evictionHard = {
      'nodefs.available': '10%',
      'imagefs.available': '50%',
      'nodefs.inodesFree': '5%',
      'imagefs.inodesFree': '5%',
      'pid.available': '10%',
    }
    // A tenth as float32 is a little more than a tenth.
    expect(answerOf({ evictionHard })).toMatchObject({
      reservation: { 'ephemeral-storage': String(2 * GiB + 32) },
    })
  })

  it('reserves a percentage of memory of what the machine has', () => {
    expect(answerOf({ evictionHard: { 'memory.available': '50%' } })).toMatchObject({
      reservation: { memory: '4Gi' },
      allocatable: { memory: '4Gi', 'ephemeral-storage': '20Gi' },
    })
  })

  it('has no ephemeral-storage where the kubelet does not isolate it, and reserves none', () => {
    const kubeReserved = { 'ephemeral-storage': '1Gi', pid: '100' }
    const answer = answerOf(
      { kubeReserved, evictionHard: { 'nodefs.available': '10%' } },
      { ephemeralStorageBytes: null },
    )
    expect(answer).toMatchObject({
      reservation: {},
      capacity: { cpu: '4', memory: '8Gi', pods: '110' },
    })
    expect(answer).not.toHaveProperty('allocatable.ephemeral-storage')
  })

  it.each([
    { maxPods: 29, podsPerCore: 0, pods: '29' },
    { maxPods: 29, podsPerCore: 1, pods: '4' },
    { maxPods: 29, podsPerCore: 7, pods: '28' },
    { maxPods: 29, podsPerCore: 8, pods: '29' },
    { maxPods: 1500, podsPerCore: 0, pods: '1500' },
    { maxPods: 2000, podsPerCore: 0, pods: '2k' },
  ])(
    'with maxPods $maxPods and podsPerCore $podsPerCore on four cores: $pods pods',
    ({ pods, ...limits }) => {
      expect(answerOf(limits)).toMatchObject({ capacity: { pods }, allocatable: { pods } })
    },
  )

  it.each([
    ['v1.36.3', '20Gi'],
    ['v1.37.0', '21474836480'],
  ])('%s prints the capacity of ephemeral-storage as %s', (version, text) => {
    expect(answerOf({}, {}, featuresOf(version))).toMatchObject({
      capacity: { 'ephemeral-storage': text },
    })
  })

  it.each([
    { cpu: '1500u', version: 'v1.36.3', reserved: '1500u' },
    { cpu: '1500u', version: 'v1.37.0', reserved: '2m' },
    { cpu: '1499u', version: 'v1.37.0', reserved: '1m' },
    { cpu: '0.0004999', version: 'v1.37.0', reserved: '1m' },
    { cpu: '0.0014990001', version: 'v1.37.0', reserved: '2m' },
    { cpu: '499u', version: 'v1.37.0', reserved: undefined },
    { cpu: '2', version: 'v1.37.0', reserved: '2' },
    { cpu: '0.1Ki', version: 'v1.37.0', reserved: '102400m' },
    { cpu: '1e90', version: 'v1.37.0', reserved: undefined },
    { cpu: '1e40', version: 'v1.37.0', reserved: undefined },
    { cpu: '99999999999999999999', version: 'v1.37.0', reserved: '-2537764290116403m' },
    { cpu: '9223372036854775807', version: 'v1.37.0', reserved: '-999m' },
    { cpu: '18446744073709', version: 'v1.37.0', reserved: '-551m' },
  ])('$version: $cpu of reserved cpu counts as $reserved', ({ cpu, version, reserved }) => {
    const answer = answerOf({ kubeReserved: { cpu } }, {}, featuresOf(version))
    expect('reservation' in answer && answer.reservation.cpu).toBe(reserved)
  })

  it('rounds neither memory nor storage', () => {
    const answer = answerOf({ kubeReserved: { memory: '1500u' } }, {}, featuresOf('v1.37.0'))
    expect(answer).toMatchObject({ reservation: { memory: '1500u' } })
  })
})

describe('reserved CPUs', () => {
  it.each([
    ['0', '1'],
    ['0-1', '2'],
    ['0-1,3', '3'],
    ['3,0-1', '3'],
    ['0-2,1', '3'],
    ['0-2,1-3', '4'],
    ['0-3,1-2,3', '4'],
    ['1-1', '1'],
    ['0-5,1-2,3-7', '8'],
    ['2-3,0-9', '10'],
  ])('%s take the place of both reservations: %s', (reservedSystemCPUs, cpu) => {
    const answer = answerOf({
      reservedSystemCPUs,
      kubeReserved: { cpu: '70m', memory: '1Gi' },
      systemReserved: { cpu: '500m', memory: '1Gi' },
    })
    expect(answer).toMatchObject({ reservation: { cpu, memory: '2Gi' } })
  })

  it('are none where the text is empty', () => {
    expect(answerOf({ reservedSystemCPUs: '', kubeReserved: { cpu: '70m' } })).toMatchObject({
      reservation: { cpu: '70m' },
    })
  })

  it('are counted without listing them', () => {
    expect(answerOf({ reservedSystemCPUs: '0-999999999999' })).toMatchObject({
      reservation: { cpu: '1T' },
    })
  })

  it.each([
    ['3-1', 'invalid range "3-1" (3 > 1)'],
    ['a', 'strconv.Atoi: parsing "a": invalid syntax'],
    ['1-2-3', 'strconv.Atoi: parsing "2-3": invalid syntax'],
    ['0,', 'strconv.Atoi: parsing "": invalid syntax'],
    ['-1', 'strconv.Atoi: parsing "": invalid syntax'],
  ])('%s are refused: %s', (reservedSystemCPUs, message) => {
    expect(answerOf({ reservedSystemCPUs })).toEqual({ field: 'reservedSystemCPUs', message })
  })
})

describe('a refused configuration', () => {
  const wrong =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  it.each<{ given: Partial<AllocatableConfiguration>; field: string; message: string }>([
    {
      given: { kubeReserved: { disk: '1Gi' } },
      field: 'kubeReserved',
      message: 'cannot reserve "disk" resource',
    },
    {
      given: { systemReserved: { memory: '-1Gi' } },
      field: 'systemReserved',
      message: 'resource quantity for "memory" cannot be negative: -1Gi',
    },
    {
      given: { systemReserved: { cpu: 'x' } },
      field: 'systemReserved',
      message: `failed to parse quantity "x" for "cpu" resource: ${wrong}`,
    },
    { given: { evictionHard: { 'memory.available': 'x' } }, field: 'evictionHard', message: wrong },
    {
      given: { kubeReserved: { memory: '-1', cpu: '-1' } },
      field: 'kubeReserved',
      message: 'resource quantity for "cpu" cannot be negative: -1',
    },
    {
      given: { kubeReserved: { a: '1' }, systemReserved: { b: '1' } },
      field: 'kubeReserved',
      message: 'cannot reserve "a" resource',
    },
    {
      given: { systemReserved: { b: '1' }, evictionHard: { c: '1' } },
      field: 'systemReserved',
      message: 'cannot reserve "b" resource',
    },
  ])('$given: $field: $message', ({ given, field, message }) => {
    expect(answerOf(given)).toEqual({ field, message })
  })

  it.each([['v1.29.15', `failed to parse quantity "x" for "cpu" resource: ${wrong}`]])(
    '%s says of a quantity that is none: %s',
    (version, message) => {
      expect(answerOf({ kubeReserved: { cpu: 'x' } }, {}, featuresOf(version))).toEqual({
        field: 'kubeReserved',
        message,
      })
    },
  )

  it('takes a reservation of zero', () => {
    expect(answerOf({ kubeReserved: { memory: '0' } })).toMatchObject({ reservation: {} })
  })
})

describe('over-reservation', () => {
  it('is none where all is reserved', () => {
    expect(answerOf({ kubeReserved: { memory: '8Gi' } })).toMatchObject({
      overReserved: [],
      error: null,
      allocatable: { memory: '0' },
    })
  })

  it.each([
    [
      'v1.29.15',
      'invalid Node Allocatable configuration. ' +
        'Resource "cpu" has an allocatable of {{100 0} {<nil>}  DecimalSI}, capacity of {{-96000 -3} {<nil>}  DecimalSI} ' +
        'Resource "memory" has an allocatable of {{17179869184 0} {<nil>}  BinarySI}, capacity of {{-8589934592 0} {<nil>}  BinarySI}',
    ],
    [
      'v1.30.14',
      'invalid Node Allocatable configuration. ' +
        'Resource "cpu" has a reservation of {{100 0} {<nil>}  DecimalSI} but capacity of {{4000 -3} {<nil>}  DecimalSI}. Expected capacity >= reservation. ' +
        'Resource "memory" has a reservation of {{17179869184 0} {<nil>}  BinarySI} but capacity of {{8589934592 0} {<nil>}  BinarySI}. Expected capacity >= reservation.',
    ],
  ])('%s does not start with it, as upstream says', (version, error) => {
    expect(
      answerOf({ systemReserved: { memory: '16Gi', cpu: '100' } }, {}, featuresOf(version)),
    ).toMatchObject({
      overReserved: ['cpu', 'memory'],
      error,
      podsCgroupLimit: { cpu: '0', memory: '0' },
      allocatable: { cpu: '0', memory: '0' },
    })
  })

  it('is reported by resource', () => {
    const systemReserved = { memory: '16Gi', 'ephemeral-storage': '1Ti', cpu: '5' }
    expect(answerOf({ systemReserved })).toMatchObject({
      overReserved: ['cpu', 'ephemeral-storage', 'memory'],
    })
  })

  it('shows the quantity where upstream shows an address', () => {
    const answer = answerOf({ systemReserved: { memory: '16.5Gi' } })
    expect(answer).toMatchObject({
      error: expect.stringContaining('16896Mi but capacity of {{8589934592 0}'),
    })
  })
})

const recorded = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/real/${name}.json`, import.meta.url), 'utf8'))

describe('predictAllocatable', () => {
  it.each(['single-disk', 'split-disk'])(
    'returns for a real node (%s) what the node reports',
    name => {
      const node = recorded(`${name}-node`) as { status: { allocatable: Record<string, string> } }
      const { allocatable, ...others } = predictAllocatable(
        parsedNode(node),
        parseConfigz(recorded(`${name}-configz`)).fields,
        featuresOf('v1.34.4'),
      )
      expect(allocatable).toEqual({ ...node.status.allocatable, matchesNode: true })
      expect(others).toEqual({ differing: [], refusals: [], unknowns: [] })
    },
  )

  const capacity = {
    cpu: '4',
    memory: '8Gi',
    'ephemeral-storage': '20Gi',
    pods: '110',
    'vpc.amazonaws.com/pod-eni': '9',
  }
  const nodeOf = (
    reported: Record<string, unknown> | undefined,
    present: Record<string, unknown> = capacity,
  ) => ({ status: { capacity: present, allocatable: reported } })
  const predict = (node: unknown, configuration: KubeletConfiguration = {}, features = newest) =>
    predictAllocatable(parsedNode(node), configuration, features)

  it('takes what a configuration does not say from its defaults, and leaves out what others offer', () => {
    expect(predict(nodeOf(capacity)).allocatable).toEqual({
      cpu: '4',
      memory: '8Gi',
      'ephemeral-storage': '20Gi',
      pods: '110',
      matchesNode: true,
    })
  })

  it('names what the node reports otherwise, or not at all', () => {
    const { allocatable, differing, unknowns } = predict(
      nodeOf({ cpu: '4000m', memory: '7Gi', pods: '29' }),
    )
    expect(allocatable).toMatchObject({ memory: '8Gi', matchesNode: false })
    expect(differing).toEqual(['ephemeral-storage', 'memory', 'pods'])
    expect(unknowns).toEqual([])
  })

  it.each([undefined, { ...capacity, memory: 'lots' }, { ...capacity, cpu: 'many' }])(
    'does not say that it matches %j',
    reported => {
      const { allocatable, differing, unknowns } = predict(nodeOf(reported))
      expect(allocatable).toMatchObject({ memory: '8Gi', matchesNode: null })
      expect(differing).toEqual([])
      expect(unknowns).toMatchSnapshot()
    },
  )

  it.each([
    {},
    { cpu: '4' },
    { memory: '8Gi' },
    { ...capacity, cpu: '1500m' },
    { ...capacity, memory: '-8Gi' },
    { ...capacity, 'ephemeral-storage': 'x' },
    { ...capacity, 'hugepages-2Mi': '0.5' },
    { ...capacity, 'hugepages-2Mi': '-2Mi' },
  ])('knows nothing of a machine with %j', present => {
    expect(predict(nodeOf(capacity, present))).toMatchSnapshot()
  })

  it('keeps a capacity in bytes in bytes: no decimal suffix appears', () => {
    const present = { cpu: '2', memory: '8000001001', 'hugepages-2Mi': '0' }
    expect(
      predict(nodeOf({}, present), { kubeReserved: { memory: '1' } }).allocatable,
    ).toMatchObject({ memory: '8000001000', 'hugepages-2Mi': '0' })
  })

  it.each([{ maxPods: 29.5 }, { podsPerCore: 0.5 }])(
    'knows nothing where configz says %j',
    configuration => {
      expect(predict(nodeOf(capacity), configuration).unknowns).toMatchSnapshot()
    },
  )

  it.each<{ configuration: KubeletConfiguration; version: string; message: string }>([
    {
      configuration: { kubeReserved: { x: '1' } },
      version: 'v1.29.0',
      message: '--kube-reserved value failed to parse: cannot reserve "x" resource',
    },
    {
      configuration: { systemReserved: { x: '1' } },
      version: 'v1.37.0',
      message: '--system-reserved value failed to parse: cannot reserve "x" resource',
    },
    {
      configuration: { evictionHard: { x: '1' } },
      version: 'v1.37.0',
      message: 'unsupported eviction signal x',
    },
    {
      configuration: { reservedSystemCPUs: 'x' },
      version: 'v1.37.0',
      message: 'unable to parse reserved-cpus list: strconv.Atoi: parsing "x": invalid syntax',
    },
  ])('$version refuses $configuration: $message', ({ configuration, version, message }) => {
    expect(predict(nodeOf(capacity), configuration, featuresOf(version))).toEqual({
      allocatable: null,
      differing: [],
      refusals: [{ fields: Object.keys(configuration), message }],
      unknowns: [],
    })
  })

  it('returns the rest beside the refusal of an over-reservation', () => {
    const { allocatable, refusals } = predict(nodeOf(capacity), { kubeReserved: { memory: '9Gi' } })
    expect(allocatable).toMatchObject({ memory: '0', matchesNode: false })
    expect(refusals).toMatchObject([
      {
        fields: ['kubeReserved', 'systemReserved', 'evictionHard'],
        message: expect.stringContaining('Expected capacity >= reservation.'),
      },
    ])
  })

  it('never throws, whatever the node and the configuration', () => {
    const quantity = fc.oneof(fc.constantFrom('1', '8Gi', '-1', '1e90', '0.5', '9Ei'), fc.string())
    const map = fc.dictionary(
      fc.constantFrom(
        'cpu',
        'memory',
        'ephemeral-storage',
        'pid',
        'hugepages-2Mi',
        'memory.available',
      ),
      quantity,
    )
    const node = fc.oneof(
      fc.anything(),
      fc.record({
        status: fc.record({ capacity: map, allocatable: fc.oneof(map, fc.anything()) }),
      }),
    )
    const configuration = fc.record(
      {
        kubeReserved: map,
        systemReserved: map,
        evictionHard: map,
        reservedSystemCPUs: fc.string(),
        maxPods: fc.double(),
        podsPerCore: fc.integer(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        node,
        configuration,
        fc.constantFrom('v1.29.0', 'v1.37.0'),
        (given, configured, version) => {
          expect(
            JSON.stringify(predictAllocatable(parsedNode(given), configured, featuresOf(version))),
          ).not.toMatch(/NaN|Infinity/)
        },
      ),
    )
  })
})
