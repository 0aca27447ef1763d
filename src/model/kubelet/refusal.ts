/** Why a kubelet would not start. */

import type { configurationStructs } from './fields.ts'

export type ConfigurationField = keyof (typeof configurationStructs)['KubeletConfiguration']

export interface Refusal {
  /** The fields that the message is about. Empty: no single fields. */
  fields: readonly ConfigurationField[]
  /** Upstream's text. */
  message: string
}

export const refusal = (
  fields: ConfigurationField | readonly ConfigurationField[],
  message: string,
): Refusal => ({ fields: [fields].flat(), message })

export const withPrefix = (prefix: string, { fields, message }: Refusal): Refusal => ({
  fields,
  message: `${prefix}: ${message}`,
})

export const messagesOf = (refusals: readonly Refusal[]): string[] =>
  refusals.map(({ message }) => message)
