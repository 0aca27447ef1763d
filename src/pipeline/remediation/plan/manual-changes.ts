/** Changes that a person makes: a boot option needs a reboot. The plan prints the steps for each group of nodes. */

import { byText } from '#base/text/text-order.ts'
import { hasBootOption, kernelOf } from '#judge/subject/kernel.ts'
import type { NodeIdentity } from '#model/input/node-identity.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type { ManualChange } from '#model/plan/plan.ts'
import { instanceIdOf, whyNever } from '#remediate/plan/never.ts'

const option = 'cgroup.memory=nokmem'

interface BootOption {
  set: string[]
  durable: string
}

/** How to set a boot option on each family, and how to make it durable. Sources: grubby(8); update-grub(8); Bottlerocket settings.boot */
const bootOptions = {
  AL2: {
    set: [`sudo grubby --update-kernel=ALL --args="${option}"`],
    durable: `Build the AMI with grubby --update-kernel=ALL --args="${option}", or better move to an AMI with a kernel of 5.4 or later and cgroup v2: user data comes too late for the first boot.`,
  },
  debian: {
    set: [
      `echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX ${option}"' | sudo tee /etc/default/grub.d/60-nokmem.cfg`,
      'sudo update-grub',
    ],
    durable:
      'Build the AMI with that file and update-grub, or better move to an AMI with a kernel of 5.4 or later and cgroup v2: user data comes too late for the first boot.',
  },
  Bottlerocket: {
    set: [
      `apiclient set --json '{"boot":{"kernel-parameters":{"cgroup.memory":["nokmem"]},"reboot-to-reconcile":true}}'`,
    ],
    durable:
      'In the user data: [settings.boot] reboot-to-reconcile = true, and [settings.boot.kernel-parameters] "cgroup.memory" = ["nokmem"]; or better a variant with a newer kernel and cgroup v2.',
  },
} as const satisfies Record<string, BootOption>

/** Null: unknown for this image. */
function bootOptionOf({ amiFamily }: NodeIdentity, osImage: string): BootOption | null {
  if (amiFamily === 'AL2' || amiFamily === 'Bottlerocket') return bootOptions[amiFamily]
  return /^(Ubuntu|Debian)\b/.test(osImage) ? bootOptions.debian : null
}

interface Leaking {
  cluster: string
  identity: NodeIdentity
  finding: string
  how: BootOption
}

/** Collects nodes whose kernel leaks memory cgroups without the boot option. */
export class ManualChanges {
  readonly #leaking: Leaking[] = []

  /** @param findings of the rule memory-cgroup-leak that name this node */
  take(
    { cluster, host, node }: NodeInput,
    identity: NodeIdentity,
    findings: readonly string[],
  ): void {
    const { release, cmdline, cgroupVersion } = kernelOf({ host, node })
    const isOld = /^[34]\./.test(release ?? '')
    const [finding] = findings
    if (finding === undefined || !isOld || cgroupVersion === 2 || whyNever(identity) !== null)
      return
    if (cmdline !== null && hasBootOption(cmdline, 'cgroup.memory', 'nokmem')) return
    const how = bootOptionOf(identity, node.status?.nodeInfo?.osImage ?? '')
    if (how !== null) this.#leaking.push({ cluster, identity, finding, how })
  }

  /** Returns one change for each group and image family. */
  close(): ManualChange[] {
    const groups = Map.groupBy(this.#leaking, ({ cluster, identity: { group, amiFamily } }) =>
      JSON.stringify([cluster, group.kind === 'Node' ? null : [group.kind, group.name], amiFamily]),
    )
    return [...groups]
      .sort(([a], [b]) => byText(a, b))
      .flatMap(([, members]) => changeOf(members) ?? [])
  }
}

function changeOf(members: readonly Leaking[]): ManualChange | null {
  const [first] = members
  if (first === undefined) return null
  const { cluster, identity, how } = first
  const { group, amiFamily } = identity
  const instances = members.map(one => instanceIdOf(one.identity)).filter(id => id !== null)
  return {
    cluster,
    group: group.kind === 'Node' ? { kind: 'Cluster', namespace: null, name: cluster } : group,
    amiFamily,
    findings: [...new Set(members.map(({ finding }) => finding))].sort(byText),
    title: `Boot with ${option}: the kernel stops counting its own memory by cgroup, and a deleted cgroup no longer keeps its id`,
    nodes: members.map(one => one.identity.name).sort(byText),
    steps: [
      'One node after the other, the next only when the one before is Ready and its pods are ready again:',
      'kubectl cordon "$NODE"',
      'kubectl drain "$NODE" --ignore-daemonsets --delete-emptydir-data --timeout=15m   # it honours PodDisruptionBudgets; where it cannot, stop and look',
      ...how.set.map(line => `on the node: ${line}`),
      instances.length > 0
        ? 'aws ec2 reboot-instances --instance-ids "$INSTANCE"'
        : 'on the node: sudo systemctl reboot',
      'kubectl wait --for=condition=Ready "node/$NODE" --timeout=15m   # a node that was just rebooted may be Ready from before for up to 40 s',
      `on the node: grep -o '${option}' /proc/cmdline   # nothing: it did not arrive`,
      'kubectl uncordon "$NODE"',
    ],
    durable: how.durable,
  }
}
