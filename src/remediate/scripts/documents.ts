/** The SSM documents: fixed scripts as data, with no parameter that could carry a command. */
import { readAsset } from '#asset.ts'
import { applyPaths } from '#facts/aws/apply-documents.ts'
import {
  bottlerocketKeys,
  bottlerocketSettings,
  plannableSettings,
} from '#facts/eks/ami-defaults.ts'
import { longestValue, plannableForms, valueForms } from '#facts/kubelet/plannable-values.ts'
import { logPatternForm, logrotateDirectives, noLogForm } from '#facts/logrotate.ts'
import { imageNameForm, imageSourceForm } from '#model/input/image-reference.ts'

interface Parameter {
  type: 'String'
  description: string
  default?: string
  /** The agent passes the value as `SSM_<name>` in the environment. If absent, the agent inserts the value as text wherever the name is in braces. */
  interpolationType?: 'ENV_VAR'
  allowedValues?: readonly string[]
  /** Anchored, because an unanchored pattern also accepts a text of which only a part matches. */
  allowedPattern?: string
}

export interface Document {
  /** `name` in the account, and `resource`, the CloudFormation resource of the document. */
  name: string
  resource: string
  description: string
  parameters: Readonly<Record<string, Parameter>>
  /** The name of the document's single step. */
  step: string
  /** Longer than all time limits of the script: a script that the agent ends cannot roll back. */
  timeoutSeconds: string
  /** Lines before the script. */
  begin?: readonly string[]
  /** The table of facts that the script checks by. */
  table?: keyof typeof scriptTables
  /** Names of the files that form the script, in order. */
  files: readonly string[]
}

/** The agent inserts `{{ Output }}` as text before the script runs. Only the two words of allowedValues are possible, so any agent may do it. */
const inspects = {
  parameters: {
    Output: {
      type: 'String',
      description:
        'short: what the 24,000 characters of a command output hold; full: everything, for an output in S3',
      default: 'short',
      allowedValues: ['short', 'full'],
    },
  },
  step: 'inspect',
  timeoutSeconds: '120',
  begin: ["HIGHWATER_OUTPUT='{{ Output }}'"],
} as const

const readingFiles = ['node.sh', 'text.sh', 'json.sh', 'answer.sh'] as const

/** The documents that read a node. */
export const documents: readonly Document[] = [
  {
    name: 'Highwater-Inspect',
    resource: 'InspectDocument',
    description:
      'Reads what only the node knows of its kubelet, images, containers, logs and kernel. Changes nothing.',
    ...inspects,
    files: [...readingFiles, 'kubelet.sh', 'inspect.sh'],
  },
  {
    name: 'Highwater-InspectDisks',
    resource: 'InspectDisksDocument',
    description:
      'Reads what holds the disks of a node: folders, layers, deleted files, volumes, devices. Changes nothing.',
    ...inspects,
    files: [...readingFiles, 'kubelet.sh', 'inspect-disks.sh'],
  },
  {
    name: 'Highwater-InspectBottlerocket',
    resource: 'InspectBottlerocketDocument',
    description: 'Reads the settings of a Bottlerocket node. Changes nothing.',
    ...inspects,
    files: [...readingFiles, 'inspect-bottlerocket.sh'],
  },
]

const textParameter = (
  description: string,
  allowed: Pick<Parameter, 'allowedPattern' | 'allowedValues'>,
): Parameter => ({ type: 'String', description, interpolationType: 'ENV_VAR', ...allowed })
const commonParameters = (content: string, older: string) => ({
  Action: textParameter(
    'check: could it be done; apply: do it; rollback: put back what the run has kept',
    { allowedValues: ['check', 'apply', 'rollback'] },
  ),
  Run: textParameter('The run: a second command of the same run does nothing anew', {
    allowedPattern: '^[a-z0-9-]{8,64}$',
  }),
  OldSha256: textParameter('What the plan was made for: anything else is left alone', {
    allowedPattern: older,
  }),
  NewSha256: textParameter('What it will be', { allowedPattern: '^[a-f0-9]{64}$' }),
  Content: textParameter(content, { allowedPattern: '^[A-Za-z0-9+/=]{0,24000}$' }),
})
const hashOrAbsent = '^([a-f0-9]{64}|absent)$'
const seconds = {
  TimeoutSeconds: textParameter('For the way there and the way back together, 60 or more', {
    allowedPattern: '^[0-9]{2,3}$',
  }),
}

const withoutContent = ({ Content: _none, ...others }: ReturnType<typeof commonParameters>) =>
  others

/** The documents that change a node. */
export const applyDocuments: readonly Document[] = [
  {
    name: 'Highwater-ApplyKubeletConfig',
    resource: 'ApplyKubeletConfigDocument',
    description:
      'Replaces one file of the kubelet configuration and starts the kubelet anew; puts the old file back where the kubelet is not well.',
    parameters: {
      ...commonParameters('The whole new file, gzip and base64', hashOrAbsent),
      Method: textParameter('How this OS family takes it', {
        allowedValues: Object.keys(applyPaths),
      }),
      Path: textParameter('The file', { allowedValues: Object.values(applyPaths).flat() }),
      ...seconds,
    },
    step: 'apply',
    timeoutSeconds: '1200',
    table: 'plannable',
    files: [
      'node.sh',
      'text.sh',
      'json.sh',
      'change.sh',
      'file.sh',
      'plannable.sh',
      'apply-kubelet-config.sh',
    ],
  },
  {
    name: 'Highwater-ApplyBottlerocket',
    resource: 'ApplyBottlerocketDocument',
    description:
      'Sets a few settings of the kubelet on a Bottlerocket node; sets the old ones again where they do not stay.',
    parameters: {
      ...commonParameters(
        'JSON of the settings.kubernetes to set, and of those that a way back sets: {"set":{},"back":{}}; gzip or not, and base64',
        '^[a-f0-9]{64}$',
      ),
      ...seconds,
    },
    step: 'apply',
    timeoutSeconds: '1200',
    table: 'settings',
    files: ['node.sh', 'text.sh', 'json.sh', 'change.sh', 'apply-bottlerocket.sh'],
  },
  {
    name: 'Highwater-SyncFile',
    resource: 'SyncFileDocument',
    description: 'Replaces one file of /etc/logrotate.d. Nothing is started anew.',
    parameters: {
      ...commonParameters('The whole new file, gzip and base64', hashOrAbsent),
      Name: textParameter('The file in /etc/logrotate.d', {
        allowedPattern: '^[a-z0-9][a-z0-9_.-]{0,62}$',
      }),
    },
    step: 'sync',
    timeoutSeconds: '300',
    table: 'logrotate',
    files: ['node.sh', 'text.sh', 'change.sh', 'file.sh', 'sync-file.sh'],
  },
  {
    name: 'Highwater-PullImage',
    resource: 'PullImageDocument',
    description:
      'Pulls an image from another registry, gives it the name that pods use, and pins it. Nothing is started anew.',
    parameters: {
      ...withoutContent(commonParameters('', hashOrAbsent)),
      Source: textParameter('Where it is pulled from, without credentials', {
        allowedPattern: imageSourceForm,
      }),
      Name: textParameter('The name that pods use', { allowedPattern: imageNameForm }),
    },
    step: 'pull',
    timeoutSeconds: '900',
    files: ['node.sh', 'text.sh', 'change.sh', 'pull-image.sh'],
  },
]

/** The text that the agent gives to `sh`; the tests and the lab run the same text. The scripts lie beside this file. */
export const scriptOf = ({ files, table }: Document) =>
  `#!/bin/sh\n${table ? scriptTables[table] : ''}${files
    .map(file => withoutComments(readAsset(`src/remediate/scripts/${file}`)))
    .join('')}`

/** Removes comments, empty lines and indentation: a document has a size limit. No text in the scripts depends on them. */
const withoutComments = (script: string) =>
  script.replace(/^[ \t]*#.*\n/gm, '').replace(/^[ \t]+|^\n/gm, '')

/** The exact content: SSM hashes this string. Source: Systems Manager user guide, document schema 2.2. */
export function contentOf(document: Document) {
  const { description, parameters, step, timeoutSeconds, begin = [] } = document
  const content = {
    schemaVersion: '2.2',
    description,
    parameters,
    mainSteps: [
      {
        action: 'aws:runShellScript',
        name: step,
        precondition: { StringEquals: ['platformType', 'Linux'] },
        inputs: { timeoutSeconds, runCommand: [...begin, scriptOf(document)] },
      },
    ],
  }
  return JSON.stringify(content)
}

/** No row contains a quote. */
const shellAssignment = (name: string, rows: readonly string[]) => `${name}='${rows.join('\n')}'\n`

/** Row of a setting: its name, the form of its value, and its keys or `-`. */
function settingRow(setting: string) {
  const form = plannableForms[bottlerocketSettings[setting]?.[0] ?? '']
  if (form === undefined) throw new Error(`${setting} has no form`)
  return `${setting} ${form.value} ${bottlerocketKeys[setting]?.join('|') ?? '-'}`
}

const forms =
  shellAssignment(
    'value_forms',
    Object.entries(valueForms).map(([name, form]) => `${name} ${form}`),
  ) + shellAssignment('longest_value', [String(longestValue)])

export const scriptTables = {
  /** A row is a field, the form of its value, and the form of its keys or `-`; then the forms by name. */
  plannable:
    shellAssignment(
      'plannable',
      Object.entries(plannableForms).map(
        ([name, { value, key }]) => `${name} ${value} ${key ?? '-'}`,
      ),
    ) + forms,
  /** The same for Bottlerocket's settings; here keys are literal, between bars. */
  settings: shellAssignment('settable', plannableSettings.map(settingRow)) + forms,
  /** A row is a directive and the form of its value, or `-` if the directive takes no value. */
  logrotate:
    shellAssignment(
      'directives',
      Object.entries(logrotateDirectives).map(
        ([name, form]) => `${name} ${form === '' ? '-' : form}`,
      ),
    ) +
    shellAssignment('log_pattern', [logPatternForm]) +
    shellAssignment('no_log', [noLogForm]),
} as const
