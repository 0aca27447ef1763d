import { amountLine, thresholdEvidence } from '#judge/help/thresholds.ts'
import { line, nodeRule, percent, settingIn } from '#judge/rule.ts'
import type { EvaluatedThreshold, Signal } from '#model/prediction.ts'

const disks: Partial<Record<Signal, 'nodefs' | 'imagefs'>> = {
  'nodefs.available': 'nodefs',
  'imagefs.available': 'imagefs',
}

export const alertBehindEviction = nodeRule({
  id: 'alert-behind-eviction',
  family: 'eviction',
  severity: 'medium',
  cause: settingIn('policy', 'alertPercent'),
  needs: ['eviction'],
  policy: ['alertPercent'],
  title: 'The critical disk alert fires only after pods are evicted',
  why: 'The kubelet evicts pods before the disk reaches the level of the alert. The people on call learn of it from failing pods.',
  fix: 'Set the critical level of the alert below the use at which eviction begins (policy alertPercent says where it stands).',
  sources: ['pkg/kubelet/eviction/helpers.go thresholdsMet'],
  *judge({ eviction, filesystems, configuration }, { criticalAlertPercent }) {
    if (criticalAlertPercent === undefined) return
    const leftPercent = 100 - criticalAlertPercent
    const isBehind = ({ signal, resolved, hard: isHard }: EvaluatedThreshold) => {
      const disk = disks[signal]
      const capacityBytes = (disk && filesystems[disk]?.capacityBytes) ?? null
      if (!isHard || resolved === null || capacityBytes === null) return false
      return resolved > 0 && resolved >= (leftPercent / 100) * capacityBytes
    }
    const behind = eviction.thresholds.filter(isBehind)
    if (behind.length === 0) return
    const names = behind.map(({ signal, value }) => `${signal}<${value}`).join(', ')
    yield {
      consequence: `The alert fires at ${percent(criticalAlertPercent)} used. Eviction begins at ${names}, which is met before.`,
      evidence: [
        line('policy', 'policy alertPercent.critical', criticalAlertPercent),
        ...behind.flatMap(threshold => [
          thresholdEvidence(threshold, configuration),
          amountLine('computed', threshold, 'is met below', threshold.resolved ?? 0),
        ]),
      ],
    }
  },
})
