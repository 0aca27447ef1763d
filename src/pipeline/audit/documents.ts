/** The SSM documents as an account has them after a deployment, for the lab. */
import { applyDocuments, contentOf, documents } from '#remediate/scripts/documents.ts'
import { readScript } from '#remediate/scripts/read-script.ts'

export const deployedDocuments = () =>
  [...documents, ...applyDocuments].map(document => ({
    name: document.name,
    content: contentOf(document, readScript),
  }))
