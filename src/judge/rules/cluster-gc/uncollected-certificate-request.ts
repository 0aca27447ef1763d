import {
  ageEvidence,
  deleteObjects,
  garbageIn,
  inGroups,
  isOld,
  nameList,
} from '#judge/garbage/garbage.ts'
import { clusterRule, line, lines, plural, shorten } from '#judge/rule.ts'
import type { CertificateRequest, ControlPlane } from '#model/cluster-garbage.ts'

const assumedVersion = ({ version }: ControlPlane) =>
  version === null
    ? 'not known, the newest is assumed'
    : `not known, assumed that of the newest kubelet: ${shorten(version)}`

export const uncollectedCertificateRequest = clusterRule({
  id: 'uncollected-certificate-request',
  severity: 'low',
  needs: ['certificates'],
  fate: 'late',
  title: 'Answered certificate requests stay',
  why: 'Once an hour a cleaner deletes requests that were issued, denied or failed more than an hour ago, and those that waited for a day. What it has passed over in two rounds it does not take. Before 1.35 it never took one that was approved and not issued.',
  fix: 'Delete them: a request is of no use once it is answered. If new ones keep staying, look whether an admission webhook refuses the deletion.',
  sources: ['pkg/controller/certificates/cleaner/cleaner.go handle'],

  *judge({ cluster, at, controlPlane, certificates: { requests } }, { minAgeHours }) {
    const left = requests.filter(
      ({ overdue, isNeverCollected, sinceMs }) =>
        overdue !== null || (isNeverCollected && isOld(sinceMs, at, minAgeHours)),
    )
    yield* garbageIn(cluster, 'certificate request', left, found => {
      const reasonFor = ({ overdue }: CertificateRequest) =>
        overdue ?? 'approved, not issued, and never collected by this version'
      // The control plane's version decides if approved, unissued requests are ever collected.
      const isDoubted = controlPlane.isAssumed && found.some(({ state }) => state === 'approved')
      return {
        ...(isDoubted && { confidence: 'likely' }),
        consequence: `${plural(found.length, 'certificate request')} should have been collected, or will never be.`,
        evidence: lines(
          isDoubted && line('object', 'version of the control plane', assumedVersion(controlPlane)),
          ...inGroups(found, reasonFor).map(([what, { length }]) =>
            line('object', what, plural(length, 'request')),
          ),
          ...ageEvidence(found, 'sinceMs', at),
          line('object', 'requests', nameList(found)),
        ),
        commands: [deleteObjects('csr', '', found)],
      }
    })
  },
})
