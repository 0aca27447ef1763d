import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { dropInForm, meaningOfKey, nearestName } from '#facts/kubelet/fields.ts'

describe('nearestName', () => {
  const names = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent', 'port', 'maxPods']

  it.each([
    ['imageGCHighTresholdPercent', 'imageGCHighThresholdPercent'],
    ['IMAGEGCHIGHTHRESHOLDPERCENT', 'imageGCHighThresholdPercent'],
    ['imageGCLowThreshold', 'imageGCLowThresholdPercent'],
    ['maxPod', 'maxPods'],
    ['maxPo', null],
    ['post', 'port'],
    ['posts', null],
    ['nothing', null],
    ['x'.repeat(10_000), null],
  ])('%s', (written, name) => {
    expect(nearestName(written, names)).toBe(name)
  })

  it('is none where two are as near', () => {
    expect(nearestName('axPods1', ['axPods2', 'axPods3'])).toBeNull()
  })
})

describe('meaningOfKey', () => {
  it.each([
    ['maxPods', 'v1.34.0', { field: 'maxPods', ignored: null }],
    ['MaxPods', 'v1.34.0', { field: 'maxPods', ignored: 'case' }],
    ['maxPodss', 'v1.34.0', { field: 'maxPods', ignored: 'misspelt' }],
    ['podLogsDir', 'v1.29.0', { field: 'podLogsDir', ignored: 'minor' }],
    ['podLogsDir', 'v1.30.0', { field: 'podLogsDir', ignored: null }],
    ['constructor', 'v1.34.0', { field: null, ignored: 'unknown' }],
  ])('%s to %s', (key, version, meaning) => {
    expect(meaningOfKey(key, featuresOf(version))).toEqual(meaning)
  })

  it.each([
    ['maxpods', 'v1.29.0', null],
    ['MaxPods', 'v1.31.0', null],
    ['MAXPODS', 'v1.31.0', 'case'],
    ['maxpods', 'v1.32.0', null],
    ['MaxPods', 'v1.32.0', 'case'],
    ['maxPodss', 'v1.34.0', 'misspelt'],
    ['mergedefaultEvictionSettings', 'v1.31.0', 'minor'],
  ])('%s in a drop-in of %s: %s', (key, version, ignored) => {
    const features = featuresOf(version)
    expect(meaningOfKey(key, features, dropInForm(features)).ignored).toBe(ignored)
  })
})
