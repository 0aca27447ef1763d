/**
 * Limits of the service's policy file. The file is in a bucket, so its writer may have no other right: these limits
 * come from the stack's parameters.
 */
export interface PolicyGrants {
  /** ARNs of roles that `accounts` may name; `*` matches any characters. */
  memberRoles: string[]
  /** ARNs of roles whose token kubelets may see; `*` matches any characters. */
  kubeletRoles: string[]
  /** Whether kubelets may see the token of the run itself. */
  showsOwnToken: boolean
  /** Whether `remediation.mode` may be `plan`. */
  plans: boolean
  /** Whether `remediation.auto` may approve plans: only the function can use the key that seals such approvals. */
  approvals: boolean
  /** Addresses that may receive mail, and domains (without `@`) whose every address may. Lower case. */
  mail: string[]
  /** Bucket that `inspectOutput` may name; null: none. */
  inspectOutputBucket: string | null
}
