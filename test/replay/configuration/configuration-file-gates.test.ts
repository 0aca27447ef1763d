import { describe, expect, it } from 'vitest'
import { type GateSettings, isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { featureGateError } from '#replay/configuration/configuration-file.ts'
import { kubeletOf } from '#replay/times.ts'

const of = (minor: number) => featuresOf(`v1.${minor}.0`)

interface Switched {
  settings: GateSettings
  isOn: boolean
}

describe('isGateOn', () => {
  it.each<Switched>([
    { settings: null, isOn: false },
    { settings: { MemoryQoS: true }, isOn: true },
    { settings: { AllAlpha: true }, isOn: true },
    { settings: { AllBeta: true }, isOn: false },
    // A gate that is set by its own name is not switched with the others, wherever it stands.
    { settings: { AllAlpha: true, MemoryQoS: false }, isOn: false },
    { settings: { MemoryQoS: true, AllAlpha: false }, isOn: true },
  ])('an alpha gate with $settings: $isOn', ({ settings, isOn }) => {
    expect(isGateOn('MemoryQoS', settings, of(34))).toBe(isOn)
    expect(kubeletOf('v1.34.0', settings).isGateOn('MemoryQoS')).toBe(isOn)
  })

  it.each<Switched>([
    { settings: { AllBeta: false }, isOn: false },
    { settings: { AllAlpha: false }, isOn: true },
    { settings: { AllBeta: false, KubeletSeparateDiskGC: true }, isOn: true },
  ])('a beta gate with $settings: $isOn', ({ settings, isOn }) => {
    expect(isGateOn('KubeletSeparateDiskGC', settings, of(34))).toBe(isOn)
  })

  it('leaves gates alone that are neither', () => {
    expect(isGateOn('ImageMaximumGCAge', { AllAlpha: false, AllBeta: false }, of(35))).toBe(true)
    expect(
      isGateOn('WatchFromStorageWithoutResourceVersion', { AllAlpha: true, AllBeta: true }, of(34)),
    ).toBe(false)
  })

  it('does not switch AllBeta and AllAlpha with each other', () => {
    expect(isGateOn('AllAlpha', { AllBeta: true }, of(34))).toBe(false)
    expect(isGateOn('AllBeta', { AllAlpha: true }, of(34))).toBe(false)
    expect(isGateOn('AllBeta', { AllBeta: true }, of(34))).toBe(true)
  })

  it.each(['constructor', 'NoSuchGate'])('has %s off', gate => {
    expect(isGateOn(gate, {}, of(34))).toBe(false)
    expect(isGateOn(gate, { AllAlpha: true }, of(34))).toBe(false)
  })

  it('takes a setting that is no boolean for none', () => {
    expect(isGateOn('MemoryQoS', { MemoryQoS: 'true' } as never, of(34))).toBe(false)
  })
})

describe('featureGateError', () => {
  it.each([
    { minor: 34, settings: null, error: null },
    { minor: 34, settings: {}, error: null },
    { minor: 34, settings: { MemoryQoS: true, AllBeta: false }, error: null },
    { minor: 34, settings: { NoSuchGate: false }, error: 'unrecognized feature gate: NoSuchGate' },
    { minor: 29, settings: { ImageVolume: true }, error: 'unrecognized feature gate: ImageVolume' },
    { minor: 34, settings: { NodeSwap: true }, error: null },
    {
      minor: 34,
      settings: { NodeSwap: false },
      error: 'cannot set feature gate NodeSwap to false, feature is locked to true',
    },
    {
      minor: 34,
      settings: { NodeSwap: false, NoSuchGate: true },
      error: 'unrecognized feature gate: NoSuchGate',
    },
    {
      minor: 34,
      settings: { WatchFromStorageWithoutResourceVersion: true },
      error:
        'cannot set feature gate WatchFromStorageWithoutResourceVersion to true, feature is locked to false',
    },
    {
      minor: 31,
      settings: { SeccompDefault: false, CPUManager: false, MemoryManager: true },
      error: 'unrecognized feature gate: SeccompDefault',
    },
    {
      minor: 31,
      settings: { DisableCloudProviders: false, CPUManager: false },
      error:
        '[cannot set feature gate CPUManager to false, feature is locked to true, cannot set feature gate DisableCloudProviders to false, feature is locked to true]',
    },
    // Before 1.31 upstream stops at the first that it meets.
    {
      minor: 30,
      settings: { APIListChunking: false, CPUManager: false },
      error: 'cannot set feature gate APIListChunking to false, feature is locked to true',
    },
  ])('1.$minor on $settings: $error', ({ minor, settings, error }) => {
    expect(featureGateError(settings as GateSettings, of(minor))).toBe(error)
  })

  it('asks from 1.35 on that a gate has what it needs', () => {
    const settings = { GracefulNodeShutdown: false, WindowsGracefulNodeShutdown: false }
    const text =
      'GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are disabled: [GracefulNodeShutdown]'
    expect(featureGateError(settings, of(34))).toBeNull()
    expect(featureGateError(settings, of(35))).toBe(text)
    expect(
      featureGateError({ ...settings, GracefulNodeShutdownBasedOnPodPriority: false }, of(35)),
    ).toBeNull()
    expect(featureGateError({ GracefulNodeShutdown: false }, of(35))).toBe(
      `[${text}, WindowsGracefulNodeShutdown is enabled, but depends on features that are disabled: [GracefulNodeShutdown]]`,
    )
  })
})
