/** S3's answers in XML. */
import type { Refusal, Reply } from '#lab/api.ts'
import { type Elements, elements } from '#lab/xml.ts'

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/'
const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'

export const xmlReply = (
  root: string,
  fields: Elements,
  headers: Record<string, string> = {},
): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/xml', ...headers },
  body: `${declaration}<${root} xmlns="${namespace}">${elements(fields)}</${root}>`,
})

/** Errors have no namespace. The answer to a HEAD has no body either: the server drops it. */
export function xmlError({ status, code, message, more }: Refusal): Reply {
  const requestId = crypto.randomUUID()
  const details = (more.details ?? {}) as Record<string, string>
  return {
    status,
    headers: { 'content-type': 'application/xml', 'x-amz-request-id': requestId },
    body: `${declaration}<Error>${elements({ Code: code, Message: message, ...details, RequestId: requestId })}</Error>`,
  }
}
