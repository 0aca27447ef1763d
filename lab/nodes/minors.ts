/** The kubelet minors that the lab's nodes run, each with what it has of its own; a further one is a further entry. */
import type { RawObject } from '#base/raw-object.ts'

export type KubeletMinor = '1.32' | '1.34'

/** `1.32.9` */
export type KubeletVersion = `${KubeletMinor}.${number}`

interface Minor {
  /** Fields of configz that not every supported minor has, at their defaults. Upstream: pkg/kubelet/apis/config/v1beta1/defaults.go. */
  configuration: RawObject
  /** What AL2023's nodeadm writes for it. Source: awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go. */
  al2023: RawObject
  /** Whether stats/summary has pressure stall information (gate KubeletPSI). */
  hasPsi: boolean
}

const common: RawObject = {
  podLogsDir: '/var/log/pods',
  imageMaximumGCAge: '0s',
  containerLogMaxWorkers: 1,
  containerLogMonitorInterval: '10s',
  enableSystemLogQuery: false,
  crashLoopBackOff: {},
  failCgroupV1: false,
}

const minors: Record<KubeletMinor, Minor> = {
  '1.32': { configuration: common, al2023: {}, hasPsi: false },
  '1.34': {
    configuration: { ...common, mergeDefaultEvictionSettings: false },
    al2023: { shutdownGracePeriod: '2m30s', shutdownGracePeriodCriticalPods: '30s' },
    hasPsi: true,
  },
}

export const minorOf = ({ version }: { version: KubeletVersion }): Minor =>
  minors[version.slice(0, 4) as KubeletMinor]
