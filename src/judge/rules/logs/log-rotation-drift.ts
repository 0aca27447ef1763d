import { byText } from '#base/text/text-order.ts'
import type { Drift } from '#judge/drift/peers.ts'
import { ownOf } from '#judge/logs/logrotate.ts'
import { type NodeRotation, nodeRotation, whyFilesUnknown } from '#judge/logs/node-rotation.ts'
import { type Cost, changesOf, distinctFacts, fileDrift } from '#judge/logs/rotation-drift.ts'
import { bytes, type CohortMember, cohortRule, plural, settingIn, shorten } from '#judge/rule.ts'

export const logRotationDrift = cohortRule({
  id: 'log-rotation-drift',
  family: 'logs',
  severity: 'medium',
  cause: settingIn('logrotate', 'rotate'),
  steps: ['set-log-files'],
  needs: ['host'],
  policy: ['logRotation'],
  title: 'Nodes rotate their logs by other files than their peers, or than the policy wants',
  why: 'Files of logrotate are edited by hand on the node that was full, and stay so. Sizes and counts decide how much a log may take of the disk that pods share: for each log there are rotate old files and the log itself, each as large as the size at which it is rotated and what is written until logrotate runs again (maxsize acts only then). Files are compared by what they mean: 100M is 104857600, and the order of directives says nothing, but of two times or sizes the last counts.',
  fix: 'Put the wanted file where the nodes come from (image, user data of the launch template) and replace the nodes that differ. Policy logRotation says which file is wanted; without it the majority of the group is the norm.',
  sources: [
    'logrotate config.c readConfigFile',
    'logrotate logrotate.c findNeedRotating, rotateSingleLog',
  ],
  // Bottlerocket has no logrotate.
  appliesTo: ({ identity }) =>
    identity.operatingSystem === 'linux' && identity.amiFamily !== 'Bottlerocket',

  // Each image family has its own logrotate files.
  cohort: ({ identity }) => identity.amiFamily,
  judgesAlone: ({ logRotation }) => Object.keys(logRotation).length > 0,
  fact: (subject): NodeRotation => nodeRotation(subject),

  *judge(members, policy) {
    const { logRotation } = policy
    yield* unreadOf(members)
    const read = members.filter(({ fact }) => fact.files !== null)
    const [first] = read
    if (first && read.length === 1 && members.length > 1 && Object.keys(logRotation).length === 0)
      yield {
        nodes: [first.node],
        unknown:
          'host: of none of its peers the files of logrotate were read, so there is nothing to compare with',
      }
    const paths = [
      ...new Set([
        ...distinctFacts(read).flatMap(({ files }) => Object.keys(files ?? {})),
        ...Object.keys(logRotation),
      ]),
    ].toSorted(byText)
    const found = paths.map(path => fileDrift(path, read, ownOf(logRotation, path)))
    yield {
      nodes: found.flatMap(({ unhashed }) => unhashed),
      unknown: 'host: of a file whose hash the policy wants none was read',
    }
    const drifts = found.flatMap(file => file.drifts)
    if (drifts.length === 0) return
    const nodes = [...new Set(drifts.flatMap(({ outliers }) => outliers))].toSorted(byText)
    const costs = found
      .flatMap(file => file.costs)
      .toSorted((a, b) => excessOf(b.drift) - excessOf(a.drift) || byText(a.pattern, b.pattern))
    const tied = drifts.filter(({ hasNorm }) => !hasNorm).map(({ evidence }) => evidence.what)
    yield {
      nodes,
      failing: {
        confidence: tied.length === 0 ? 'certain' : 'possible',
        consequence: [
          `${nodes.length} of ${plural(read.length, 'node')} of one image family rotate logs otherwise than their peers${Object.keys(logRotation).length > 0 ? ' or the policy' : ''}.`,
          ...costs.slice(0, 1).map(cost => costInWords(cost, read)),
          ...doubtOf(tied),
        ].join(' '),
        evidence: [
          ...drifts.map(({ evidence }) => evidence),
          ...paths.flatMap((path, at) => (found[at] && changesOf(path, found[at], read)) ?? []),
          ...costs.map(({ drift }) => drift.evidence),
          ...found.flatMap(({ text, drifts: [drift] }) =>
            text
              ? [
                  drift
                    ? text.evidence
                    : { ...text.evidence, value: `${text.evidence.value}; in meaning the same` },
                ]
              : [],
          ),
        ],
      },
    }
  },
})

/** A node with an unread file is unknown, so the node does not pass. */
function* unreadOf(members: readonly CohortMember<NodeRotation>[]) {
  for (const { node, fact } of members) {
    const unknown = whyFilesUnknown(fact)
    if (unknown !== null) yield { nodes: [node], unknown }
  }
}

const longestDoubt = 300

const doubtOf = (tied: string[]) =>
  tied.length === 0
    ? []
    : [
        `No value has a majority of ${shorten(tied.join(', '), longestDoubt)}: which of the nodes is the odd one is open.`,
      ]

/** Bytes that a log may keep at most. Infinity: no size limits the log. */
const keptOf = (canonical: string) =>
  /^\d/.test(canonical) ? Number(canonical) : Number.POSITIVE_INFINITY
const worstOf = ({ outlying }: Drift) =>
  outlying.toSorted((a, b) => keptOf(b.value.canonical) - keptOf(a.value.canonical))[0]

function excessOf(drift: Drift) {
  const most = keptOf(worstOf(drift)?.value.canonical ?? '')
  const norm = keptOf(drift.reference.canonical)
  return most === norm ? 0 : most - norm
}

function costInWords({ pattern, drift }: Cost, members: readonly CohortMember<NodeRotation>[]) {
  const worst = worstOf(drift)
  if (!worst) return ''
  const { reference } = drift
  const log = shorten(pattern, 150)
  if (excessOf(drift) < 0)
    return `Of a log of ${log} they keep only ${worst.value.shown} instead of ${reference.shown}: older lines are gone sooner.`
  const rooms = members.flatMap(({ node, fact }) =>
    worst.nodes.includes(node) && fact.roomBytes !== null ? [fact.roomBytes] : [],
  )
  const room =
    rooms.length === 0
      ? ''
      : ` nodefs has about ${bytes(Math.min(...rooms))} left there before eviction.`
  const growth =
    keptOf(worst.value.canonical) === Number.POSITIVE_INFINITY
      ? '.'
      : '; what is written between two runs of logrotate comes on top.'
  return `A log of ${log} may keep ${worst.value.shown} there instead of ${reference.shown}${growth}${room}`
}
