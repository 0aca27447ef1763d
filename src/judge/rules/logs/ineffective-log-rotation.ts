import {
  deletedFailings,
  doubleFailings,
  idleFilesFailing,
  lateFailings,
  patternsAt,
  placedBlocks,
  podLogsFolder,
  refusedFailings,
  unwrittenFailings,
} from '#judge/logs/idle-rotation.ts'
import { logFilesOf, unreadFiles, whyFilesUnknown } from '#judge/logs/logrotate.ts'
import { logrotateRunsOf } from '#judge/logs/logrotate-runs.ts'
import { nodeRule, settingIn } from '#judge/rule.ts'

export const ineffectiveLogRotation = nodeRule({
  id: 'ineffective-log-rotation',
  family: 'logs',
  severity: 'low',
  cause: settingIn('logrotate', 'postrotate'),
  steps: ['drop-idle-log-blocks'],
  needs: ['host'],
  title: 'Files of logrotate rotate nothing, too late, or what the kubelet rotates',
  why: 'Configured rotation that does not happen is noticed only when the disk is full. With containerd, /var/lib/docker/containers stays empty, and /var/log/containers contains symbolic links, which logrotate skips. The kubelet rotates the logs below /var/log/pods: there logrotate does nothing, or deletes lines. A size takes effect only when logrotate runs, and without rotate the old log is deleted.',
  fix: 'Remove the block for container logs from the file that the evidence names, and set containerLogMaxSize and containerLogMaxFiles instead. Have a timer or cron run logrotate at least daily, and write rotate into each block.',
  sources: [
    'pkg/kubelet/logs/container_log_manager.go processContainer, removeExcessLogs',
    'pkg/kubelet/kuberuntime/helpers.go BuildPodLogsDirectory',
    'pkg/kubelet/kuberuntime/legacy.go legacyLogSymlink',
    'logrotate logrotate.c findNeedRotating',
    'logrotate config.c readAllConfigPaths',
  ],
  // Bottlerocket has no logrotate.
  appliesTo: ({ identity }) =>
    identity.operatingSystem === 'linux' && identity.amiFamily !== 'Bottlerocket',

  *judge(subject) {
    const files = logFilesOf(subject.host)
    const runs = logrotateRunsOf(subject.host)
    const unknown = whyFilesUnknown({ files, unread: unreadFiles(subject.host) })
    if (unknown !== null) yield { unknown }
    const all = placedBlocks(files ?? {}, podLogsFolder(subject))
    if (all.length === 0) return
    const isNeverRun = runs?.by === null && typeof runs.unsure !== 'string'
    if (isNeverRun) return yield idleFilesFailing(all, runs)
    yield* unwrittenFailings(subject, all)
    const twice = all.filter(placed => patternsAt(placed, ['pods']).length > 0)
    yield* doubleFailings(subject, twice)
    // Container logs are reported above. The next checks take blocks with other patterns.
    const others = all.filter(placed => patternsAt(placed, ['elsewhere']).length > 0)
    yield* refusedFailings(others)
    yield* deletedFailings(others)
    if (!runs) yield { unknown: 'host: whether and when something runs logrotate was not read' }
    else if (runs.by === null)
      yield { unknown: `host: whether something runs logrotate is not known: ${runs.unsure}` }
    else yield* lateFailings(others, runs)
  },
})
