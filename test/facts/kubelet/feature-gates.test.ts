import { describe, expect, it } from 'vitest'
import {
  dependenciesOfGates,
  gateDependencies,
  gateHistory,
  gateState,
} from '#facts/kubelet/feature-gates.ts'
import { featuresOf } from '#facts/kubelet/features.ts'

const minors = [29, 30, 31, 32, 33, 34, 35, 36, 37]
const of = (minor: number) => featuresOf(`v1.${minor}.0`)

describe('gateState', () => {
  it.each([
    { minor: 29, state: { isOn: false, isLocked: false, stage: 'alpha' } },
    { minor: 30, state: { isOn: true, isLocked: false, stage: 'beta' } },
    { minor: 34, state: { isOn: true, isLocked: false, stage: 'beta' } },
    { minor: 35, state: { isOn: true, isLocked: true, stage: 'GA' } },
    { minor: 37, state: { isOn: true, isLocked: true, stage: 'GA' } },
  ])('knows what ImageMaximumGCAge was in 1.$minor', ({ minor, state }) => {
    expect(gateState('ImageMaximumGCAge', of(minor))).toEqual(state)
  })

  it.each(['constructor', '__proto__', 'NoSuchGate', ''])('has no gate %j', name => {
    expect(gateState(name, of(34))).toBeNull()
  })

  // How many gates the kubelet's own code holds, AllAlpha and AllBeta among them.
  it.each([
    [29, 162],
    [30, 169],
    [31, 167],
    [32, 179],
    [33, 191],
    [34, 208],
    [35, 218],
    [36, 242],
    [37, 254],
  ])('has all gates of 1.%i: %i', (minor, count) => {
    expect(
      Object.keys(gateHistory).filter(name => gateState(name, of(minor)) !== null),
    ).toHaveLength(count)
  })

  it.each([
    // nodeadm
    { gate: 'RotateKubeletServerCertificate', taken: [29, 37] },
    { gate: 'DynamicResourceAllocation', taken: [29, 37] },
    { gate: 'MutableCSINodeAllocatableCount', taken: [33, 37] },
    // Bottlerocket
    { gate: 'InPlacePodVerticalScaling', taken: [29, 37] },
    { gate: 'SidecarContainers', taken: [29, 36] },
    { gate: 'DisableKubeletCloudCredentialProviders', taken: [29, 32] },
  ])(
    'knows that $gate is there from 1.$taken.0 to 1.$taken.1',
    ({ gate, taken: [from = 0, to = 0] }) => {
      expect(minors.filter(minor => gateState(gate, of(minor)) !== null)).toEqual(
        minors.filter(minor => minor >= from && minor <= to),
      )
    },
  )

  it.each([
    { gate: 'MemoryQoS', onFrom: 37 },
    { gate: 'NodeSwap', onFrom: 30 },
    { gate: 'KubeletSeparateDiskGC', onFrom: 31 },
    { gate: 'ImageVolume', onFrom: 35 },
    { gate: 'GracefulNodeShutdown', onFrom: 29 },
  ])('has $gate on from 1.$onFrom', ({ gate, onFrom }) => {
    expect(minors.filter(minor => gateState(gate, of(minor))?.isOn)).toEqual(
      minors.filter(minor => minor >= onFrom),
    )
  })
})

describe('dependenciesOfGates', () => {
  const needsOf = (gate: string, minor: number) =>
    dependenciesOfGates(of(minor)).find(one => one.gate === gate)?.needs ?? []

  it('has none before 1.35', () => {
    expect(minors.filter(minor => dependenciesOfGates(of(minor)).length > 0)).toEqual([35, 36, 37])
  })

  it.each([
    { gate: 'GracefulNodeShutdownBasedOnPodPriority', minor: 36, needs: ['GracefulNodeShutdown'] },
    {
      gate: 'InPlacePodVerticalScalingExclusiveMemory',
      minor: 35,
      needs: ['InPlacePodVerticalScaling', 'MemoryManager'],
    },
    {
      gate: 'InPlacePodVerticalScalingExclusiveMemory',
      minor: 36,
      needs: ['InPlacePodVerticalScaling'],
    },
    { gate: 'AuthorizeNodeWithSelectors', minor: 37, needs: [] },
  ])('$gate of 1.$minor needs $needs', ({ gate, minor, needs }) => {
    expect(needsOf(gate, minor)).toEqual(needs)
  })

  it('names only gates that the minor has', () => {
    const unknown = minors.flatMap(minor =>
      dependenciesOfGates(of(minor)).flatMap(({ gate, needs }) =>
        [gate, ...needs].filter(name => gateState(name, of(minor)) === null),
      ),
    )
    expect(unknown).toEqual([])
    expect(Object.keys(gateDependencies).every(gate => Object.hasOwn(gateHistory, gate))).toBe(true)
  })
})
