/**
 * Limits on the service's policy file. The file is in a bucket, and its writer might have no other right. So these limits
 * come from the stack's parameters.
 */
export interface PolicyGrants {
  /** ARNs of roles that `accounts` may name; `*` matches any characters. */
  memberRoles: string[]
  /** ARNs of roles whose token may be sent to kubelets; `*` matches any characters. */
  kubeletRoles: string[]
  /** Whether the run's own token may be sent to kubelets. */
  showsOwnToken: boolean
  /** Whether `remediation.mode` may be `plan`. */
  plans: boolean
  /** Whether `remediation.auto` may approve plans. Only the function can use the key that seals such approvals. */
  approvals: boolean
  /** Addresses that may receive mail, and domains (without `@`) of which all addresses may. Lower case. */
  mail: string[]
  /** Bucket that `inspectOutput` may name; null: none. */
  inspectOutputBucket: string | null
}
