/** The policy file is in a bucket, so it can widen neither rights nor recipients by itself. Entries that the stack does not allow are dropped and reported. */

import { firstNames, matchesGlob } from '#base/text.ts'
import { remediateSuffix } from '#model/input/record.ts'
import { defaultPolicy, type Policy, type PolicyGrants, type ReportPolicy } from '#model/policy.ts'

export interface GrantedPolicy {
  policy: Policy
  /** One message per dropped entry: where, what, which parameter allows it. */
  refused: string[]
}

const mostNamed = 5

export function grantedPolicy(policy: Policy, grants: PolicyGrants): GrantedPolicy {
  const refused: string[] = []
  const refuse: Refuse = (entry, values, parameter) => {
    refused.push(
      `${entry} of the policy is refused: the stack's parameter ${parameter} does not allow ${firstNames(values, mostNamed)}`,
    )
  }
  const granted = withModes(policy, grants, refuse)
  return {
    policy: {
      ...granted,
      ...grantedAccounts(policy, grants, refuse),
      remediation: grantedRemediation(policy, grants, refuse),
      inspectOutput: grantedOutput(policy, grants, refuse),
      report: grantedReport(policy.report, grants, refuse),
    },
    refused,
  }
}

type Refuse = (entry: string, values: string[], parameter: string) => void

/** The allowed accounts; if none is left, the caller's own. Clusters keep the names that they have in the whole policy. */
function grantedAccounts(
  { accounts, narrowedFrom = accounts }: Policy,
  { memberRoles }: PolicyGrants,
  refuse: Refuse,
): Pick<Policy, 'accounts' | 'narrowedFrom'> {
  const isMember = (role: string | null | undefined) =>
    role == null || memberRoles.some(pattern => matchesGlob(pattern, role))
  const isChanger = (role: string | null | undefined) =>
    isMember(role) ||
    memberRoles.some(pattern => matchesGlob(`${pattern}${remediateSuffix}`, role ?? ''))
  const refuseRoles = (key: string, roles: (string | null | undefined)[]) => {
    const named = [...new Set(roles.filter(role => role != null))]
    if (named.length > 0) refuse(key, named, 'memberRoleArns (HIGHWATER_MEMBER_ROLE_ARNS)')
  }
  const others = accounts.filter(({ roleArn }) => !isMember(roleArn))
  const kept = accounts.filter(({ roleArn }) => isMember(roleArn))
  const changers = kept.map(({ remediateRoleArn }) => remediateRoleArn)
  refuseRoles(
    'accounts.roleArn',
    others.map(({ roleArn }) => roleArn),
  )
  refuseRoles(
    'accounts.remediateRoleArn',
    changers.filter(role => !isChanger(role)),
  )
  const isWhole = others.length === 0 && changers.every(isChanger)
  if (isWhole) return { accounts }
  const granted = kept.map(account => ({
    ...account,
    remediateRoleArn: isChanger(account.remediateRoleArn) ? account.remediateRoleArn : null,
  }))
  return { accounts: granted.length > 0 ? granted : defaultPolicy.accounts, narrowedFrom }
}

/** Without an identity for kubelets, no cluster is read in mode kubelet. */
function withModes(policy: Policy, grants: PolicyGrants, refuse: Refuse) {
  const { roleArn, useOwnToken } = policy.kubelet
  const isRoleGranted =
    roleArn === null || grants.kubeletRoles.some(pattern => matchesGlob(pattern, roleArn))
  if (!isRoleGranted)
    refuse(
      'kubelet.roleArn',
      [roleArn],
      'readsByKubelet or kubeletRole (HIGHWATER_KUBELET_ROLE_ARNS)',
    )
  const isTokenGranted = !useOwnToken || grants.showsOwnToken
  if (!isTokenGranted)
    refuse('kubelet.useOwnToken', ['true'], 'showsOwnToken (HIGHWATER_SHOWS_OWN_TOKEN)')
  if (isRoleGranted && isTokenGranted) return policy
  return {
    ...policy,
    kubelet: defaultPolicy.kubelet,
    modes: policy.modes.filter(({ mode }) => mode !== 'kubelet'),
  }
}

/** A stack without remediation makes no plans, whatever the policy file contains. */
function grantedRemediation(
  { remediation }: Policy,
  { plans, approvals }: PolicyGrants,
  refuse: Refuse,
): Policy['remediation'] {
  const isPlanRefused = remediation.mode !== 'off' && !plans
  if (isPlanRefused)
    refuse('remediation.mode', [remediation.mode], 'remediation (HIGHWATER_REMEDIATION)')
  const isAutoRefused = remediation.auto !== null && !approvals
  if (isAutoRefused)
    refuse(
      'remediation.auto',
      ['approvals by the policy, because those identities could seal them'],
      'applierArns (HIGHWATER_SHARES_RUN_KEY)',
    )
  return {
    ...remediation,
    ...(isPlanRefused && { mode: 'off' }),
    ...(isAutoRefused && { auto: null }),
  }
}

function grantedOutput(
  { inspectOutput }: Policy,
  { inspectOutputBucket }: PolicyGrants,
  refuse: Refuse,
) {
  if (!inspectOutput || inspectOutput.bucket === inspectOutputBucket) return inspectOutput
  refuse(
    'inspectOutput.bucket',
    [inspectOutput.bucket],
    'inspectOutputBucket (HIGHWATER_INSPECT_OUTPUT_BUCKET)',
  )
  return null
}

/** The allowed report settings; if no recipient is left, the stack's own. `languages` adds no recipient. */
function grantedReport(report: ReportPolicy, { mail }: PolicyGrants, refuse: Refuse): ReportPolicy {
  const allowed = new Set(mail)
  const isHost = (host: string) =>
    mail.some(entry => !entry.includes('@') && (host === entry || host.endsWith(`.${entry}`)))
  const isAddress = (address: string) => {
    const lower = address.toLowerCase()
    return allowed.has(lower) || allowed.has(lower.slice(lower.lastIndexOf('@') + 1))
  }
  const refuseValues = (entry: string, values: string[]) => {
    if (values.length > 0) refuse(entry, values, 'policyRecipients (HIGHWATER_POLICY_RECIPIENTS)')
  }
  const grantedAddresses = (entry: string, addresses: string[]) => {
    refuseValues(
      entry,
      addresses.filter(address => !isAddress(address)),
    )
    return addresses.filter(isAddress)
  }
  const grantedAddress = (entry: string, address: string | null) =>
    grantedAddresses(entry, address === null ? [] : [address])[0] ?? null
  const { url, mailto, oneClick } = report.unsubscribe
  const isUrlGranted = url === null || isHost(new URL(url).hostname)
  if (!isUrlGranted) refuseValues('report.unsubscribe.url', [url])
  const recipients = grantedAddresses('report.recipients', report.recipients ?? [])
  return {
    ...report,
    recipients: recipients.length > 0 ? recipients : null,
    owners: report.owners.map(owner => ({
      ...owner,
      recipients: grantedAddresses(`report.owners ${owner.name}`, owner.recipients),
    })),
    bouncesTo: grantedAddress('report.bouncesTo', report.bouncesTo),
    unsubscribe: {
      mailto: grantedAddress('report.unsubscribe.mailto', mailto),
      url: isUrlGranted ? url : null,
      oneClick: isUrlGranted && oneClick,
    },
  }
}
