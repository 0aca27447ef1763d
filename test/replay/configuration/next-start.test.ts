import { describe, expect, it } from 'vitest'
import { predictNextStart } from '#replay/configuration/next-start.ts'
import { hostOf } from '#test/at-the-door.ts'

const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
const main = (content: object) => ({
  path: '/etc/kubernetes/kubelet/config.json',
  role: 'config',
  content: { ...kind, ...content },
})
const dropIn = (name: string, content: object) => ({
  path: `/etc/kubernetes/kubelet/config.json.d/${name}`,
  role: 'drop-in',
  content: { ...kind, ...content },
})
const predict = (files: object[], version = 'v1.34.4', more: object = {}, kernel: object = {}) =>
  predictNextStart(hostOf({ kubelet: { files, ...more }, kernel }), version, 'linux')
const errorsOf = (...given: Parameters<typeof predict>) => predict(...given).prediction?.errors

describe('predictNextStart', () => {
  it('would start with a sound file, and says what its image GC comes to', () => {
    expect(
      predict([main({ imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 })]),
    ).toMatchObject({
      prediction: {
        files: ['/etc/kubernetes/kubelet/config.json'],
        errors: [],
        imageGCHighThresholdPercent: 70,
        imageGCLowThresholdPercent: 60,
      },
      unknowns: [],
    })
  })

  it('merges drop-ins by path and leaves other files in their folder alone', () => {
    const files = [
      dropIn('90-late.conf', { imageGCHighThresholdPercent: 60 }),
      main({ imageGCLowThresholdPercent: 50 }),
      dropIn('notes.txt', { imageGCHighThresholdPercent: 1 }),
      dropIn('40-nodeadm.conf', { imageGCHighThresholdPercent: 75 }),
    ]
    expect(predict(files).prediction).toMatchObject({
      files: [
        '/etc/kubernetes/kubelet/config.json',
        '/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf',
        '/etc/kubernetes/kubelet/config.json.d/90-late.conf',
      ],
      imageGCHighThresholdPercent: 60,
      imageGCLowThresholdPercent: 50,
    })
  })

  it('finds a low threshold that a drop-in has left above the high one', () => {
    expect(
      errorsOf([main({}), dropIn('50-gc.conf', { imageGCHighThresholdPercent: 75 })]),
    ).toMatchSnapshot()
  })

  it('finds what validation passes and the start does not', () => {
    expect(
      errorsOf([
        main({
          evictionSoft: { 'memory.available': '1Gi' },
          systemReserved: { disk: '1Gi' },
          containerLogMaxSize: '1.5Gi',
        }),
      ]),
    ).toMatchSnapshot()
  })

  it.each([
    {
      maps: { evictionMinimumReclaim: { 'nodefs.available': '0%' } },
      error: 'eviction percentage minimum reclaim nodefs.available must be positive: 0%',
    },
    {
      maps: { evictionSoftGracePeriod: { 'nodefs.available': '1d' } },
      error: 'time: unknown unit "d" in duration "1d"',
    },
    {
      maps: { kubeReserved: { memory: '-1' } },
      error:
        '--kube-reserved value failed to parse: resource quantity for "memory" cannot be negative: -1',
    },
  ])('reads every map: $error', ({ maps, error }) => {
    expect(errorsOf([main(maps)])).toEqual([error])
  })

  it('passes over what is no file', () => {
    const files = [
      null,
      5,
      { path: 5, role: 'config', content: {} },
      { path: '/a', role: 5 },
      { path: '/b', role: 'other' },
      main({}),
    ]
    expect(predict(files as object[]).prediction?.files).toEqual([
      '/etc/kubernetes/kubelet/config.json',
    ])
  })

  it('walks the drop-ins folder by folder', () => {
    const named = (path: string) => ({ path, role: 'drop-in', content: { ...kind } })
    const files = [
      named('/d/b.conf'),
      named('/d/a/z.conf'),
      named('/d/a.conf'),
      named('/d/a/y.conf'),
      main({}),
    ]
    expect(predict(files).prediction?.files.slice(1)).toEqual([
      '/d/a/y.conf',
      '/d/a/z.conf',
      '/d/a.conf',
      '/d/b.conf',
    ])
  })

  it('says once what validation and start both refuse', () => {
    expect(errorsOf([main({ containerLogMaxFiles: 1 })])).toMatchSnapshot()
    expect(errorsOf([main({ containerLogMaxFiles: 1 })], 'v1.32.0')).toMatchSnapshot()
  })

  it('lets a drop-in add a soft threshold to maps of the main file', () => {
    const files = [
      main({ evictionSoftGracePeriod: { 'memory.available': '90s' } }),
      dropIn('50.conf', { evictionSoft: { 'memory.available': '1Gi' } }),
    ]
    expect(errorsOf(files)).toEqual([])
  })

  it('takes null in a drop-in away from 1.32 on, and passes it over before', () => {
    const files = [
      main({ imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 50 }),
      dropIn('50.conf', { imageGCHighThresholdPercent: null }),
    ]
    expect(predict(files, 'v1.32.0').prediction?.imageGCHighThresholdPercent).toBe(85)
    expect(predict(files, 'v1.31.0').prediction?.imageGCHighThresholdPercent).toBe(60)
  })

  it('defaults a zero of a drop-in from 1.32 on, and leaves it before', () => {
    const files = [
      main({ imageMaximumGCAge: '1m' }),
      dropIn('50.conf', { imageMinimumGCAge: '0s' }),
    ]
    expect(errorsOf(files, 'v1.31.0')).toEqual([])
    expect(errorsOf(files, 'v1.32.0')).toMatchSnapshot()
  })

  it.each([
    { content: {}, is: "error: Object 'Kind' is missing in '{}'" },
    {
      content: { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'KubeletConfiguration' },
      is: 'unknown apiVersion/kind: kubelet.config.k8s.io/v1, Kind=KubeletConfiguration',
    },
  ])('asks a drop-in for its kind: $is', ({ content, is }) => {
    const files = [main({}), { path: '/d/50.conf', role: 'drop-in', content }]
    expect(errorsOf(files, 'v1.32.0')).toEqual([
      `failed to load kubelet dropin file, path: /d/50.conf, ${is}`,
    ])
  })

  it('asks a main file for its kind where it names any', () => {
    const file = {
      path: '/k.json',
      role: 'config',
      content: { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1' },
    }
    expect(errorsOf([file])).toMatchSnapshot()
  })

  it('lets flags have the last word', () => {
    const commandLine = [
      'kubelet',
      '--eviction-hard=memory.available<lots',
      '--image-gc-high-threshold',
      '79',
    ]
    const { prediction } = predict([main({})], 'v1.34.4', { commandLine })
    expect(prediction?.imageGCHighThresholdPercent).toBe(79)
    expect(prediction?.errors).toHaveLength(2)
  })

  it('names the file that does not load', () => {
    expect(predict([main({ maxPods: 'many' })]).prediction).toMatchSnapshot()
  })

  it('refuses a flag that cannot be parsed, before anything else', () => {
    const commandLine = ['kubelet', '--max-pods=many']
    expect(
      predict([main({ imageGCLowThresholdPercent: 99 })], 'v1.34.4', { commandLine }).prediction,
    ).toMatchObject({
      errors: [
        'failed to parse kubelet flag: invalid argument "many" for "--max-pods" flag: strconv.ParseInt: parsing "many": invalid syntax',
      ],
      imageGCHighThresholdPercent: null,
    })
  })

  it('refuses an unknown gate', () => {
    const files = [main({ featureGates: { SomethingNew: true } })]
    expect(errorsOf(files, 'v1.31.0')).toEqual(['unrecognized feature gate: SomethingNew'])
    expect(errorsOf(files, 'v1.32.0')).toMatchSnapshot()
  })

  it.each([
    [
      'v1.34.4',
      [
        'RotateKubeletServerCertificate',
        'DynamicResourceAllocation',
        'MutableCSINodeAllocatableCount',
      ],
    ],
    [
      'v1.37.0',
      [
        'RotateKubeletServerCertificate',
        'DynamicResourceAllocation',
        'MutableCSINodeAllocatableCount',
      ],
    ],
  ])('has no doubt about the gates that EKS images set on %s: %j', (version, gates) => {
    const featureGates = Object.fromEntries(gates.map(gate => [gate, true]))
    expect(predict([main({ featureGates })], version)).toMatchObject({
      prediction: { errors: [] },
      unknowns: [],
    })
  })

  it('refuses a gate that this minor has lost, or does not have yet', () => {
    expect(
      errorsOf([main({ featureGates: { KubeletCredentialProviders: true } })], 'v1.29.0'),
    ).toEqual(['unrecognized feature gate: KubeletCredentialProviders'])
    expect(
      errorsOf([main({ featureGates: { MutableCSINodeAllocatableCount: true } })], 'v1.32.0'),
    ).toHaveLength(1)
    expect(
      errorsOf([main({ featureGates: { DynamicResourceAllocation: false } })], 'v1.35.0'),
    ).toHaveLength(1)
  })

  it('refuses cgroup v1 from 1.35 on', () => {
    expect(errorsOf([main({})], 'v1.35.0', {}, { cgroupVersion: 1 })).toHaveLength(1)
    expect(errorsOf([main({})], 'v1.35.0', {}, { cgroupVersion: 2 })).toEqual([])
  })

  it.each([
    { why: 'the node was not asked', files: [], version: 'v1.34.4' },
    { why: 'there is no main file', files: [dropIn('50.conf', {})], version: 'v1.34.4' },
  ])('does not decide where $why', ({ files, version }) => {
    const { prediction, unknowns } = predict(files, version)
    expect(prediction).toBeNull()
    expect(unknowns).toHaveLength(1)
  })

  it.each([
    {
      files: [dropIn('50.conf', {})],
      version: 'v1.34.4',
      says: 'no main configuration file of the kubelet was read',
    },
    {
      files: [{ ...main({}), content: null }],
      version: 'v1.34.4',
      says: 'config.json could not be read',
    },
    {
      files: [{ ...main({}), content: 'kind: KubeletConfiguration' }],
      version: 'v1.34.4',
      says: 'config.json could not be read',
    },
    {
      files: [main({}), { ...dropIn('50.conf', {}), content: 'x: y' }],
      version: 'v1.34.4',
      says: '50.conf could not be read',
    },
  ])('says that $says', ({ files, version, says }) => {
    expect(predict(files, version)).toMatchObject({
      prediction: null,
      unknowns: [{ effect: expect.stringContaining(says) }],
    })
  })

  it('passes on why the node could not read a file of the kubelet, and no other', () => {
    const unread = [
      { what: 'kubelet file /etc/kubernetes/kubelet/config.json', why: 'permission denied' },
      { what: 'logrotate file /etc/logrotate.d/kubelet', why: 'it is a link' },
      { what: 'containerd', why: 'not installed' },
    ]
    const [without] = predictNextStart(
      { kubelet: { files: [] }, unread },
      'v1.34.4',
      'linux',
    ).unknowns
    expect(without?.effect).toMatchSnapshot()
    expect(without?.effect).not.toMatch(/containerd|logrotate/)
    const beside = predictNextStart({ kubelet: { files: [main({})] }, unread }, 'v1.34.4', 'linux')
    expect(beside).toMatchObject({
      prediction: { errors: [] },
      unknowns: [{ what: 'nextStart.files' }],
    })
  })

  it('takes a main file with fields alone', () => {
    expect(predict([{ ...main({}), content: { maxPods: 58 } }])).toMatchObject({
      prediction: { errors: [] },
      unknowns: [],
    })
  })
})

describe('a kubelet without a main file', () => {
  const commandLine = ['kubelet', '--max-pods=29']

  it('is decided if its flags were read', () => {
    expect(predict([], 'v1.34.4', { commandLine })).toMatchObject({
      prediction: {
        files: [],
        errors: [],
        imageGCHighThresholdPercent: 85,
        imageGCLowThresholdPercent: 80,
      },
      unknowns: [],
    })
    expect(
      predict([], 'v1.34.4', { commandLine: [...commandLine, '--config=/k.json'] }).prediction,
    ).toBeNull()
    expect(predict([], 'v1.34.4').prediction).toBeNull()
  })

  it('begins with its drop-ins where it has some', () => {
    const dropIns = [dropIn('50.conf', { imageGCHighThresholdPercent: 70 })]
    expect(predict(dropIns, 'v1.34.4', { commandLine }).prediction?.errors).toHaveLength(1)
  })
})

describe('drop-ins of old kubelets', () => {
  const files = [
    main({ imageGCHighThresholdPercent: 90 }),
    dropIn('50.conf', { imageGCLowThresholdPercent: 60 }),
  ]

  it.each([
    { version: 'v1.29.0', environment: { PATH: '/bin' }, doubts: 1 },
    { version: 'v1.29.0', environment: 'PATH=/bin', doubts: 1 },
    { version: 'v1.29.0', environment: { KUBELET_CONFIG_DROPIN_DIR_ALPHA: 'on' }, doubts: 0 },
    { version: 'v1.29.0', environment: 'KUBELET_CONFIG_DROPIN_DIR_ALPHA=on', doubts: 0 },
    { version: 'v1.29.0', environment: null, doubts: 0 },
    { version: 'v1.30.0', environment: { PATH: '/bin' }, doubts: 0 },
  ])(
    '$version with $environment in its environment: $doubts doubts',
    ({ version, environment, doubts }) => {
      const environmentFiles =
        environment === null
          ? []
          : [{ path: '/etc/kubelet/environment', role: 'environment', content: environment }]
      expect(
        predict([...files, ...environmentFiles], version, { commandLine: ['kubelet'] }).unknowns,
      ).toHaveLength(doubts)
    },
  )

  it('are defaulted again since 1.32 by a folder alone, even an empty one', () => {
    const empty = [main({ enforceNodeAllocatable: [], cgroupsPerQOS: false })]
    expect(errorsOf(empty, 'v1.34.4', { commandLine: ['kubelet'] })).toEqual([])
    expect(
      errorsOf(empty, 'v1.34.4', { commandLine: ['kubelet', '--config-dir=/d'] }),
    ).toHaveLength(1)
    expect(errorsOf(empty, 'v1.31.0', { commandLine: ['kubelet', '--config-dir=/d'] })).toEqual([])
  })
})

describe('environment files', () => {
  const commandLine = [
    '/usr/bin/kubelet',
    '--config',
    '/etc/kubernetes/kubelet/config.json',
    '--node-ip=10.0.1.2',
    '--feature-gates=NodeSwap=true',
  ]
  const flags = '--node-ip=10.0.1.2 --feature-gates=NodeSwap=true'

  it.each<[string, unknown, string[], boolean]>([
    ['the running flags as values', { NODEADM_KUBELET_ARGS: flags }, commandLine, true],
    [
      'the running flags as text',
      `# by nodeadm\nNODEADM_KUBELET_ARGS="${flags}"\nLOG_LEVEL=2\n`,
      commandLine,
      true,
    ],
    ['values that are no flags', { PATH: '/usr/bin' }, ['kubelet'], true],
    [
      'the running flags, beside one that the unit itself gives',
      { KUBELET_ARGS: flags },
      [...commandLine, '--container-runtime-endpoint=unix:///run/containerd/containerd.sock'],
      true,
    ],
    [
      'another value of what the unit gives, too',
      { KUBELET_ARGS: `${flags} --container-runtime-endpoint=unix:///run/other.sock` },
      [...commandLine, '--container-runtime-endpoint', 'unix:///run/containerd/containerd.sock'],
      false,
    ],
    ['another flag', { KUBELET_EXTRA_ARGS: `${flags} --max-pods=5` }, commandLine, false],
    [
      'another value',
      { KUBELET_EXTRA_ARGS: '--node-ip=10.0.1.2 --feature-gates=NodeSwap=false' },
      commandLine,
      false,
    ],
    ['a flag less', { KUBELET_EXTRA_ARGS: '--node-ip=10.0.1.2' }, commandLine, false],
    ['a variable', { KUBELET_EXTRA_ARGS: `${flags} --v=$LEVEL` }, commandLine, false],
    ['no text at all', null, commandLine, false],
    ['a line that assigns nothing', 'export KUBELET_ARGS', commandLine, false],
    ['a value that is no text', { KUBELET_ARGS: ['--v=2'] }, commandLine, false],
    ['something, where the running flags are not known', {}, [], false],
  ])('with %s', (_, content, running, isSettled) => {
    const files = [main({}), { path: '/etc/sysconfig/kubelet', role: 'environment', content }]
    const { prediction, unknowns } = predict(files, 'v1.34.4', { commandLine: running })
    expect(prediction?.errors).toEqual([])
    expect(unknowns.map(({ what }) => what)).toEqual(isSettled ? [] : ['nextStart.environment'])
  })
})

describe('tracing.endpoint', () => {
  it.each([
    ['localhost:4317', true],
    ['dns:///collector.default', true],
    ['collector:port', false],
    ['user@collector:4317', false],
    ['[::1%eth0]:4317', false],
  ])('%s: checked is %s', (endpoint, isChecked) => {
    const { prediction, unknowns } = predict([main({ tracing: { endpoint } })], 'v1.34.4')
    expect(prediction?.errors).toEqual([])
    const unchecked = unknowns.filter(({ what }) => what === 'nextStart.tracing.endpoint')
    expect(unchecked).toHaveLength(isChecked ? 0 : 1)
  })

  it('refuses a scheme that gRPC does not know', () => {
    const { prediction } = predict(
      [main({ tracing: { endpoint: 'http://collector:4317' } })],
      'v1.34.4',
    )
    expect(prediction?.errors[0]).toContain('unsupported scheme: http')
  })
})

describe('the unit of the kubelet', () => {
  const running = [
    '/usr/bin/kubelet',
    '--config',
    '/etc/kubernetes/kubelet/config.json',
    '--node-ip=10.0.1.2',
    '--v=2',
  ]
  const start = 'ExecStart=/usr/bin/kubelet --config /etc/kubernetes/kubelet/config.json'

  it.each<[string, unknown[], boolean]>([
    ['the running flags', [`${start} --node-ip=10.0.1.2 --v=2`], true],
    [
      'one flag more, by hand',
      [`${start} --node-ip=10.0.1.2 --v=2 --image-gc-high-threshold=60`],
      false,
    ],
    ['one flag less', [`${start} --node-ip=10.0.1.2`], false],
    [
      'variables of a file',
      [`${start} $KUBELET_ARGS $KUBELET_EXTRA_ARGS`, 'KUBELET_ARGS="--node-ip=10.0.1.2 --v=2"'],
      true,
    ],
    [
      'variables of which one has changed',
      [`${start} $KUBELET_ARGS`, 'KUBELET_ARGS=--node-ip=10.0.1.3 --v=2'],
      false,
    ],
    [
      'a variable with two values',
      [`${start} $KUBELET_ARGS`, 'KUBELET_ARGS=--node-ip=10.0.1.2 --v=2', 'KUBELET_ARGS=--v=3'],
      false,
    ],
    ['a variable without a value', [`${start} --node-ip=10.0.1.2 --v=2 $MORE`], false],
    [
      'a variable within a word',
      [`${start} --node-ip=\${KUBELET_IP} --v=2`, { KUBELET_IP: '10.0.1.2' }],
      false,
    ],
    [
      'a drop-in with the running flags in its place',
      [`${start} --v=9`, `ExecStart=\n${start} --node-ip=10.0.1.2 --v=2`],
      true,
    ],
    [
      'a drop-in with other flags in its place',
      [`${start} --node-ip=10.0.1.2 --v=2`, `ExecStart=\n${start} --v=9`],
      false,
    ],
    [
      'a second command that nothing takes back',
      [`${start} --node-ip=10.0.1.2 --v=2`, `${start} --v=9`],
      false,
    ],
    [
      'a program that starts it in a way of its own',
      ['ExecStart=/usr/local/bin/start-kubelet.sh --node-ip=10.0.1.2'],
      false,
    ],
    [
      'another program, beside the running flags',
      ['ExecStart=/usr/bin/snap run kubelet-eks.daemon', 'KUBELET_ARGS=--node-ip=10.0.1.2 --v=2'],
      true,
    ],
    ['an unread file', [`${start} --node-ip=10.0.1.2 --v=2`, null], false],
  ])('with %s', (_, contents, isSettled) => {
    const files = contents.map((content, at) => ({
      path: `/etc/systemd/system/${at}.conf`,
      role: 'environment',
      content,
    }))
    const { unknowns } = predict([main({}), ...files], 'v1.34.4', { commandLine: running })
    expect(unknowns.map(({ what }) => what)).toEqual(isSettled ? [] : ['nextStart.environment'])
  })
})
