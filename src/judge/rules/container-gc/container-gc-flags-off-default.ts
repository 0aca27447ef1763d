import { durationMs } from '#base/go/duration.ts'
import { kubeletSetting, line, nodeRule, shorten } from '#judge/rule.ts'

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
