import { doubtOfVersion, evidenceOfVersion } from '#judge/assumed-version.ts'
import { hoursBefore } from '#judge/example-cluster.ts'
import { isOld, namesInCommand, oldest } from '#judge/garbage.ts'
import { kubectl, said } from '#judge/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { byText, counted } from '#judge/text.ts'

const identity = (isCollected: boolean) => ({ lease: 'kube-system/apiserver-abc', renewedMs: hoursBefore(900), isCollected })

export const expiredIdentityLease = clusterRule({
  id: 'expired-identity-lease',
  severity: 'info',
  needs: ['leases'],
  docs: {
    title: 'Leases of API servers that are gone stay',
    why: 'Each kube-apiserver collects the expired identity leases of the others, but only those with the label of its own version: what an older one left under another label stays.',
    fix: 'Delete them. They do no harm but to who counts API servers by them.',
    sources: ['pkg/controlplane/controller/apiserverleasegc/gc_controller.go isLeaseExpired'],
  },
  examples: {
    bad: { leases: { nodes: [], identities: [identity(false)] } },
    good: { leases: { nodes: [], identities: [identity(true)] } },
  },

  *judge({ cluster, at, controlPlane, leases: { identities } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    // One that is due is collected within an hour; of one that is a day old nobody does.
    const left = identities.filter(({ isCollected, renewedMs }) => !isCollected && isOld(renewedMs, nowMs, minAgeHours))
    const found = left.toSorted((a, b) => byText(a.lease, b.lease))
    if (found.length === 0) return
    const names = found.map(({ lease }) => lease.slice(lease.indexOf('/') + 1))
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count: found.length,
      noun: 'lease',
      ...doubtOfVersion(controlPlane),
      consequence: `${counted(found.length, 'lease')} in kube-system ${found.length === 1 ? 'is' : 'are'} of an API server that is gone, under a label that no API server of this version collects.`,
      evidence: [
        ...evidenceOfVersion(controlPlane),
        { what: 'expired identity leases', value: String(found.length) },
        ...oldest(
          found.map(({ renewedMs }) => renewedMs),
          nowMs,
        ),
        { what: 'leases', value: names.slice(0, 5).join(', ') },
      ],
      commands: [kubectl('delete', 'leases', '-n', 'kube-system', ...names.slice(0, namesInCommand).map(said))],
    }
  },
})
