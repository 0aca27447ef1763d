import { findHeld, heldReason } from '#judge/help/held.ts'
import { line, lines, nodeRule, plural, worldCause } from '#judge/rule.ts'

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

  *judge(subject, policy) {
    const { runtime, containerGC, ledger } = subject
    if (!runtime.containers) return yield { unknown: 'runtime: no list of containers was read' }
    const states = runtime.containers.map(({ state }) => state)
    const dead = states.filter(state => state === 'CONTAINER_EXITED').length
    const running = states.filter(state => state === 'CONTAINER_RUNNING').length
    if (dead < policy.deadContainers || dead <= running) return
    const removals = containerGC?.removals.filter(({ kind }) => kind === 'container').length
    const [held] = ledger ? findHeld(ledger, ['dead-containers'], { percent: 0, gib: 1 }) : []
    yield {
      ...(held !== undefined && heldReason(held, subject)),
      consequence: `${plural(dead, 'dead container')} beside ${running} running: each keeps its layer, its log and its image.${removals === undefined ? '' : ` The next container GC removes ${removals} of them.`}`,
      evidence: lines(
        line('runtime', 'dead containers', dead),
        line('runtime', 'running containers', running),
        removals !== undefined && line('computed', 'next container GC removes', removals),
      ),
    }
  },
})
