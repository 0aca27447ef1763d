/** A key for message authentication codes: in AWS KMS, or in a file of one machine. */
export interface MacKey {
  /** HMAC-SHA-256 in base64. @throws RequestFailure or OperatorError with a message for people */
  mac(message: string): Promise<string>
  /** Whether the code is valid for this message. @throws as `mac` if that cannot be decided */
  isMac(message: string, mac: string): Promise<boolean>
  /** The caller, as the key's place verifies it: an ARN, or the user of this machine. @throws as `mac` */
  identity(): Promise<string>
}
