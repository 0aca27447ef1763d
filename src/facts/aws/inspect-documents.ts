/** The SSM documents that read a node: names, hashes of their content, and schema of the output. `vitest run test/remediate -u` writes the hashes. */
import hashes from './inspect-documents.json' with { type: 'json' }

export type InspectDocument = keyof typeof hashes

/** The schema of the answer of every document. */
export const inspectSchema = 'highwater.inspect/1'

export const inspectStep = 'inspect'

/** Hash (Sha256) by document name, for SendCommand. SSM refuses another content. */
export const inspectDocumentHashes: Readonly<Record<InspectDocument, string>> = hashes
