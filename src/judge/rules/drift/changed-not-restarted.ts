import { type Loss, pendingPaths } from '#judge/drift/layers.ts'
import { layerEvidence, lossWords, wayEvidence } from '#judge/drift/peers.ts'
import { nodeRule, worldCause } from '#judge/rule.ts'

export const changedNotRestarted = nodeRule({
  id: 'changed-not-restarted',
  family: 'drift',
  severity: 'medium',
  cause: worldCause('not-restarted'),
  steps: ['restart-kubelet'],
  needs: ['configuration', 'nextStart'],
  title: "The kubelet's files were changed, and it was not restarted",
  why: 'The kubelet reads its files once, when it starts. What was written since does not act until the next restart or reboot, and then all of it acts at once.',
  fix: 'Restart the kubelet in a quiet hour (systemctl restart kubelet), or restore the file. If the change belongs to the launch template, replace the node.',
  sources: ['cmd/kubelet/app/server.go NewKubeletCommand, initConfigz'],

  *judge(subject) {
    const { nextStart, identity, doubts } = subject
    if (subject.isConfigurationOnDisk)
      return yield {
        unknown: `what runs was not read (mode ${subject.mode}), only what lies on the disk`,
      }
    const start = subject.startFact()
    if (!start || nextStart.errors.length > 0)
      return yield {
        unknown:
          'the kubelet would refuse the files on its disk, so what they come to is not known',
      }
    if (nextStart.settings?.isCommandLineKnown !== true)
      return yield {
        unknown: "the kubelet's command line is unknown: a flag may override the files",
      }
    const running = subject.runningValues()
    const changed = pendingPaths(start, running, identity.kubeletVersion).toSorted()
    if (changed.length === 0) {
      if (doubts.nextStart !== undefined) yield { unknown: doubts.nextStart }
      return
    }
    const losses = changed.map((path): Loss => {
      const last = start.said[path]?.at(-1)
      return {
        path,
        layer: 'configz',
        value: start.comesTo[path],
        where: last?.where ?? 'no file names it',
        by: last?.by ?? 'file',
        why: 'so the files and flags have it, and the kubelet was not restarted since',
        confidence: 'certain',
      }
    })
    yield {
      confidence: doubts.nextStart === undefined ? 'certain' : 'likely',
      consequence: `At its next start this kubelet runs with other settings than now. ${lossWords(losses, running)}`,
      evidence: [...layerEvidence(losses), ...wayEvidence(losses, start, running)],
    }
  },
})
