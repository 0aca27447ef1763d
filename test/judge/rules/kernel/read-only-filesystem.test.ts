import { describe, expect, it } from 'vitest'
import { readOnlyFilesystem } from '#judge/rules/kernel/read-only-filesystem.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { event, minutesAgo } from '#test/rules/events.ts'

const message =
  'failed to write checkpoint file "kubelet_internal_checkpoint": open /var/lib/kubelet/device-plugins/.054: read-only file system'
const refused = (text: string): NodeExample => ({
  pods: [{ metadata: { namespace: 'shop', name: 'web' }, status: { message: text } }],
})

itJudgesExamples(readOnlyFilesystem, {
  bad: refused(message),
  good: refused('open /var/lib/kubelet/a: no such file or directory'),
})

describe('read-only-filesystem', () => {
  it('reads events, too', () => {
    const seen = {
      pods: [],
      events: [event({ reason: 'UnexpectedAdmissionError', of: 'shop/api', message })],
    }
    expect(failingOf(readOnlyFilesystem, seen).consequence).toContain('shop/api')
  })

  it('knows the folders of kubelet and runtime on disks of their own', () => {
    const text =
      'failed to create sandbox: mkdir /mnt/ephemeral/containerd/io.containerd.runtime.v2.task/a: read-only file system'
    const seen = (example: NodeExample) => ({
      pods: [],
      events: [event({ reason: 'FailedCreatePodSandBox', of: 'shop/api', message: text })],
      ...example,
    })
    const failing = failingOf(readOnlyFilesystem, seen({}))
    expect(failing.seen).toContain('in /mnt/ephemeral/containerd: 1 pod failed')
    expect(failing.seen).toContain('No new pod can start')
    const startedAt = minutesAgo(1)
    const started = {
      metadata: { namespace: 'shop', name: 'api' },
      status: { containerStatuses: [{ state: { running: { startedAt } } }] },
    }
    expect(state(readOnlyFilesystem, seen({ pods: [started] }))).toBe('pass')
  })

  const hostPath = (path: string, osImage: string, reason = 'FailedMount') => ({
    pods: [],
    node: { status: { nodeInfo: { osImage } } },
    events: [
      event({
        ...{ reason, of: 'shop/api' },
        message:
          reason === 'FailedMount'
            ? `MountVolume.SetUp failed for volume "data" : mkdir ${path}: read-only file system`
            : `Error: failed to generate container spec: failed to mkdir "${path}": mkdir ${path}: read-only file system`,
      }),
    ],
  })

  it.each([
    ['Bottlerocket OS 1.46.0 (aws-k8s-1.33)', 'FailedMount', '/local or /mnt'],
    ['Bottlerocket OS 1.46.0 (aws-k8s-1.33)', 'Failed', '/local or /mnt'],
    ['Talos (v1.11.0)', 'FailedMount', '/var'],
  ])(
    'offers another folder where the root is read-only by design: %s, %s',
    (osImage, reason, folders) => {
      const failing = failingOf(readOnlyFilesystem, hostPath('/optscale', osImage, reason))
      expect(failing.title).toContain('by design')
      expect(failing.steps).toEqual([
        { id: 'replace-host-path', place: '/optscale', message: folders },
      ])
    },
  )

  it.each([
    ['/optscale', 'Amazon Linux 2023.9.20261103'],
    ['/local/data', 'Bottlerocket OS 1.46.0 (aws-k8s-1.33)'],
  ])('replaces the node where %s of %s should be writable', (path, osImage) => {
    const failing = failingOf(readOnlyFilesystem, hostPath(path, osImage))
    expect(failing.title).toBeUndefined()
    expect(failing.seen).toContain(`"read-only file system" in ${path}`)
  })

  it('forgets a pod that failed earlier', () => {
    const since = (minutes: number) => ({
      pods: [{ metadata: { name: 'web' }, status: { message, startTime: minutesAgo(minutes) } }],
    })
    expect(state(readOnlyFilesystem, since(59))).toBe('fail')
    expect(state(readOnlyFilesystem, since(61))).toBe('pass')
  })

  it('reads the error of XFS, which shuts down', () => {
    const text = 'open /var/lib/containerd/tmpmounts/a: input/output error'
    expect(failingOf(readOnlyFilesystem, refused(text)).seen).toContain('"input/output error"')
  })

  it.each([
    'mkdir /run/containerd/io.containerd.runtime.v2.task/k8s.io/1/rootfs/data: read-only file system',
    'mkdir /var/lib/containers/storage/overlay/1/merged/data: read-only file system',
    'mkdir /data: read-only file system',
    'relabel failed: lsetxattr /var/lib/kubelet/pods/0c1d/volume-subpaths/source/nginx/18/p: read-only file system',
    'chmod /var/lib/kubelet/pods/0c1d/volumes/kubernetes.io~csi/pvc-1/mount: read-only file system',
    'mkdir /var/lib/kubelet/plugins/kubernetes.io/csi/a: read-only file system',
  ])('leaves out a filesystem of a container or of a volume: %s', text => {
    expect(state(readOnlyFilesystem, refused(text))).toBe('pass')
  })
})
