import { describe, expect, it } from 'vitest'
import { withFlags } from '#replay/kubelet-flags.ts'

const file = { evictionHard: { 'memory.available': '100Mi' }, imageGCHighThresholdPercent: 85, maxPods: 29 }

describe('withFlags', () => {
  it('leaves the file alone where no flag takes its place', () => {
    expect(withFlags(file, ['/usr/bin/kubelet', '--config', '/etc/kubernetes/kubelet/config.json', '--max-pods=5'])).toEqual({
      raw: file,
      errors: [],
    })
  })

  it.each([
    [['--eviction-hard=nodefs.available<10%,imagefs.available<15%']],
    [['--eviction-hard', 'nodefs.available<10%, imagefs.available<15%']],
    [['--eviction_hard=nodefs.available<10%', '--eviction-hard=imagefs.available<15%']],
  ])('%j replaces the whole map, and adds to itself', commandLine => {
    expect(withFlags(file, commandLine).raw.evictionHard).toEqual({ 'nodefs.available': '10%', 'imagefs.available': '15%' })
  })

  it('reads every flag it knows', () => {
    const commandLine = [
      '--eviction-soft=memory.available<1Gi',
      '--eviction-soft-grace-period=memory.available=90s',
      '--eviction-minimum-reclaim',
      'nodefs.available=1Gi',
      '--image-gc-high-threshold=70',
      '--image-gc-low-threshold',
      '60',
      '--feature-gates=ImageMaximumGCAge=true',
    ]
    expect(withFlags({ featureGates: { NodeSwap: true } }, commandLine)).toEqual({
      raw: {
        evictionSoft: { 'memory.available': '1Gi' },
        evictionSoftGracePeriod: { 'memory.available': '90s' },
        evictionMinimumReclaim: { 'nodefs.available': '1Gi' },
        imageGCHighThresholdPercent: 70,
        imageGCLowThresholdPercent: 60,
        featureGates: { NodeSwap: true, ImageMaximumGCAge: true },
      },
      errors: [],
    })
  })

  it('reads nothing after --', () => {
    expect(withFlags(file, ['--', '--image-gc-high-threshold=70']).raw).toEqual(file)
  })

  it.each([
    [
      '--eviction-hard=memory.available=1Gi',
      'invalid argument "memory.available=1Gi" for "--eviction-hard" flag: malformed pair, expect string<string',
    ],
    [
      '--image-gc-high-threshold=many',
      'invalid argument "many" for "--image-gc-high-threshold" flag: strconv.ParseInt: parsing "many": invalid syntax',
    ],
    [
      '--feature-gates=A=b',
      'invalid argument "A=b" for "--feature-gates" flag: invalid value of A: b, err: strconv.ParseBool: parsing "b": invalid syntax',
    ],
  ])('refuses %s', (argument, error) => {
    expect(withFlags(file, [argument]).errors).toEqual([error])
  })
})
