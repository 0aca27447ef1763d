import { releaseOf } from '#facts/eks/node-identity.ts'
import { dependsOnSize, fieldOf, isComparedField, meaningOf } from '#facts/kubelet/fields.ts'
import { declarationOf, declaredNode } from '#judge/drift/declared.ts'
import type { Declaration, DeclaredNode, DeclaredSetting, FieldValue } from '#judge/drift/drift.ts'
import {
  type Loss,
  lossesOnDisk,
  lossOfDeclared,
  runningMeaning,
  type StartFact,
} from '#judge/drift/layers.ts'
import {
  configOf,
  isOnMost,
  layerEvidence,
  lossWords,
  peersOf,
  type Shares,
  sharesByPart,
  wayEvidence,
} from '#judge/drift/peers.ts'
import { contextRule, line, lines, plural, settingIn } from '#judge/rule.ts'

interface LossFact {
  node: DeclaredNode
  running: Record<string, FieldValue>
  release: string
  peers: string
  /** A text: why the files and flags of the next start are unknown. */
  start: StartFact | string
  /** A text for people that names the unread files. Null: all files were read. */
  doubt: string | null
}

export const lostOnTheWay = contextRule({
  id: 'lost-on-the-way',
  family: 'drift',
  severity: 'medium',
  cause: settingIn('declaration', 'lost'),
  steps: ['replace-node'],
  needs: ['configuration'],
  title: 'A declared kubelet setting is not in effect',
  why: 'A setting passes from a launch template, an EC2NodeClass or a file through drop-ins and flags to the kubelet, and each step can drop it silently. Images read only their own source, the kubelet ignores misspelt fields and files that are not named *.conf, and a later drop-in or a flag wins.',
  fix: 'Declare the setting where this image reads it (NodeConfig on Amazon Linux 2023, settings.kubernetes on Bottlerocket, spec.kubelet of the EC2NodeClass), remove what overrides it, and replace the nodes.',
  sources: [
    'cmd/kubelet/app/server.go NewKubeletCommand, mergeKubeletConfigurations',
    'awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go',
    'karpenter-provider-aws#7194, terraform-aws-eks#3420',
  ],
  // Nothing can be declared for EKS Auto Mode.
  appliesTo: ({ identity }) => identity.owner !== 'auto-mode',

  fact: (subject): LossFact => ({
    node: declaredNode(subject),
    running: subject.runningValues(),
    release: JSON.stringify(releaseOf(subject.node, subject.identity.kubeletVersion)),
    peers: peersOf(subject),
    start:
      subject.startFact() ??
      subject.missing.nextStart ??
      "the files on the node's disk do not load",
    doubt: subject.doubts.nextStart ?? null,
  }),

  ofGroup: facts => ({
    facts: facts.map(({ fact }) => fact),
    running: sharesByPart(facts, ({ peers, running }) => ({
      part: peers,
      keys: Object.entries(running).map(([path, { canonical }]) => `${path} ${canonical}`),
    })),
  }),

  *judge(fact, context, _policy, group) {
    const { node, running, start, doubt } = fact
    const declaration = declarationOf(node, context)
    const files = typeof start === 'string' ? null : start
    const isKnown = typeof declaration !== 'string'
    const meaningHere = (path: string, value: unknown) =>
      meaningOf(path, value, node.kubeletVersion)
    if (!isKnown && !files) return yield { unknown: `${declaration}; ${start}` }
    const declared = isKnown
      ? [...lossesOfDeclared(declaration, fact), ...lossesOfOlder(declaration, fact, group)]
      : []
    const onDisk = files ? lossesOnDisk(files, running, node) : []
    const isDeclared = ({ path, value }: Loss) =>
      declared.some(
        loss => loss.path === path && meaningHere(path, loss.value) === meaningHere(path, value),
      )
    const losses = [...declared, ...onDisk.filter(loss => !isDeclared(loss))].filter(
      // changed-not-restarted reports values that do not run yet. peer-drift reports values that most of the group runs:
      // those were changed on this node. This rule reports the latter only if the loss is located.
      loss =>
        loss.layer !== 'configz' &&
        (isExplained(loss, declaration) ||
          (doubt === null && loss.by === 'declared' && isLossCertain(loss)) ||
          !runsOnMost(loss, fact, group().running)),
    )
    if (losses.length === 0) {
      if (!isKnown && doubt !== null) yield { unknown: `${declaration}; ${doubt}` }
      for (const unknown of isKnown ? declaration.undecided : []) yield { unknown }
      if (isKnown && declaration.settings.length === 0 && !files)
        yield { unknown: `nothing is declared for it; ${start}` }
      return
    }
    const isCertain = doubt === null && losses.some(isLossCertain)
    yield {
      confidence: isCertain ? 'certain' : 'likely',
      consequence: `${plural(new Set(losses.map(({ path }) => path)).size, 'setting')} did not arrive. ${lossWords(losses, running)}`,
      evidence: lines(
        ...layerEvidence(losses),
        files === null &&
          !losses.every(isLossCertain) &&
          line('unread', 'disk', `the files were not read: ${start}`),
        files !== null && doubt !== null && line('unread', 'disk', doubt),
        ...wayEvidence(losses, files, running),
      ),
      fix: { config: configOf(declared, running) },
    }
  },
})

function lossesOfDeclared({ settings }: Declaration, { node, running, start }: LossFact): Loss[] {
  const files = typeof start === 'string' ? null : start
  const lost = settings.filter(setting => isLost(setting, running, node))
  return lost.map(
    setting =>
      (files ? null : lossToOwnFlag(setting, settings, running, node)) ??
      lossOfDeclared(setting, files, node),
  )
}

/** Loss to a flag of the same source, known without any file. The flag of a map replaces the whole map. Null: no such loss. */
function lossToOwnFlag(
  { path, value, before, where, by, lostBy }: DeclaredSetting,
  settings: readonly DeclaredSetting[],
  running: Record<string, FieldValue>,
  { kubeletVersion }: DeclaredNode,
): Loss | null {
  if (by === 'flag' || lostBy !== null || before !== undefined) return null
  const field = fieldOf(path)
  const flags = settings.filter(
    flag =>
      flag.by === 'flag' &&
      flag.lostBy === null &&
      (flag.path === path || (field !== 'featureGates' && fieldOf(flag.path) === field)),
  )
  const said = flags.findLast(flag => flag.path === path)?.value
  const [flag] = flags
  if (!flag || meaningOf(path, said, kubeletVersion) !== runningMeaning(running, path)) return null
  const why = `the flag in ${flag.where} takes its place`
  return { path, layer: 'flags', value, where, by: 'declared', why, confidence: 'certain' }
}

function isLost(
  { path, value, before }: DeclaredSetting,
  running: Record<string, FieldValue>,
  { kubeletVersion }: DeclaredNode,
) {
  if (!isComparedField(path)) return true
  const isRunning =
    meaningOf(path, before ?? value, kubeletVersion) === runningMeaning(running, path)
  return before === undefined ? !isRunning : isRunning
}

const isLossCertain = ({ confidence }: Loss) => confidence === 'certain'

/** Whether the declaration shows why this node lacks the setting. */
const isExplained = ({ path, where, by }: Loss, declaration: Declaration | string) =>
  by === 'declared' &&
  typeof declaration !== 'string' &&
  (declaration.older !== undefined ||
    declaration.settings.some(
      setting => setting.path === path && setting.where === where && setting.lostBy !== null,
    ))

const runsOnMost = ({ path, value }: Loss, { peers, node }: LossFact, running: Shares) =>
  isOnMost(running, peers, `${path} ${meaningOf(path, value, node.kubeletVersion)}`)

/** The node's older template version or node class is unknown. Nodes created from the newer one show what is lost. */
function lossesOfOlder(
  { settings, older }: Declaration,
  { running, release }: LossFact,
  group: () => { facts: readonly LossFact[] },
): Loss[] {
  if (!older) return []
  const isFromPresent = ({ template, nodeClass }: DeclaredNode) =>
    older.version === null ? nodeClass.hash === older.hash : template.version === older.version
  const newer = group().facts.filter(fact => fact.release === release && isFromPresent(fact.node))
  const paths = new Set(
    newer.flatMap(fact => Object.keys(fact.running)).concat(Object.keys(running)),
  )
  return [...paths].flatMap((path): Loss[] => {
    const meanings = new Set(newer.map(fact => runningMeaning(fact.running, path)))
    const isOpen =
      newer.length > 0 && !dependsOnSize(path) && !settings.some(setting => setting.path === path)
    if (!isOpen || meanings.size > 1 || meanings.has(runningMeaning(running, path))) return []
    const value = newer[0]?.running[path]?.shown
    return [
      {
        path,
        layer: 'declared',
        value,
        where: 'nodes that were made since',
        by: 'declared',
        why: older.lostBy,
        confidence: 'likely',
      },
    ]
  })
}
