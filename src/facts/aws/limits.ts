/** Limits of EKS and of its bearer tokens that the product keeps to. */

/** Source: kubernetes-sigs/aws-iam-authenticator pkg/token/token.go: the server accepts a token until X-Amz-Date + 15 min; clients plan for less. */
export const eksTokenRenewMs = 10 * 60_000
/** The presigned URL's X-Amz-Expires, as `aws eks get-token` sets it. Source: aws-iam-authenticator pkg/token/token.go requestPresignParam. */
export const eksTokenUrlExpiresSeconds = 60
/** Source: aws-iam-authenticator pkg/token/token.go maxTokenLenBytes ("token is too large"). */
export const eksTokenMaxBytes = 4096
