import { describe, expect, it } from 'vitest'
import type { NodeRecord } from '#model/input/record.ts'
import { parseChange, withChanges } from '#replay/configuration/configuration-change.ts'
import { inputOf } from '#test/at-the-door.ts'

describe('parseChange', () => {
  it.each([
    ['imageGCHighThresholdPercent=70', ['imageGCHighThresholdPercent'], 70],
    ['evictionHard.nodefs.available=15%', ['evictionHard', 'nodefs.available'], '15%'],
    ['evictionHard.nodefs.available=null', ['evictionHard', 'nodefs.available'], undefined],
    ['evictionSoft=null', ['evictionSoft'], undefined],
    ['evictionHard={"memory.available":"1Gi"}', ['evictionHard'], { 'memory.available': '1Gi' }],
    ['imageMinimumGCAge=10m', ['imageMinimumGCAge'], '10m'],
    ['containerLogMaxSize=50Mi', ['containerLogMaxSize'], '50Mi'],
    ['failSwapOn=false', ['failSwapOn'], false],
    ['featureGates.ImageMaximumGCAge=true', ['featureGates', 'ImageMaximumGCAge'], true],
    [
      'enforceNodeAllocatable=pods,kube-reserved',
      ['enforceNodeAllocatable'],
      ['pods', 'kube-reserved'],
    ],
    ['enforceNodeAllocatable=["pods"]', ['enforceNodeAllocatable'], ['pods']],
    ['enforceNodeAllocatable=', ['enforceNodeAllocatable'], []],
    ['memorySwap.swapBehavior=NoSwap', ['memorySwap', 'swapBehavior'], 'NoSwap'],
    ['podPidsLimit=-1', ['podPidsLimit'], -1],
    ['memoryThrottlingFactor=0.5', ['memoryThrottlingFactor'], 0.5],
    ['systemReserved.memory=a=b', ['systemReserved', 'memory'], 'a=b'],
  ])('%s', (text, path, value) => {
    expect(parseChange(text)).toEqual({ path, value })
  })

  it.each([
    [
      'imageGCHighThresholdPercent',
      'A change is written FIELD=VALUE, like imageGCHighThresholdPercent=70; not imageGCHighThresholdPercent',
    ],
    ['=70', 'A change is written FIELD=VALUE, like imageGCHighThresholdPercent=70; not =70'],
    [
      'imageGcHighThresholdPercent=70',
      'No field of KubeletConfiguration is called imageGcHighThresholdPercent: did you mean imageGCHighThresholdPercent?',
    ],
    [
      'evictionhard.nodefs.available=1',
      'No field of KubeletConfiguration is called evictionhard.nodefs.available: did you mean evictionHard?',
    ],
    ['maxPod=1', 'No field of KubeletConfiguration is called maxPod: did you mean maxPods?'],
    [
      'diskPressure=1',
      'No field of KubeletConfiguration is called diskPressure; names are those that configz shows',
    ],
    [
      '__proto__.x=1',
      'No field of KubeletConfiguration is called __proto__.x; names are those that configz shows',
    ],
    [
      'imageGCHighThresholdPercent=70%',
      'imageGCHighThresholdPercent takes a whole number, not 70%',
    ],
    [
      'imageGCHighThresholdPercent=',
      'imageGCHighThresholdPercent takes a whole number, not nothing',
    ],
    ['failSwapOn=yes', 'failSwapOn takes true or false, not yes'],
    ['evictionHard=15%', 'evictionHard takes a map in JSON, not 15%'],
    ['evictionHard=["a"]', 'evictionHard takes a map in JSON, not ["a"]'],
    ['maxPods.x=1', 'maxPods.x: maxPods has no fields of its own, it is a whole number'],
  ])('%s is refused', (text, message) => {
    expect(() => parseChange(text)).toThrow(message)
  })
})

describe('withChanges', () => {
  const record: NodeRecord = {
    kind: 'Node',
    cluster: 'prod',
    node: {},
    configz: {
      kubeletconfig: {
        maxPods: 29,
        evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
      },
    },
  }
  const changed = (...texts: string[]) =>
    withChanges(inputOf(record), texts.map(parseChange)).configuration?.printed

  it('changes one key of a map, and leaves the rest and the record alone', () => {
    expect(
      changed('evictionHard.nodefs.available=15%', 'evictionSoft.memory.available=1Gi'),
    ).toEqual({
      maxPods: 29,
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '15%' },
      evictionSoft: { 'memory.available': '1Gi' },
    })
    expect(record.configz?.kubeletconfig).toMatchObject({
      evictionHard: { 'nodefs.available': '10%' },
    })
  })

  it('takes away what is null, a key or a whole field, and applies the changes in their order', () => {
    expect(changed('evictionHard.nodefs.available=null')).toEqual({
      maxPods: 29,
      evictionHard: { 'memory.available': '100Mi' },
    })
    expect(changed('evictionHard=null')).toEqual({ maxPods: 29 })
    expect(changed('maxPods=1', 'maxPods=2')).toMatchObject({ maxPods: 2 })
  })

  it('has nothing to change where the running configuration was not read', () => {
    const unread = inputOf({ ...record, configz: null })
    expect(withChanges(unread, [parseChange('maxPods=1')])).toEqual(unread)
  })
})
