/**
 * User data of AL2 and of Windows. Their bootstrap scripts take kubelet settings as flags.
 * Source: amazon-eks-ami templates/al2/runtime/bootstrap.sh; EKS user guide, Windows bootstrap script
 */

import type { RawObject } from '#base/raw-object.ts'
import { al2BootstrapFields } from '#facts/eks/ami-defaults.ts'
import { argumentsFor, flagOfField } from '#facts/kubelet/flag-settings.ts'
import {
  comments,
  type DurableRequest,
  type DurableTarget,
  isEmpty,
  settableFields,
} from './durable.ts'

export const launchTemplate: DurableTarget = {
  target: 'launch-template',
  isFor: ({ amiFamily }) => amiFamily === 'AL2' || amiFamily === 'Windows',

  snippet(request) {
    if (request.origin.amiFamily === 'Windows') return windowsUserData(request)
    const { script, leftOut } = al2Script(request, inUserData)
    return script === '' ? comments(['AL2 takes no part of this fix.', ...leftOut]) : script
  },
}

const inUserData = [
  'User data of the launch template, before anything calls /etc/eks/bootstrap.sh. Nodes have it when they are replaced.',
  'With terraform-aws-modules/eks it is pre_bootstrap_user_data. AL2 gets no more releases: better move to AL2023.',
]

const withoutFlag = (field: string): string | null =>
  flagOfField.has(field) ? null : 'the kubelet has no flag for it'

/** Flags for a command line. Only `<` in a value needs quotes. */
const flags = (config: RawObject) =>
  Object.entries(config)
    .flatMap(([field, value]) => argumentsFor(field, value))
    .join(' ')

/**
 * Flags set the fields that bootstrap.sh writes. The other fields go into its input file. Comments of the script list what was left out. An
 * empty script: nothing can be set.
 */
export function al2Script(request: DurableRequest, where: readonly string[]) {
  const { config, leftOut } = settableFields(request, {
    refusal: field => (al2BootstrapFields.has(field) ? withoutFlag(field) : null),
  })
  const fieldsByFlag = (isFlag: boolean) =>
    Object.fromEntries(
      Object.entries(config).filter(([field]) => al2BootstrapFields.has(field) === isFlag),
    )
  const [byFile, byFlag] = [fieldsByFlag(false), fieldsByFlag(true)]
  const steps = [
    isEmpty(byFile) ? '' : intoFile(byFile),
    isEmpty(byFlag) ? '' : intoBootstrap(byFlag),
  ].join('')
  return {
    script: steps === '' ? '' : `#!/bin/bash\n${comments([...where, ...leftOut])}set -e\n${steps}`,
    leftOut,
  }
}

const intoFile = (config: RawObject) => `file=/etc/kubernetes/kubelet/kubelet-config.json
cat >"$file.fix" <<'HIGHWATER'
${JSON.stringify({ kind: 'KubeletConfiguration', ...config }, null, 2)}
HIGHWATER
jq -s '.[0] * .[1]' "$file" "$file.fix" >"$file.new"
cat "$file.new" >"$file"
rm "$file.fix" "$file.new"
`

/** bootstrap.sh assigns KUBELET_EXTRA_ARGS once, after parsing its arguments. The script appends the flags right after that line. */
const intoBootstrap = (
  config: RawObject,
) => `# bootstrap.sh writes ${Object.keys(config).join(', ')} anew; a flag wins over what it writes.
cat >/etc/eks/highwater-kubelet-args <<'HIGHWATER'
KUBELET_EXTRA_ARGS="$KUBELET_EXTRA_ARGS ${flags(config)}"
HIGHWATER
sed -i '/^KUBELET_EXTRA_ARGS=/r /etc/eks/highwater-kubelet-args' /etc/eks/bootstrap.sh
`

function windowsUserData(request: DurableRequest) {
  const { config, leftOut } = settableFields(request, { refusal: withoutFlag })
  const eksctl = request.origin.isEksctl
    ? [
        'eksctl passes no flags to Windows kubelets: the nodegroup needs a launch template of your own.',
      ]
    : []
  if (isEmpty(config)) return comments(['Windows nodes take no part of this fix.', ...leftOut])
  return `<powershell>
${comments([...inWindows, ...eksctl, ...leftOut])}[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"
& $EKSBootstrapScriptFile -EKSClusterName 'my-cluster' -KubeletExtraArgs '${flags(config)}' 3>&1 4>&1 5>&1 6>&1
</powershell>
`
}

const inWindows = [
  'User data of the launch template. In the call that is there keep its arguments, and add these to -KubeletExtraArgs.',
  'Nodes have it when they are replaced.',
]
