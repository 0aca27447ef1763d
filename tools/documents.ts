/**
 * Prints the SSM documents as JSON, for the deployment; with a name only that document's script, as the agent runs it.
 *
 *   node tools/documents.ts [NAME]
 */

import { sha256 } from '#remediate/plan/canonical.ts'
import { applyDocuments, contentOf, documents, scriptOf } from '#remediate/scripts/documents.ts'

const [name] = process.argv.slice(2)
const all = [...documents, ...applyDocuments]
const wanted = all.find(document => document.name === name)
if (name !== undefined && wanted === undefined) {
  process.stderr.write(
    `There is no document ${name}: they are ${all.map(document => document.name).join(', ')}\n`,
  )
  process.exitCode = 2
} else if (wanted !== undefined) process.stdout.write(scriptOf(wanted))
else {
  const printed = all.map(document => {
    const content = contentOf(document)
    return { name: document.name, resource: document.resource, sha256: sha256(content), content }
  })
  process.stdout.write(JSON.stringify(printed))
}
