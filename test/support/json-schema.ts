/** JSON Schemas of others, compiled: a function that answers what is wrong with a document. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'

/** @param file in test/fixtures/schemas */
export const schemaFile = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`../fixtures/schemas/${file}`, import.meta.url), 'utf8'))

export function schemaErrors(schema: Record<string, unknown>): (value: unknown) => string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
  formats.default(ajv)
  // Of another draft or another place: the words that are used mean the same.
  const { $schema: _, id: __, $id: ___, ...own } = schema
  const validate = ajv.compile(own)
  return value => {
    validate(value)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
}
