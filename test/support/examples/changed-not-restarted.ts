import type { NodeExample } from '#test/example.ts'

const path = '/etc/kubernetes/kubelet/config.json'

function node(running: number, written: number): NodeExample {
  const evictionHard = {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
  }
  const configuration = {
    evictionHard,
    imageGCHighThresholdPercent: written,
    imageGCLowThresholdPercent: 60,
  }
  const settings = {
    configuration,
    withoutFlags: configuration,
    said: { imageGCHighThresholdPercent: [{ by: 'file', where: path, value: written } as const] },
    ignored: [],
    unread: [],
    isCommandLineKnown: true,
  }
  return {
    configuration: { ...configuration, imageGCHighThresholdPercent: running },
    nextStart: {
      files: [path],
      errors: [],
      imageGCHighThresholdPercent: written,
      imageGCLowThresholdPercent: 60,
      settings,
    },
  }
}

export const restartExamples = { bad: node(85, 70), good: node(70, 70) }
