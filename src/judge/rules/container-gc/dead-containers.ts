import { durationMs } from '#base/go/duration.ts'
import { heldBy, heldReason } from '#judge/help/held.ts'
import { kubeletSetting, line, lines, nodeRule, plural, shorten, worldCause } from '#judge/rule.ts'

/** No configuration file and no configz contains these flags. Upstream: cmd/kubelet/app/options/options.go NewKubeletFlags. */
const flags: Record<string, { isDefault(value: string): boolean; shown: string; effect: string }> =
  {
    '--minimum-container-ttl-duration': {
      isDefault: value => durationMs(value) === 0,
      shown: '0s',
      effect: 'a dead container stays until it is that old',
    },
    '--maximum-dead-containers-per-container': {
      isDefault: value => Number(value) === 1,
      shown: '1',
      effect: 'that many dead containers of each one are kept, below 0 all',
    },
    '--maximum-dead-containers': {
      // Any value below 0 means no limit.
      isDefault: value => Number(value) < 0,
      shown: '-1',
      effect: 'that many are kept on the whole node, and 0 takes the log of the last crash away',
    },
  }

export const containerGcFlagsOffDefault = nodeRule({
  id: 'container-gc-flags-off-default',
  family: 'container-gc',
  severity: 'low',
  cause: kubeletSetting('minimum-container-ttl-duration'),
  needs: ['host'],
  title: 'Container garbage collection runs with other flags than the default',
  why: 'These three settings exist only as deprecated flags. No configuration file and no configz shows them, so it is hard to see why dead containers and their logs stay or are deleted early.',
  fix: "Take the flag out of the kubelet's command line (user data, systemd drop-in), and protect the disk with eviction thresholds.",
  sources: [
    'cmd/kubelet/app/options/options.go NewKubeletFlags',
    'pkg/kubelet/container/container_gc.go GCPolicy',
  ],

  *judge({ host }) {
    const args = host.kubelet?.commandLine ?? []
    if (args.length === 0) return yield { unknown: "host: the kubelet's command line was not read" }
    for (const [flag, { isDefault, shown, effect }] of Object.entries(flags)) {
      const value = lastValue(args, flag)
      if (value === null || isDefault(value)) continue
      yield {
        consequence: `${flag} ${shorten(value)}: ${effect}.`,
        evidence: [line('host', `kubelet ${flag}`, `${shorten(value)} (default ${shown})`)],
      }
    }
  },
})

/** The last `--flag value` or `--flag=value` counts. Null: the flag is absent. */
function lastValue(args: string[], flag: string) {
  const at = args.findLastIndex(arg => arg === flag || arg.startsWith(`${flag}=`))
  const arg = args[at]
  if (arg === undefined) return null
  return arg === flag ? (args[at + 1] ?? '') : arg.slice(flag.length + 1)
}

export const deadContainerPile = nodeRule({
  id: 'dead-container-pile',
  family: 'container-gc',
  severity: 'medium',
  cause: worldCause('leftover-objects', 'dead containers'),
  steps: ['prune-dead-containers'],
  needs: ['runtime'],
  policy: ['deadContainers'],
  title: 'Dead containers pile up',
  why: 'The kubelet keeps one dead container of each container that it restarted, for its logs, and all of pods that still exist. Each keeps its writable layer and its log on the disk, and its image in use: image GC cannot delete that.',
  fix: 'Delete finished pods and jobs (ttlSecondsAfterFinished), end crash loops, and look at the flags of container GC. Policy deadContainers says how many are many.',
  sources: [
    'pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers',
    'pkg/kubelet/images/image_gc_manager.go detectImages',
  ],

  *judge({ runtime, containerGC, ledger, identity }, policy) {
    if (runtime.containers === undefined)
      return yield { unknown: 'runtime: no list of containers was read' }
    const states = runtime.containers.map(({ state }) => state)
    const dead = states.filter(state => state === 'CONTAINER_EXITED').length
    const running = states.filter(state => state === 'CONTAINER_RUNNING').length
    if (dead < policy.deadContainers || dead <= running) return
    const removals = containerGC?.removals.filter(({ kind }) => kind === 'container').length
    const [held] =
      ledger === null ? [] : heldBy(ledger, ['dead-containers'], { percent: 0, gib: 1 })
    yield {
      ...(held !== undefined && ledger !== null && heldReason(held, ledger, identity)),
      consequence: `${plural(dead, 'dead container')} beside ${running} running: each keeps its layer, its log and its image.${removals === undefined ? '' : ` The next container GC removes ${removals} of them.`}`,
      evidence: lines(
        line('runtime', 'dead containers', dead),
        line('runtime', 'running containers', running),
        removals !== undefined && line('computed', 'next container GC removes', removals),
      ),
    }
  },
})
