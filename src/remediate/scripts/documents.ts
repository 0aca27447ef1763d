/** The SSM documents: fixed scripts as data, with no parameter that could carry a command. */
import { createHash } from 'node:crypto'

export interface Document {
  /** Its name in the account, and the CloudFormation resource that carries it. */
  name: string
  resource: string
  description: string
  /** The files that its script is put together from, in order. */
  files: readonly string[]
}

export const documents: readonly Document[] = [
  {
    name: 'Highwater-Inspect',
    resource: 'InspectDocument',
    description: 'Reads what only the node knows of its kubelet, images, containers, logs and kernel. Changes nothing.',
    files: ['answer.sh', 'inspect.sh'],
  },
  {
    name: 'Highwater-InspectBottlerocket',
    resource: 'InspectBottlerocketDocument',
    description: 'Reads the settings of a Bottlerocket node. Changes nothing.',
    files: ['answer.sh', 'inspect-bottlerocket.sh'],
  },
]

/** Source: Systems Manager quotas, SSM document content. */
export const documentMaxBytes = 64 * 1024

/** What the agent gives to `sh`; the tests and the lab run the same. */
export const scriptOf = ({ files }: Document, readFile: (file: string) => string): string =>
  `#!/bin/sh\n${files.map(file => withoutComments(readFile(file))).join('')}`

/** Lines that are nothing but a comment stay in the repository: a document has its limit. */
const withoutComments = (script: string) => script.replace(/^[ \t]*#.*\n/gm, '')

/**
 * The content, to the byte: SSM hashes this string. Source: Systems Manager user guide, document schema 2.2. `{{ Output }}` is put in as text before
 * the script runs; only the two words of allowedValues can stand there.
 */
export function contentOf(document: Document, readFile: (file: string) => string): string {
  const content = {
    schemaVersion: '2.2',
    description: document.description,
    parameters: {
      Output: {
        type: 'String',
        description: 'short: what the 24,000 characters of a command output hold; full: everything, for an output in S3',
        default: 'short',
        allowedValues: ['short', 'full'],
      },
    },
    mainSteps: [
      {
        action: 'aws:runShellScript',
        name: 'inspect',
        precondition: { StringEquals: ['platformType', 'Linux'] },
        inputs: { timeoutSeconds: '120', runCommand: ["HIGHWATER_OUTPUT='{{ Output }}'", ...scriptOf(document, readFile).split('\n')] },
      },
    ],
  }
  return JSON.stringify(content)
}

/** `DocumentHash` of a SendCommand with `DocumentHashType` Sha256. */
export const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex')
