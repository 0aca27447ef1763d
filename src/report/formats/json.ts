import type { Format } from '#report/format.ts'

/** The findings document itself (the contract `highwater.findings/1`). */
export const json: Format = {
  id: 'json',
  name: 'findings.json',
  contentType: 'application/json',
  render: ({ document }) => `${lines(document)}\n`,
}

/** Writes each list entry on one line: half the size of indented JSON, and fit for grep and diff. */
function lines(document: object) {
  const fields = Object.entries(document).map(([name, value]) => {
    const isList = Array.isArray(value) && value.length > 0
    const text = isList
      ? `[\n${value.map(entry => JSON.stringify(entry)).join(',\n')}\n]`
      : JSON.stringify(value)
    return `${JSON.stringify(name)}: ${text}`
  })
  return `{\n${fields.join(',\n')}\n}`
}
