import { configurationDefaults } from '#facts/kubelet/configuration-defaults.ts'
import { containerLogMonitorPeriodMs } from '#facts/kubelet/periods.ts'
import { logUse } from '#judge/logs.ts'
import { nodeRule } from '#judge/rule.ts'
import { bounded, bytes, exactBytes } from '#judge/text.ts'
import { whyUnobserved } from '#judge/thresholds.ts'
import { asInt64, parseQuantity } from '#model/quantity.ts'

/** Below this part of the disk it is not the logs that fill it. */
const leastShare = 0.1
const running = (name: string) => ({ name, image: 'app:1', state: { running: {} } })
const pod = { metadata: { namespace: 'shop', name: 'web' }, status: { containerStatuses: [running('web'), running('proxy')] } }

export const logRotationOvershoot = nodeRule({
  id: 'log-rotation-overshoot',
  family: 'logs',
  severity: 'low',
  needs: ['configuration', 'eviction', 'pods', 'summary'],
  docs: {
    title: 'Rotated container logs may take more than the disk has left',
    why: `Each running container may keep containerLogMaxFiles files of containerLogMaxSize. The size is no hard limit either: a log is looked at every ${containerLogMonitorPeriodMs / 1000} s and grows meanwhile, longer where few workers have many logs to rotate. What the files may take beyond the room before eviction ends in DiskPressure.`,
    fix: 'Lower containerLogMaxSize or containerLogMaxFiles, or give the node a larger disk; more containerLogMaxWorkers (kubelet 1.30 and later) keep logs near their size.',
    sources: ['pkg/kubelet/logs/container_log_manager.go rotateLogs, rotateLog', 'kubernetes#110630', 'kubernetes#134287'],
  },
  examples: {
    bad: { configuration: { containerLogMaxSize: '10Gi', containerLogMaxFiles: 5 }, pods: [pod] },
    good: { configuration: { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 }, pods: [pod] },
  },
  appliesTo: ({ identity }) => identity.operatingSystem === 'linux',

  *judge(subject) {
    const { configuration, eviction, pods, summary, filesystems } = subject
    const { containerLogMaxSize = '10Mi', containerLogMaxFiles: files = configurationDefaults.containerLogMaxFiles ?? 5 } = configuration
    const perContainer = Number(sizeOf(containerLogMaxSize) ?? -1) * files
    // What the kubelet refuses, and rotation that is off, are invalid-log-size's.
    if (perContainer < 0) return
    const { availableBytes: available = null, capacityBytes: capacity = null } = filesystems.nodefs ?? {}
    const threshold = Math.max(
      0,
      ...eviction.thresholds.filter(({ signal }) => signal === 'nodefs.available').map(({ resolved }) => resolved ?? 0),
    )
    const { containers, growthBytes } = logUse(pods, summary, perContainer)
    if (available === null || capacity === null) yield { unknown: whyUnobserved(subject, 'what nodefs has left') }
    else if (containers * perContainer >= capacity * leastShare && available > threshold && growthBytes > available - threshold)
      yield {
        confidence: 'possible',
        consequence: `The logs of ${containers} running containers may grow by ${bytes(growthBytes)} before rotation holds them; after ${bytes(available - threshold)} more on nodefs pods are evicted.`,
        evidence: [
          { what: 'configz containerLogMaxSize', value: bounded(containerLogMaxSize) },
          { what: 'configz containerLogMaxFiles', value: String(files) },
          { what: 'running containers', value: String(containers) },
          { what: 'logs may grow by', value: exactBytes(growthBytes) },
          { what: 'nodefs has left before eviction', value: exactBytes(available - threshold) },
        ],
      }
  },
})

function sizeOf(text: string): bigint | null {
  try {
    return asInt64(parseQuantity(text))
  } catch {
    return null
  }
}
