import { describe, expect, it } from 'vitest'
import type { Threshold } from '#model/prediction.ts'
import {
  parseThresholdConfig,
  type ThresholdConfiguration,
  updateContainerFsThresholds,
} from '#replay/eviction/thresholds.ts'
import { dedicated, shared, split } from '#test/eviction-builder.ts'

const comparable = (thresholds: readonly Threshold[]) =>
  thresholds.map(({ signal, value, gracePeriodMs, minReclaim }) =>
    [signal, value.text, `${gracePeriodMs / 1000}s`, ...(minReclaim ? [minReclaim.text] : [])].join(
      ' ',
    ),
  )

const updated = (configuration: ThresholdConfiguration, layout = shared) => {
  const { configured, added } = updateContainerFsThresholds(
    parseThresholdConfig(configuration),
    layout,
  )
  return { configured: comparable(configured), added: comparable(added) }
}

const everything: ThresholdConfiguration = {
  evictionHard: {
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '6%',
  },
  evictionSoft: { 'nodefs.available': '20%', 'imagefs.inodesFree': '7%' },
  evictionSoftGracePeriod: { 'nodefs.available': '1m', 'imagefs.inodesFree': '2m' },
  evictionMinimumReclaim: { 'nodefs.available': '1Gi', 'imagefs.inodesFree': '3' },
}
const ofNodefs = [
  'containerfs.available 10% 0s 1Gi',
  'containerfs.available 20% 60s 1Gi',
  'containerfs.inodesFree 5% 0s',
]
const ofImagefs = [
  'containerfs.available 15% 0s',
  'containerfs.inodesFree 6% 0s 3',
  'containerfs.inodesFree 7% 120s 3',
]

describe('updateContainerFsThresholds', () => {
  it.each([
    { what: 'one filesystem', layout: shared, added: ofNodefs },
    { what: 'images and containers on their own', layout: dedicated, added: ofImagefs },
    { what: 'images alone on their own', layout: split, added: ofNodefs },
    {
      what: 'containers alone on their own',
      layout: { dedicatedImageFs: false, splitContainerImageFs: true },
      added: [],
    },
  ])('adds those of the filesystem that containers are on: $what', ({ layout, added }) => {
    const before = comparable(parseThresholdConfig(everything))
    expect(updated(everything, layout)).toEqual({ configured: before, added })
  })

  it('adds nothing where the filesystem has no thresholds', () => {
    expect(
      updated({ evictionHard: { 'memory.available': '100Mi', 'imagefs.available': '15%' } }),
    ).toMatchObject({ added: [] })
  })

  it('overwrites what was configured for containerfs, and forgets it where there is nothing to write', () => {
    const configuration: ThresholdConfiguration = {
      evictionHard: {
        'containerfs.available': '50%',
        'containerfs.inodesFree': '51%',
        'nodefs.available': '10%',
      },
      evictionSoft: { 'containerfs.available': '60%' },
      evictionSoftGracePeriod: { 'containerfs.available': '5s' },
    }
    expect(updated(configuration)).toEqual({
      configured: ['containerfs.available 10% 0s', 'nodefs.available 10% 0s'],
      added: [],
    })
  })

  it('overwrites only the last of two hard ones, and copies the last of two', () => {
    const configuration: ThresholdConfiguration = {
      evictionHard: { 'containerfs.available': '50%', 'nodefs.available': '10%' },
      evictionSoft: { 'containerfs.available': '60%', 'nodefs.available': '20%' },
      evictionSoftGracePeriod: { 'containerfs.available': '0s', 'nodefs.available': '0s' },
    }
    expect(updated(configuration).configured).toEqual([
      'containerfs.available 50% 0s',
      'nodefs.available 10% 0s',
      'containerfs.available 20% 0s',
      'nodefs.available 20% 0s',
    ])
  })
})
