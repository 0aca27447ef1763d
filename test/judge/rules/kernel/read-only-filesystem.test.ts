import { describe, expect, it } from 'vitest'
import { readOnlyFilesystem } from '#judge/rules/kernel/read-only-filesystem.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { event, failingOf, minutesAgo, state } from '#test/rules/events.ts'

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
