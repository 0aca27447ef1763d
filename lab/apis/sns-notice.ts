/** A message that the lab's SNS has taken. */
export interface Notice {
  topicArn: string
  subject: string | null
  message: string
}
