import type { Format } from '#report/format.ts'

/** The findings document itself (the contract `highwater.findings/1`). */
export const json: Format = {
  id: 'json',
  name: 'findings.json',
  contentType: 'application/json',
  render: ({ document }) => `${JSON.stringify(document, null, 2)}\n`,
}
