import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { flagSettings, flagValue } from '#facts/kubelet/flag-settings.ts'
import { loadConfigFile } from '#replay/configuration/configuration-file.ts'
import { withFlags } from '#replay/configuration/next-start.ts'

const kubeletVersion = 'v1.34.4'
const features = featuresOf(kubeletVersion)
const file = loadConfigFile(
  {
    evictionHard: { 'memory.available': '100Mi' },
    featureGates: { NodeSwap: true },
    enforceNodeAllocatable: ['none'],
    maxPods: 29,
  },
  { kubeletVersion, operatingSystem: 'linux' },
)
const flagged = (...commandLine: string[]) => withFlags(file, flagSettings(commandLine), features)
const errorOf = (...commandLine: string[]) => flagSettings(commandLine).error

describe('withFlags', () => {
  it('leaves the file alone where no flag takes its place', () => {
    expect(
      flagged(
        '/usr/bin/kubelet',
        '--config',
        '/etc/kubernetes/kubelet/config.json',
        '--node-ip=10.0.1.2',
      ),
    ).toEqual(file)
  })

  it.each([
    [['--eviction-hard=nodefs.available<10%,imagefs.available<15%']],
    [['--eviction-hard', 'nodefs.available<10%, imagefs.available<15%']],
    [['--eviction_hard=nodefs.available<10%', '--eviction-hard=imagefs.available<15%']],
  ])('trap 16: %j replaces the whole map, and adds to itself', commandLine => {
    expect(flagged(...commandLine).evictionHard).toEqual({
      'nodefs.available': '10%',
      'imagefs.available': '15%',
    })
  })

  it('replaces a list likewise', () => {
    expect(
      flagged('--enforce-node-allocatable=pods,kube-reserved', '--enforce-node-allocatable=x')
        .enforceNodeAllocatable,
    ).toEqual(['pods', 'kube-reserved', 'x'])
    expect(flagged('--enforce-node-allocatable=').enforceNodeAllocatable).toEqual([])
  })

  it('merges feature gates with those of the file', () => {
    expect(flagged('--feature-gates=MemoryQoS=true').featureGates).toEqual({
      NodeSwap: true,
      MemoryQoS: true,
    })
    expect(flagged('--feature-gates=NodeSwap=f').featureGates).toEqual({ NodeSwap: false })
  })

  it('sets fields within fields, and no others beside them', () => {
    const { authentication } = flagged(
      '--anonymous-auth',
      '--authentication-token-webhook-cache-ttl=3s',
    )
    expect(authentication).toEqual({
      anonymous: { enabled: true },
      webhook: { enabled: true, cacheTTL: 3_000_000_000n },
      x509: { clientCAFile: '' },
    })
    expect(file.authentication.anonymous.enabled).toBe(false)
  })

  it('sets how often logs are flushed, not how that is shown', () => {
    expect(flagged('--log-flush-frequency=7s').logging.flushFrequency).toEqual({
      nanoseconds: 7_000_000_000n,
      isText: true,
    })
  })

  it.each([[['-v=3']], [['-v', '3']], [['-v3']], [['--v=3']], [['--v', '3']]])(
    '%j is the verbosity',
    commandLine => {
      expect(flagged(...commandLine).logging.verbosity).toBe(3)
    },
  )

  it('takes the next word for the value, unless the flag is a switch', () => {
    expect(flagged('--max-pods', '58', '--fail-swap-on', 'false', '--port=5')).toMatchObject({
      maxPods: 58,
      failSwapOn: true,
      port: 5,
    })
    expect(flagged('--fail-swap-on=false').failSwapOn).toBe(false)
  })

  it('reads nothing after --', () => {
    expect(flagged('--', '--image-gc-high-threshold=70')).toEqual(file)
  })

  it('leaves fields alone that the minor does not know: their flags are none of its configuration', () => {
    const settings = flagSettings(['--image-service-endpoint=unix:///x'])
    expect(withFlags(file, settings, featuresOf('v1.29.0'))).toMatchObject({
      imageServiceEndpoint: 'unix:///x',
    })
  })

  it('splits no options of the CPU manager', () => {
    expect(flagged('--cpu-manager-policy-options=a=b,c=d').cpuManagerPolicyOptions).toEqual({
      a: 'b,c=d',
    })
  })
})

describe('flagSettings', () => {
  it.each([
    [
      '--eviction-hard=memory.available=1Gi',
      'memory.available=1Gi',
      '--eviction-hard',
      'malformed pair, expect string<string',
    ],
    [
      '--kube-reserved=cpu=1,memory',
      'cpu=1,memory',
      '--kube-reserved',
      'malformed pair, expect string=string',
    ],
    ['--feature-gates=A', 'A', '--feature-gates', 'malformed pair, expect string=bool'],
    [
      '--feature-gates=A=b',
      'A=b',
      '--feature-gates',
      'invalid value of A: b, err: strconv.ParseBool: parsing "b": invalid syntax',
    ],
    [
      '--image-gc-high-threshold=many',
      'many',
      '--image-gc-high-threshold',
      'strconv.ParseInt: parsing "many": invalid syntax',
    ],
    [
      '--max-pods=2147483648',
      '2147483648',
      '--max-pods',
      'strconv.ParseInt: parsing "2147483648": value out of range',
    ],
    [
      '--fail-swap-on=maybe',
      'maybe',
      '--fail-swap-on',
      'strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [
      '--minimum-image-ttl-duration=5',
      '5',
      '--minimum-image-ttl-duration',
      'time: missing unit in duration "5"',
    ],
    ['--address=1.2.3', '1.2.3', '--address', '"1.2.3" is not a valid IP address'],
    ['--v=-1', '-1', '-v, --v', 'strconv.ParseUint: parsing "-1": invalid syntax'],
  ])('refuses %s', (argument, value, flag, why) => {
    expect(errorOf(argument, '--max-pods=x')).toBe(
      `invalid argument "${value}" for "${flag}" flag: ${why}`,
    )
  })

  it('misses the value of the last flag', () => {
    expect(errorOf('--max-pods')).toMatchSnapshot()
  })

  it.each(['1.2.3.4', '255.255.255.255', '1.2.3.004', '::1', 'fe80::1'])(
    'takes %s for an address',
    address => {
      expect(errorOf(`--address=${address}`)).toBeNull()
    },
  )

  it.each(['1.2.3.256', '1.2.3.4.5', '1.2.3', 'x', ''])('takes %j for no address', address => {
    expect(errorOf(`--address=${address}`)).not.toBeNull()
  })
})

describe('flagValue', () => {
  it.each([
    [['--config-dir=/d'], '/d'],
    [['--config-dir', '/d'], '/d'],
    [['--config_dir=/d'], '/d'],
    [['--config-dir=/a', '--config-dir=/b=c'], '/b=c'],
    [['--config-dir'], ''],
    [['--', '--config-dir=/d'], null],
    [['--config=/f'], null],
    [[], null],
  ])('%j: %s', (commandLine, value) => {
    expect(flagValue(commandLine, 'config-dir')).toBe(value)
  })
})
