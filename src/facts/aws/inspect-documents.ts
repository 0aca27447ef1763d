/** The SSM documents that read a node: their names, the hashes of their content, and what they print. The hashes are written by `vitest run test/remediate -u`. */
import hashes from './inspect-documents.json' with { type: 'json' }

export type InspectDocument = keyof typeof hashes

/** The schema of the answer; the same for every document. */
export const inspectSchema = 'highwater.inspect/1'

export const inspectStep = 'inspect'

/** By name: `DocumentHash` (Sha256) for SendCommand, with which SSM refuses any other content. */
export const inspectDocumentHashes: Readonly<Record<InspectDocument, string>> = hashes
