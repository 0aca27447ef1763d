const nodegroups = [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD' }]

const sound = {
  serializeImagePulls: false,
  kubeReservedCgroup: '/runtime',
  systemReservedCgroup: '/system',
  shutdownGracePeriod: '2m30s',
  shutdownGracePeriodCriticalPods: '30s',
  maxPods: 58,
  kubeReserved: { cpu: '80m', memory: '893Mi', 'ephemeral-storage': '1Gi' },
}

const node = { status: { capacity: { cpu: '4' } } }

export const baselineExamples = {
  bad: {
    configuration: { ...sound, imageGCHighThresholdPercent: 95, imageGCLowThresholdPercent: 80 },
    node,
    nodegroups,
  },
  good: {
    configuration: { ...sound, imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 },
    node,
    nodegroups,
  },
}
