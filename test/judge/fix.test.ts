/** What becomes of proposed fixes: a kubelet starts with them, those of one group agree, and what is written can act. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRawObject, mergePatch, type RawObject } from '#base/raw-object.ts'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import type { Finding } from '#model/finding.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { type Baseline, defaultPolicy } from '#model/policy.ts'
import { refusalsOf } from '#replay/configuration/configuration-change.ts'
import { clusterOf, inputOf, replayOf as replay } from '#test/at-the-door.ts'
import { takenAt } from '#test/node-builder.ts'
import { drawsOf } from '#test/slow.ts'
import { isComment, readBack } from '#test/snippet.ts'
import { validateKubeletConfiguration } from '#test/verdict.ts'

const recorded = (name: string): RawObject =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/real/single-disk-${name}.json`, import.meta.url), 'utf8'),
  ) as RawObject
const summary = recorded('stats-summary')
const kind = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
const images = {
  AL2023: 'Amazon Linux 2023.9.20251117',
  AL2: 'Amazon Linux 2',
  Bottlerocket: 'Bottlerocket OS 1.50.0 (aws-k8s-1.34)',
}
type Image = keyof typeof images

const trio = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' }
const asImageComes = {
  ...kind,
  evictionHard: trio,
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  maxPods: 58,
  kubeReserved: { cpu: '80m', memory: '893Mi', 'ephemeral-storage': '1Gi' },
  kubeReservedCgroup: '/runtime',
  systemReservedCgroup: '/system',
  enforceNodeAllocatable: ['pods'],
  serializeImagePulls: false,
}

interface Node {
  configuration?: RawObject
  image?: Image
  instanceType?: string
  cores?: string
  host?: RawObject
}

interface Fleet {
  nodes?: Node[]
  declared?: RawObject
  baseline?: RawObject
}

const template = { id: 'lt-1', name: 'web', version: '4' }
const minorOf: Record<Image, string> = {
  AL2023: 'v1.34.2-eks-1',
  AL2: 'v1.32.3-eks-1',
  Bottlerocket: 'v1.34.2-eks-1',
}

function record(
  {
    configuration = asImageComes,
    image = 'AL2023',
    instanceType = 'm5.xlarge',
    cores = '4',
    host,
  }: Node,
  name: string,
): NodeRecord {
  return {
    kind: 'Node',
    cluster: 'prod',
    node: {
      metadata: {
        name,
        labels: {
          'eks.amazonaws.com/nodegroup': 'workers',
          'node.kubernetes.io/instance-type': instanceType,
          'eks.amazonaws.com/sourceLaunchTemplateId': 'lt-1',
          'eks.amazonaws.com/sourceLaunchTemplateVersion': '4',
        },
      },
      status: {
        capacity: { cpu: cores, memory: '16000000Ki' },
        nodeInfo: {
          kubeletVersion: minorOf[image],
          osImage: images[image],
          operatingSystem: 'linux',
        },
      },
    },
    configz: { kubeletconfig: configuration },
    summary,
    pods: [],
    ...(host && { host }),
  }
}

function audited({ nodes = [{}], declared, baseline }: Fleet): Finding[] {
  const wished: Baseline[] = baseline === undefined ? [] : [{ match: {}, configuration: baseline }]
  const judgement = openJudgement(rules, { ...defaultPolicy, baseline: wished }, { refusalsOf })
  judgement.takeCluster(
    clusterOf({
      errors: [],
      nodegroups: [
        {
          nodegroupName: 'workers',
          amiType: 'AL2023_x86_64_STANDARD',
          ...(declared && { launchTemplate: template }),
        },
      ],
      launchTemplates:
        declared === undefined
          ? []
          : [
              {
                launchTemplateId: 'lt-1',
                launchTemplateName: 'web',
                versionNumber: 4,
                kubelet: declared,
              },
            ],
    }),
  )
  nodes.forEach((node, index) => {
    const read = record(node, `node-${index}.ec2.internal`)
    judgement.take(inputOf(read), replay(read, takenAt))
  })
  return judgement.close(takenAt).findings
}

const fixOf = (rule: string, fleet: Fleet) => {
  const finding = audited(fleet).find(found => found.rule === rule)
  if (finding === undefined) throw new Error(`${rule} does not fire`)
  const [durable, ...others] = finding.fix.durable
  expect(others).toEqual([])
  const snippet = durable?.snippet ?? ''
  return {
    ...finding,
    config: finding.fix.config,
    snippet,
    written: isComment(snippet) ? null : readBack(snippet),
  }
}

const nodeadm = (config: RawObject, flags: string[] = []) => ({ config, flags, source: 'nodeadm' })
const filesOf = (...files: RawObject[]) => ({
  schema: 'highwater.host/1',
  kubelet: {
    startedAt: takenAt,
    commandLine: [
      '/usr/bin/kubelet',
      '--config=/etc/kubernetes/kubelet/config.json',
      '--config-dir=/etc/kubernetes/kubelet/config.json.d',
    ],
    files: [
      { path: '/etc/kubernetes/kubelet/config.json', role: 'config', content: asImageComes },
      ...files,
    ],
  },
})
const dropIn = (name: string, content: RawObject) => ({
  path: `/etc/kubernetes/kubelet/config.json.d/${name}`,
  role: 'drop-in',
  content: { ...kind, ...content },
})
const high = (imageGCHighThresholdPercent: number) => ({ imageGCHighThresholdPercent })
const band = (start: number, stop: number) => ({
  imageGCHighThresholdPercent: start,
  imageGCLowThresholdPercent: stop,
})

describe('a fix is made whole', () => {
  it.each<[string, string, Fleet, RawObject]>([
    [
      'the lower percentage with the higher',
      'baseline-drift',
      { baseline: high(70) },
      band(70, 60),
    ],
    ['of a template, too', 'lost-on-the-way', { declared: nodeadm(high(70)) }, band(70, 60)],
    [
      'a soft threshold with a grace period',
      'lost-on-the-way',
      { declared: nodeadm({ evictionSoft: { 'memory.available': '1Gi' } }) },
      {
        evictionSoft: { 'memory.available': '1Gi' },
        evictionSoftGracePeriod: { 'memory.available': '1m30s' },
      },
    ],
    [
      'a grace period with its threshold',
      'baseline-drift',
      {
        baseline: { evictionSoftGracePeriod: { 'memory.available': '3m' } },
        nodes: [
          {
            configuration: {
              ...asImageComes,
              evictionSoft: { 'memory.available': '1Gi' },
              evictionSoftGracePeriod: { 'memory.available': '2m' },
            },
          },
        ],
      },
      {
        evictionSoft: { 'memory.available': '1Gi' },
        evictionSoftGracePeriod: { 'memory.available': '3m' },
      },
    ],
    [
      'parallel pulls with what allows them',
      'baseline-drift',
      {
        baseline: { maxParallelImagePulls: 4 },
        nodes: [{ configuration: { ...asImageComes, serializeImagePulls: true } }],
      },
      { maxParallelImagePulls: 4, serializeImagePulls: false },
    ],
  ])('%s', (_, rule, fleet, whole) => {
    const { config, written } = fixOf(rule, fleet)
    expect(config).toMatchObject(whole)
    expect(written).toMatchObject(whole)
  })

  it.each<[string, string, Fleet, string]>([
    [
      'a lower percentage above the higher one that runs',
      'baseline-drift',
      { baseline: { imageGCLowThresholdPercent: 90 } },
      '90 must be less than imageGCHighThresholdPercent',
    ],
    [
      'a percentage of nothing',
      'baseline-drift',
      { baseline: high(0) },
      '0 must be less than imageGCHighThresholdPercent',
    ],
    [
      'a maximum age below the minimum',
      'baseline-drift',
      { baseline: { imageMaximumGCAge: '1m' } },
      'imageMaximumGCAge 1m0s must be greater than imageMinimumGCAge 2m0s',
    ],
    [
      'serialized pulls beside parallel ones',
      'baseline-drift',
      {
        baseline: { serializeImagePulls: true },
        nodes: [{ configuration: { ...asImageComes, maxParallelImagePulls: 4 } }],
      },
      'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls',
    ],
    [
      'more time for critical pods than there is',
      'baseline-drift',
      { baseline: { shutdownGracePeriodCriticalPods: '30s' } },
      'shutdownGracePeriodCriticalPods {30s} must be <= shutdownGracePeriod {0s}',
    ],
    [
      'less time than critical pods have',
      'baseline-drift',
      {
        baseline: { shutdownGracePeriod: '20s' },
        nodes: [
          {
            configuration: {
              ...asImageComes,
              shutdownGracePeriod: '60s',
              shutdownGracePeriodCriticalPods: '30s',
            },
          },
        ],
      },
      'shutdownGracePeriodCriticalPods {30s} must be <= shutdownGracePeriod {20s}',
    ],
    [
      'reserved CPUs beside cgroups',
      'baseline-drift',
      { baseline: { reservedSystemCPUs: '0' } },
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup",
    ],
    [
      'a gate that others depend on',
      'baseline-drift',
      { baseline: { featureGates: { AllAlpha: true } } },
      'other fields depend on it',
    ],
    [
      'a gate of another minor',
      'baseline-drift',
      { baseline: { featureGates: { APIServingWithRoutineX: true } } },
      'a feature gate of a kubelet',
    ],
    [
      'quoted numbers',
      'lost-on-the-way',
      { declared: nodeadm({ imageGCHighThresholdPercent: '70' }) },
      'takes a whole number',
    ],
    [
      'a list',
      'lost-on-the-way',
      { declared: nodeadm({ imageGCHighThresholdPercent: [70] }) },
      'takes a whole number',
    ],
    [
      'a key that is not to run',
      'baseline-drift',
      { baseline: { evictionHard: { 'memory.available': null } } },
      'taken away where it is set',
    ],
  ])('or not written, with the reason: %s', (_, rule, fleet, why) => {
    const { config, snippet, written } = fixOf(rule, fleet)
    expect(config).toEqual({})
    expect(written).toBeNull()
    expect(snippet).toContain(why)
  })
})

describe('the fixes on one group', () => {
  it('do not restore what another rule calls unsound, and say so', () => {
    const fleet = { declared: nodeadm(band(90, 85)) }
    const drift = fixOf('lost-on-the-way', fleet)
    expect([drift.config, fixOf('alert-before-image-gc', fleet).config]).toEqual([
      band(80, 70),
      band(80, 70),
    ])
    expect(drift.consequence).toContain('imageGCHighThresholdPercent 80, not 90')
    expect(drift.evidence).toContainEqual({
      kind: 'fix',
      what: 'fix',
      value: 'imageGCHighThresholdPercent 80, not 90',
    })
    expect(drift.evidence).toContainEqual({
      kind: 'declared',
      what: 'declared imageGCHighThresholdPercent',
      value: '90 (launch template web version 4)',
    })
  })

  it('take what is declared where that is lower', () => {
    const fleet = { declared: nodeadm(band(70, 60)) }
    expect(fixOf('alert-before-image-gc', fleet).config).toEqual(band(70, 60))
    expect(fixOf('lost-on-the-way', fleet).consequence).not.toContain('Other findings')
  })

  it('keep a band as wide as the sound one', () => {
    expect(fixOf('lost-on-the-way', { declared: nodeadm(band(70, 69)) }).config).toEqual(
      band(70, 60),
    )
  })

  it.each(['AL2023', 'AL2', 'Bottlerocket'] as const)('set one map, on %s', image => {
    const configuration = {
      ...asImageComes,
      evictionHard: { 'nodefs.available': '20%' },
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '2m0s' },
    }
    const whole = { ...trio, 'nodefs.available': '20%', 'imagefs.inodesFree': '5%' }
    for (const rule of ['lost-default-threshold', 'oom-before-eviction']) {
      const { config, written } = fixOf(rule, { nodes: [{ configuration, image }] })
      expect(config.evictionHard).toEqual(whole)
      expect(written?.evictionHard).toEqual(whole)
    }
  })
})

describe('a fix that could not act', () => {
  const flags = ['--image-gc-high-threshold=88', '--image-gc-low-threshold=80']
  const running = { configuration: { ...asImageComes, ...band(88, 80) } }

  it('names the flags of the template, and sets nothing', () => {
    for (const rule of ['lost-on-the-way', 'alert-before-image-gc']) {
      const { snippet, written } = fixOf(rule, {
        declared: nodeadm(band(70, 60), flags),
        nodes: [running],
      })
      expect(written).toBeNull()
      expect(snippet).toMatchSnapshot()
      expect(snippet).not.toContain('Set here')
    }
  })

  it('says what is to be set once the flag is gone', () => {
    const { snippet, written } = fixOf('alert-before-image-gc', {
      declared: nodeadm({}, flags),
      nodes: [running],
    })
    expect(written).toBeNull()
    expect(snippet).toMatchSnapshot()
  })

  it('names a later drop-in, and no earlier one', () => {
    const written = (name: string) =>
      fixOf('alert-before-image-gc', {
        declared: nodeadm(band(70, 60)),
        nodes: [
          {
            ...running,
            host: filesOf(dropIn('40-nodeadm.conf', band(70, 60)), dropIn(name, band(88, 80))),
          },
        ],
      })
    expect(written('90-x.conf')).toMatchObject({
      written: null,
      snippet: expect.stringContaining('config.json.d/90-x.conf'),
    })
    expect(written('10-x.conf').written).toEqual(band(80, 70))
  })

  it('says that a NodeConfig does not reach a kubelet without its folder', () => {
    const host = filesOf(dropIn('40-nodeadm.conf', band(70, 60)))
    const commandLine = ['/usr/bin/kubelet', '--config=/etc/kubernetes/kubelet/config.json']
    const nodes = [{ host: { ...host, kubelet: { ...host.kubelet, commandLine } } }]
    const { snippet, written } = fixOf('lost-on-the-way', {
      declared: nodeadm(band(70, 60)),
      nodes,
    })
    expect(written).toBeNull()
    expect(snippet).toMatchSnapshot()
  })

  it('sets on AL2 by flag what a flag of the template sets', () => {
    const declared = {
      config: {},
      flags: ['--eviction-hard=memory.available<100Mi'],
      source: 'bootstrap',
    }
    const configuration = { ...asImageComes, evictionHard: { 'memory.available': '100Mi' } }
    const { written } = fixOf('lost-default-threshold', {
      declared,
      nodes: [{ image: 'AL2', configuration }],
    })
    expect(written?.evictionHard).toMatchObject(trio)
  })
})

describe('reservations', () => {
  const reserving = (kubeReserved: RawObject, more: RawObject = {}) => ({
    configuration: { ...asImageComes, kubeReserved, ...more },
  })
  const little = { cpu: '80m', memory: '100Mi', 'ephemeral-storage': '1Gi' }

  it.each(['AL2023', 'AL2', 'Bottlerocket'] as const)(
    'that somebody overrides are taken away, as %s computes them',
    image => {
      const { config, snippet, written } = fixOf('reserved-below-eks-formula', {
        nodes: [{ image, ...reserving(little) }],
      })
      expect(config).toEqual({ kubeReserved: { ...little, memory: '893Mi' } })
      expect(written).toBeNull()
      expect(snippet).toMatchSnapshot()
    },
  )

  it('are taken away from where they are declared', () => {
    const declared = nodeadm({ kubeReserved: { memory: '100Mi' } })
    const { snippet } = fixOf('reserved-below-eks-formula', {
      declared,
      nodes: [reserving(little)],
    })
    expect(snippet).toMatchSnapshot()
  })

  it('that no image computes are set: those of more pods than the instance has addresses for', () => {
    const { written } = fixOf('reserved-below-eks-formula', {
      nodes: [reserving({ ...little, memory: '893Mi' }, { maxPods: 110 })],
    })
    expect(written).toEqual({ kubeReserved: { memory: '1465Mi' } })
  })

  it('are not set for nodes of several sizes', () => {
    const nodes = [
      reserving({ ...little, memory: '893Mi' }, { maxPods: 110 }),
      {
        ...reserving({ cpu: '110m', memory: '893Mi' }, { maxPods: 110 }),
        instanceType: 'm5.4xlarge',
        cores: '16',
      },
      { instanceType: 'm5.2xlarge' },
    ]
    const { config, snippet, written } = fixOf('reserved-below-eks-formula', { nodes })
    expect(config).toEqual({})
    expect(written).toBeNull()
    expect(snippet).toContain('3 sizes (m5.2xlarge, m5.4xlarge, m5.xlarge)')
  })

  it('that the image computes are not pinned beside a declared one', () => {
    const declared = {
      config: { kubeReserved: { pid: '100' }, containerLogMaxWorkers: 3 },
      flags: [],
      source: 'bottlerocket',
    }
    const { snippet, written } = fixOf('lost-on-the-way', {
      declared,
      nodes: [{ image: 'Bottlerocket' }],
    })
    expect(written).toEqual({ containerLogMaxWorkers: 3 })
    expect(snippet).toMatchSnapshot()
    expect(
      fixOf('lost-on-the-way', { declared: nodeadm({ kubeReserved: { pid: '100' } }) }).written,
    ).toEqual({ kubeReserved: { pid: '100' } })
  })
})

/** As the kubelet of the image gets it: by key, but a table of Bottlerocket's and a flag of AL2's take the place of the whole map. */
function merged(running: RawObject, written: RawObject, image: Image): RawObject {
  if (image === 'AL2023') return mergePatch(running, written)
  const replaced = Object.entries(written).filter(
    ([field]) => image === 'Bottlerocket' || ['evictionHard', 'kubeReserved'].includes(field),
  )
  const isComputed = (field: string) => image === 'Bottlerocket' && field === 'kubeReserved'
  return mergePatch(
    Object.fromEntries(
      Object.entries(running).filter(
        ([field]) => isComputed(field) || !replaced.some(([other]) => other === field),
      ),
    ),
    written,
  )
}

function refusals(configuration: RawObject, image: Image): string[] {
  const { loadError, errors, startup } = validateKubeletConfiguration(
    { ...kind, ...configuration },
    minorOf[image],
  )
  return [loadError, ...(errors ?? []), ...Object.values(startup ?? {})].filter(
    error => error !== null,
  )
}

const percent = fc.integer({ min: 0, max: 100 })
const amount = fc.constantFrom('1%', '5%', '10%', '40%', '0%', '100Mi', '1Gi', '10Gi')
const signal = fc.constantFrom(
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'pid.available',
)
const period = fc.constantFrom('0s', '10s', '1m30s', '1h0m0s', '168h0m0s')
const thresholds = fc.dictionary(signal, amount, { maxKeys: 4 })
const resources = fc.dictionary(
  fc.constantFrom('cpu', 'memory', 'ephemeral-storage'),
  fc.constantFrom('0', '10m', '100Mi', '1Gi'),
  { maxKeys: 3 },
)
const part = fc.record(
  {
    imageGCHighThresholdPercent: percent,
    imageGCLowThresholdPercent: percent,
    imageMinimumGCAge: period,
    imageMaximumGCAge: period,
    evictionHard: thresholds,
    evictionSoft: thresholds,
    evictionSoftGracePeriod: fc.dictionary(signal, period, { maxKeys: 4 }),
    evictionMinimumReclaim: fc.dictionary(signal, fc.constantFrom('1%', '5%', '0', '1Gi'), {
      maxKeys: 3,
    }),
    evictionPressureTransitionPeriod: period,
    containerLogMaxSize: fc.constantFrom('10Mi', '1Gi', '50Gi', '-1'),
    containerLogMaxFiles: fc.integer({ min: 2, max: 20 }),
    containerLogMaxWorkers: fc.integer({ min: 1, max: 5 }),
    containerLogMonitorInterval: fc.constantFrom('3s', '10s', '1h'),
    kubeReserved: resources,
    systemReserved: resources,
    kubeReservedCgroup: fc.constantFrom('', '/runtime'),
    systemReservedCgroup: fc.constantFrom('', '/system'),
    reservedSystemCPUs: fc.constantFrom('', '0-1'),
    enforceNodeAllocatable: fc.uniqueArray(
      fc.constantFrom(
        'pods',
        'kube-reserved',
        'system-reserved',
        'system-reserved-compressible',
        'none',
      ),
      { maxLength: 3 },
    ),
    maxPods: fc.integer({ min: 0, max: 250 }),
    nodeStatusMaxImages: fc.integer({ min: -1, max: 100 }),
    serializeImagePulls: fc.boolean(),
    maxParallelImagePulls: fc.integer({ min: 1, max: 5 }),
    shutdownGracePeriod: period,
    shutdownGracePeriodCriticalPods: period,
    cpuManagerPolicy: fc.constantFrom('none', 'static'),
    featureGates: fc.dictionary(
      fc.constantFrom(
        'AllAlpha',
        'AllBeta',
        'NodeSwap',
        'ImageMaximumGCAge',
        'MemoryQoS',
        'InPlacePodVerticalScaling',
      ),
      fc.boolean(),
      { maxKeys: 2 },
    ),
  },
  { requiredKeys: [] },
)

describe('whatever runs, is declared and is wished', () => {
  it('a kubelet starts with the fix of every finding, and with what it is written as', () => {
    const sources = { AL2023: 'nodeadm', AL2: 'script', Bottlerocket: 'bottlerocket' } as const
    const image = fc.constantFrom<keyof typeof sources>('AL2023', 'AL2', 'Bottlerocket')
    const junk = fc.dictionary(
      fc.constantFrom('imageGCHighThresholdPercent', 'evictionSoft', 'serializeImagePulls'),
      fc.constantFrom('70', 'true', [1]),
    )
    const declared = fc.option(fc.tuple(part, junk), { nil: undefined })
    fc.assert(
      fc.property(
        image,
        part,
        declared,
        fc.option(part, { nil: undefined }),
        (family, own, template, baseline) => {
          const configuration: RawObject = { ...asImageComes, ...own }
          fc.pre(refusals(configuration, family).length === 0)
          const source = sources[family]
          const findings = audited({
            nodes: [{ configuration, image: family }],
            ...(template && {
              declared: { config: { ...template[0], ...template[1] }, flags: [], source },
            }),
            ...(baseline && { baseline }),
          })
          for (const { rule, fix } of findings) {
            const told = { rule, config: fix.config }
            expect({
              ...told,
              refusals: refusals({ ...configuration, ...fix.config }, family),
            }).toEqual({ ...told, refusals: [] })
            for (const { snippet } of fix.durable) {
              if (isComment(snippet)) continue
              const written = readBack(snippet)
              expect({
                rule,
                written,
                refusals: refusals(merged(configuration, written, family), family),
              }).toEqual({ rule, written, refusals: [] })
            }
          }
        },
      ),
      { numRuns: drawsOf(100) },
    )
  })
})

it.each([asImageComes, {}])('the examples above are sound to begin with', configuration => {
  expect(isRawObject(configuration) && refusals(configuration, 'AL2023')).toEqual([])
})
