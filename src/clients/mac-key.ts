/** A key for message authentication codes: in AWS KMS, or in a file of one machine. */
export interface MacKey {
  /** HMAC-SHA-256 in base64. @throws RequestFailure or OperatorError with a message for people */
  mac(message: string): Promise<string>
  /** Whether the code is valid for this message. @throws likewise if that cannot be decided */
  isMac(message: string, mac: string): Promise<boolean>
  /** The caller, as verified by the key's place: an ARN, or the user of this machine. @throws likewise */
  identity(): Promise<string>
}
