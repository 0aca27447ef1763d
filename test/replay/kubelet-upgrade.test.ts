import { describe, expect, it } from 'vitest'
import { parseKubeletVersion } from '#model/plan.ts'
import { replayOf } from '#test/at-the-door.ts'

const takenAt = '2026-11-21T00:00:00Z'
const file = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  imageMinimumGCAge: '-1s',
}

function upgrade(
  to: string,
  { kernel, ...files }: { kernel?: object; [field: string]: unknown } = {},
  configuration: object = {},
  osImage = '',
) {
  const record = {
    kind: 'Node',
    cluster: 'prod',
    node: { metadata: { name: 'n' }, status: { nodeInfo: { kubeletVersion: 'v1.29.3', osImage } } },
    configz: { kubeletconfig: configuration },
    host: { kernel, kubelet: { commandLine: ['kubelet', '--config=/etc/k.json'], ...files } },
  }
  const kubelet = parseKubeletVersion(to)
  return replayOf(record, takenAt, { at: null, changes: [], fills: [], kubelet })
}

const withFile = (content: object, ...flags: string[]) => ({
  commandLine: ['kubelet', '--config=/etc/k.json', ...flags],
  files: [{ path: '/etc/k.json', role: 'config', content }],
})

describe('another kubelet version', () => {
  it('is that of the whole prediction', () => {
    const prediction = upgrade('1.35')
    expect(prediction.kubeletVersion).toBe('v1.35.0')
    expect(prediction.upgrade).toMatchObject({ from: 'v1.29.3', to: 'v1.35.0' })
  })

  it('refuses fields that the old one took', () => {
    expect(upgrade('1.35', withFile(file)).upgrade?.errors).toEqual([])
    expect(upgrade('1.36', withFile(file)).upgrade?.errors.join()).toContain('imageMinimumGCAge')
  })

  it('does not know a flag that was removed', () => {
    const flags = withFile({ ...file, imageMinimumGCAge: '2m' }, '--pod-infra-container-image=p:1')
    expect(upgrade('1.34', flags).upgrade?.errors).toEqual([])
    expect(upgrade('1.35', flags).upgrade?.errors).toMatchSnapshot()
  })

  it('lists new defaults and gates that change, from the files', () => {
    const { upgrade: changed } = upgrade('1.30', withFile({ ...file, imageMinimumGCAge: '2m' }))
    expect(changed?.basis).toBe('files')
    expect(changed?.changedSettings.map(({ field }) => field)).toContain(
      'evictionHard.imagefs.inodesFree',
    )
    expect(changed?.changedGates).toContainEqual({
      field: 'ImageMaximumGCAge',
      before: false,
      after: true,
    })
  })

  it('names no gate that only lost its switch: after GA its feature stays on', () => {
    const gates = upgrade('1.37', withFile(file)).upgrade?.changedGates.map(({ field }) => field)
    expect(gates).not.toContain('APIListChunking')
    expect(gates).not.toContain('AppArmor')
  })

  it('validates the running configuration where the files were not read', () => {
    const { upgrade: changed } = upgrade('1.36', {}, { imageMinimumGCAge: '-1s' })
    expect(changed?.basis).toBe('configz')
    expect(changed?.errors.join()).toContain('imageMinimumGCAge')
  })

  it('lists the signals under which it evicts in another order', () => {
    const now = { time: takenAt }
    const pod = (name: string, spec: object) => ({
      metadata: { name, namespace: 'd', uid: name },
      spec: { containers: [{ name: 'c' }], ...spec },
      status: { phase: 'Running' },
    })
    const memory = (name: string, workingSetBytes: number) => ({
      podRef: { name, namespace: 'd', uid: name },
      memory: { ...now, workingSetBytes },
      containers: [{ name: 'c' }],
    })
    const resources = { requests: { memory: '150Mi' } }
    // Requests of sidecars are added from 1.34 on.
    const withSidecar = {
      containers: [{ name: 'c', resources }],
      initContainers: [{ name: 's', restartPolicy: 'Always', resources }],
    }
    const record = {
      kind: 'Node',
      cluster: 'prod',
      node: { metadata: { name: 'n' }, status: { nodeInfo: { kubeletVersion: 'v1.33.3' } } },
      configz: { kubeletconfig: { evictionHard: { 'memory.available': '100Mi' } } },
      pods: [pod('with-sidecar', withSidecar), pod('plain', {})],
      summary: { pods: [memory('with-sidecar', 3e8), memory('plain', 1e8)] },
    }
    const changedOrders = (to: string) => {
      const whatIf = { at: null, changes: [], fills: [], kubelet: parseKubeletVersion(to) }
      return replayOf(record, takenAt, whatIf).upgrade?.changedOrders
    }
    expect(changedOrders('1.34')).toContain('memory.available')
    expect(changedOrders('1.33')).toEqual([])
  })

  it('does not know the order of pods that were not read', () => {
    expect(upgrade('1.35').upgrade?.changedOrders).toBeNull()
  })

  it.each(['1', 'latest', '1.35-eks', ''])('%j is no version', text => {
    expect(() => parseKubeletVersion(text)).toThrow('no kubelet version')
  })
})

describe('flags that a minor removed', () => {
  it.each([
    ['--keep-terminated-pod-volumes=false', '1.30', '1.31'],
    ['--cloud-config=', '1.33', '1.34'],
    ['--storage-driver-db=x', '1.36', '1.37'],
  ])('%s is unknown after %s', (flag, last, first) => {
    const errors = (to: string) => upgrade(to, withFile({}, flag)).upgrade?.errors
    expect(errors(last)).toEqual([])
    const [name] = flag.split('=')
    expect(errors(first)).toEqual([`failed to parse kubelet flag: unknown flag: ${name}`])
  })
})

it.each([
  [1, 'Amazon Linux 2023.9', true],
  [2, 'Amazon Linux 2', false],
  [null, 'Amazon Linux 2', true],
  [null, 'Amazon Linux 2023.9', false],
  [null, 'Ubuntu 24.04', false],
])('cgroup v%s, read or that of %s: refused is %s', (cgroupVersion, osImage, isRefused) => {
  const host = { ...withFile({}), ...(cgroupVersion !== null && { kernel: { cgroupVersion } }) }
  const errors = upgrade('1.35', host, {}, osImage).upgrade?.errors ?? []
  expect(errors.some(error => error.includes('cgroup v1'))).toBe(isRefused)
})
