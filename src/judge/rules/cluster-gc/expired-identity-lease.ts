import { line } from '#judge/evidence.ts'
import { doubtOfVersion, evidenceOfVersion } from '#judge/garbage/assumed-version.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { isOld, namesInCommand, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { isIdentityPassedOver } from '#judge/garbage/leases.ts'
import { clusterRule } from '#judge/rule.ts'
import { byText, counted } from '#judge/text.ts'

const identity = (isCollected: boolean, renewedHoursAgo: number) => ({
  ...{ lease: 'kube-system/apiserver-abc', renewedMs: hoursBefore(renewedHoursAgo), isCollected },
})

export const expiredIdentityLease = clusterRule({
  id: 'expired-identity-lease',
  severity: 'info',
  needs: ['leases'],
  docs: {
    title: 'Leases of API servers that are gone stay',
    why: 'Each kube-apiserver collects the expired identity leases of the others, but only those with the label of its own version: what an older one left under another label stays. One with that label that stays for long all the same is passed over by all of them.',
    fix: 'Delete them. They do no harm but to who counts API servers by them. Where they have the label of now, look why the API servers do not delete them (a webhook that refuses).',
    sources: ['pkg/controlplane/controller/apiserverleasegc/gc_controller.go isLeaseExpired'],
  },
  examples: {
    bad: { leases: { nodes: [], identities: [identity(false, 900)] } },
    good: { leases: { nodes: [], identities: [identity(true, 1.5)] } },
  },

  *judge(
    { cluster, at, controlPlane, leases: { identities } },
    { clusterGarbage: { minAgeHours } },
  ) {
    const nowMs = Date.parse(at)
    const found = identities
      .filter(
        each =>
          (!each.isCollected && isOld(each.renewedMs, nowMs, minAgeHours)) ||
          isIdentityPassedOver(each, nowMs, minAgeHours),
      )
      .toSorted((a, b) => byText(a.lease, b.lease))
    const late = found.filter(({ isCollected }) => isCollected).length
    if (found.length === 0) return
    const names = found.map(({ lease }) => lease.slice(lease.indexOf('/') + 1))
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count: found.length,
      noun: 'lease',
      consequence: `${counted(found.length, 'lease')} in kube-system ${found.length === 1 ? 'is' : 'are'} of an API server that is gone, ${whyThere(found.length, late)}.`,
      ...doubtOfVersion(controlPlane),
      evidence: [
        ...evidenceOfVersion(controlPlane),
        line('object', 'expired identity leases', String(found.length)),
        ...(late > 0
          ? [line('object', 'of these such as an API server should have taken', String(late))]
          : []),
        ...oldest(
          found.map(({ renewedMs }) => renewedMs),
          nowMs,
        ),
        line('object', 'leases', names.slice(0, 5).join(', ')),
      ],
      commands: [
        kubectl(
          'delete',
          'leases',
          '-n',
          'kube-system',
          ...names.slice(0, namesInCommand).map(said),
        ),
      ],
    }
  },
})

function whyThere(count: number, late: number): string {
  if (late === 0) return 'under a label that no API server of this version collects'
  const passedOver = 'that another API server should have deleted within an hour, and has not'
  return late === count
    ? passedOver
    : `${count - late} under a label that no API server of this version collects; the others are such ${passedOver}`
}
