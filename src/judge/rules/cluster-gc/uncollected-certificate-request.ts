import { isOld, named, namesInCommand, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule, line } from '#judge/rule.ts'
import { bounded, counted } from '#judge/text.ts'
import type { CertificateRequest, ControlPlane } from '#model/cluster-garbage.ts'
import type { Evidence } from '#model/finding.ts'
import { byText } from '#model/text-order.ts'

const doubtOfVersion = ({ isAssumed }: ControlPlane): { confidence?: 'likely' } =>
  isAssumed ? { confidence: 'likely' } : {}

function evidenceOfVersion({ version, isAssumed }: ControlPlane): Evidence[] {
  if (!isAssumed) return []
  const value =
    version === null
      ? 'not known, the newest is assumed'
      : `not known, assumed that of the newest kubelet: ${bounded(version)}`
  return [line('object', 'version of the control plane', value)]
}

export const uncollectedCertificateRequest = clusterRule({
  id: 'uncollected-certificate-request',
  severity: 'low',
  needs: ['certificates'],
  fate: 'late',
  title: 'Answered certificate requests stay',
  why: 'Once an hour a cleaner deletes requests that were issued, denied or failed more than an hour ago, and those that waited for a day. What it has passed over in two rounds it does not take. Before 1.35 it never took one that was approved and not issued.',
  fix: 'Delete them: a request is of no use once it is answered. If new ones keep staying, look whether an admission webhook refuses the deletion.',
  sources: ['pkg/controller/certificates/cleaner/cleaner.go handle'],

  *judge(
    { cluster, at, controlPlane, certificates: { requests } },
    { clusterGarbage: { minAgeHours } },
  ) {
    const nowMs = Date.parse(at)
    const isLeft = ({ overdue, isNeverCollected, sinceMs }: CertificateRequest) =>
      overdue !== null || (isNeverCollected && isOld(sinceMs, nowMs, minAgeHours))
    const left = requests.filter(isLeft).toSorted((a, b) => byText(a.name, b.name))
    if (left.length === 0) return
    const reasons = [
      ...Map.groupBy(
        left,
        ({ overdue }) => overdue ?? 'approved, not issued, and never collected by this version',
      ),
    ]
    // Whether approved, unissued requests are ever collected depends on the version.
    const isOfVersion = left.some(({ state }) => state === 'approved')
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count: left.length,
      noun: 'certificate request',
      ...(isOfVersion && doubtOfVersion(controlPlane)),
      consequence: `${counted(left.length, 'certificate request')} should have been collected, or will never be.`,
      evidence: [
        ...(isOfVersion ? evidenceOfVersion(controlPlane) : []),
        ...reasons
          .toSorted(([a], [b]) => byText(a, b))
          .map(([what, { length }]) => line('object', what, counted(length, 'request'))),
        ...oldest(left, ({ sinceMs }) => sinceMs, nowMs),
        line('object', 'requests', named(left)),
      ],
      commands: [
        kubectl('delete', 'csr', ...left.slice(0, namesInCommand).map(({ name }) => said(name))),
      ],
    }
  },
})
