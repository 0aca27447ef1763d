/** Removes secrets from the parts of a record that no shape can cut. Texts are redacted afterwards (prune.ts). */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { redact } from '#base/redaction/redact.ts'
import { replaceFields, replaceItems } from '#base/redaction/replaced.ts'
import { isSecretKey } from '#base/redaction/secret-names.ts'
import { cutConfig, cutSettings } from '#model/kubelet/settings.ts'

/** The kubelet's environment files and unit contain flags. All other lines of them are dropped. */
const variable = /^(?:export\s+)?[A-Z0-9_]+$/
const isKubeletVariable = (name: string) =>
  name === 'ExecStart' || (name.includes('KUBELET') && variable.test(name))

const isKept = (name: string) => isKubeletVariable(name.trim()) && !isSecretKey(name)
/** Roles of files whose content is kept: a KubeletConfiguration, read by the kubelet or not, or the NodeConfig that a plan wrote. A kubeconfig or any other content is dropped. */
const configurationRoles = new Set<unknown>(['config', 'drop-in', 'ignored', 'nodeadm'])

export function withoutHostSecrets(host: unknown): unknown {
  if (!isRawObject(host)) return host
  const { kubelet, kernel, logrotate, logrotateRuns } = host
  return {
    ...host,
    ...(isRawObject(kubelet) && { kubelet: withoutKubeletSecrets(kubelet) }),
    ...(isRawObject(kernel) &&
      typeof kernel.cmdline === 'string' && {
        kernel: { ...kernel, cmdline: harmlessKernelWords(kernel.cmdline) },
      }),
    ...(logrotate !== undefined && { logrotate: withoutLogrotateSecrets(logrotate) }),
    ...(isRawObject(logrotateRuns) && { logrotateRuns: withBoundedDoubt(logrotateRuns) }),
  }
}

/** Cuts `unsure` to a limit. Null means that nothing else starts logrotate, so null stays. */
function withBoundedDoubt({ unsure, ...runs }: RawObject): RawObject {
  if (unsure === null) return { ...runs, unsure }
  return typeof unsure === 'string'
    ? { ...runs, unsure: redact(unsure).slice(0, longestDoubt) }
    : runs
}

const longestDoubt = 200

const harmless =
  /^(BOOT_IMAGE|root|rootfstype|ro|rw|quiet|console|cgroup[._][a-z0-9_.]+|cgroup|swapaccount|psi|systemd\.unified_cgroup_hierarchy|systemd\.legacy_systemd_cgroup_controller|net\.ifnames|biosdevname|nvme_core\.io_timeout|selinux|enforcing|security|mitigations|transparent_hugepage|hugepages|hugepagesz|crashkernel|panic)(=[A-Za-z0-9_.,:/()=+-]*)?$/

/** Keeps only kernel parameters that contain nothing but settings. Words after `--` are for init. */
function harmlessKernelWords(cmdline: string) {
  const words = cmdline.replace(/"[^"]*"?/g, '"').split(/\s+/)
  const end = words.indexOf('--')
  return (end < 0 ? words : words.slice(0, end)).filter(word => harmless.test(word)).join(' ')
}

const withoutKubeletSecrets = (kubelet: RawObject): RawObject => {
  const { commandLine, files } = kubelet
  return {
    ...kubelet,
    ...(Array.isArray(commandLine) && {
      commandLine: withoutArgumentSecrets(commandLine.map(String)),
    }),
    ...(Array.isArray(files) && { files: files.map(withoutFileSecrets) }),
  }
}

/** Kubelet flags whose names look like a secret's, but which take no second argument. Source: cmd/kubelet/app/options/options.go */
const isSwitch = (flag: string) => flag.replaceAll('_', '-') === 'authentication-token-webhook'

/** A flag and its value may be two arguments. The second is the value, even if it starts with a dash. */
function withoutArgumentSecrets(commandLine: string[]) {
  let isHidden = false
  return commandLine.map(argument => {
    const [, flag = '', value] = /^--?([\w-]+)(=.*)?$/s.exec(argument) ?? []
    const hides = isHidden && !/^--[A-Za-z]/.test(argument)
    isHidden = !hides && flag !== '' && value === undefined && isSecretKey(flag) && !isSwitch(flag)
    if (hides) return '(removed)'
    const isSecret = value !== undefined && isSecretKey(flag) && !/^=(true|false)$/.test(value)
    return isSecret ? `${argument.slice(0, argument.indexOf('='))}=(removed)` : argument
  })
}

const withoutFileSecrets = (file: unknown) =>
  isRawObject(file) ? { ...file, content: keptContent(file) } : file

function keptContent({ role, content }: RawObject) {
  const fields = isRawObject(content) ? content : null
  if (configurationRoles.has(role)) return fields && withoutSecretFields(fields)
  if (role !== 'environment') return null
  if (typeof content === 'string')
    return content
      .split('\n')
      .filter(line => isKept(line.split('=')[0] ?? ''))
      .join('\n')
  return (
    fields && replaceFields(fields, (value, name) => (isKept(name) ? String(value) : undefined))
  )
}

/** The URL of static pods, and the header sent there, may contain a token. The other fields are where objects and containers may hold secrets. */
const secretFields = new Set([
  'staticPodURL',
  'staticPodURLHeader',
  'annotations',
  'args',
  'binaryData',
  'command',
  'data',
  'env',
  'envFrom',
  'managedFields',
  'stringData',
])

/** A raw object without the fields that may hold a secret, at any depth. */
export function withoutSecretFields(value: unknown): unknown {
  if (Array.isArray(value)) return replaceItems(value, withoutSecretFields)
  if (!isRawObject(value)) return value
  return replaceFields(value, (inner, field) =>
    secretFields.has(field) ? undefined : withoutSecretFields(inner),
  )
}

/** Cuts each template's kubelet settings. Null: the template has none; absent: unknown, for example after an edit by hand. */
export function withoutTemplateSecrets(templates: unknown): unknown {
  return Array.isArray(templates) ? templates.map(cutTemplate) : templates
}

function cutTemplate(template: unknown) {
  if (!isRawObject(template) || !('kubelet' in template)) return template
  const { kubelet, ...rest } = template
  const settings = kubelet === null ? null : cutSettings(kubelet)
  return settings === undefined ? rest : { ...rest, kubelet: settings }
}

/**
 * NodePools and node classes: kubelet fields are cut as everywhere; of user data only the kubelet settings stay. User data that is still text,
 * as in a snapshot made by hand, becomes null: it exists, but its settings are unknown.
 */
export function withoutNodeClassSecrets(item: unknown): unknown {
  if (!isRawObject(item) || !isRawObject(item.spec)) return item
  const { kubelet, userData, template, ...rest } = item.spec
  const spec: RawObject = { ...rest }
  if (kubelet !== undefined) spec.kubelet = cutConfig(kubelet)
  if (userData !== undefined)
    spec.userData = Array.isArray(userData)
      ? userData.flatMap(settings => cutSettings(settings) ?? [])
      : null
  if (template !== undefined) spec.template = withoutNodeClassSecrets(template)
  return { ...item, spec }
}

/*
 * Cuts a logrotate file to the directives that logrotate knows, without scripts. Any file may lie in logrotate's folder, and a link there may lead to any
 * other file of the node, whose lines then look like directives.
 */

const mostPatterns = 1000
const pattern = /^[/~*][^\0\r\n]{0,1000}$/
/** Also matches a misspelt size, which logrotate refuses. */
const amount = /^-?[\w.%]{0,20}$/
const rotationWords = /^[\w.,:;%+@~=/*?()[\]{}\\"' -]{0,300}$/
/** RFC 3339 */
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const removed = '(removed)'

const withoutLogrotateSecrets = (entries: unknown) =>
  Array.isArray(entries) ? entries.map(withoutEntrySecrets) : entries

function withoutEntrySecrets(entry: unknown) {
  if (!isRawObject(entry) || entry.directives === undefined) return entry
  const { sha256, modifiedAt, directives, ...rest } = entry
  const entries = isRawObject(directives) ? Object.entries(directives) : []
  const kept = entries.flatMap(([name, value]) => {
    const cut = name === 'patterns' ? patternsIn(value) : cutDirective(name.toLowerCase(), value)
    return cut === undefined ? [] : [[name, cut] as const]
  })
  // Without a known directive even the hash is dropped: short secrets can be guessed from it.
  const isForeign = kept.length < entries.length && kept.every(([name]) => name === 'patterns')
  return {
    ...rest,
    ...(sha256 !== undefined && !isForeign && { sha256 }),
    ...((modifiedAt === null || (typeof modifiedAt === 'string' && time.test(modifiedAt))) && {
      modifiedAt,
    }),
    directives: Object.fromEntries(kept) satisfies RawObject,
  }
}

/** The patterns that are paths. Undefined: none is a path. */
function patternsIn(value: unknown): string[] | undefined {
  const all = (Array.isArray(value) ? value : [value]).slice(0, mostPatterns)
  const kept = all.filter(item => typeof item === 'string' && pattern.test(item))
  return kept.length === 0 && all.length > 0 ? undefined : kept
}

function cutDirective(name: string, value: unknown): unknown {
  const kind = directiveKind(name)
  if (kind === null) return undefined
  if (kind === 'script') return true
  if (Array.isArray(value))
    return value.slice(0, mostPatterns).map(item => cutWord(String(item), kind))
  if (typeof value === 'string') return cutWord(value, kind)
  return typeof value === 'number' || typeof value === 'boolean' ? value : removed
}

function cutWord(text: string, kind: 'amount' | 'words') {
  if (text === removed) return removed
  if (kind === 'amount') return amount.test(text) ? text : removed
  return rotationWords.test(text) ? text : removed
}

/* All directives that logrotate knows. A file with any other word is not a logrotate file. Source: logrotate config.c readConfigFile */

const flags =
  `allowhardlink compress copy copytruncate create createolddir dateext datehourago dateyesterday delaycompress ifempty ignoreduplicates
  mail missingok olddir renamecopy sharedscripts shred`.split(/\s+/)

/** Directives that a script follows, up to `endscript`. */
const scripts = ['firstaction', 'lastaction', 'postrotate', 'preremove', 'prerotate']

/** Directives that a number, a size or a day follows, if anything. */
const amounts =
  `daily hourly maxage maxsize minage minsize minutes monthly rotate shredcycles size start weekly yearly`.split(
    ' ',
  )

const words =
  `addextension compresscmd compressext compressoptions dateformat extension include mailfirst maillast notifempty su tabooext taboopat
  uncompresscmd`.split(/\s+/)

const known = new Set([
  ...flags,
  ...flags.map(flag => `no${flag}`),
  ...scripts,
  ...amounts,
  ...words,
])
const ofScripts = new Set(scripts)
const ofAmounts = new Set(amounts)

/** `script`: the lines after the directive can contain any text. Null: logrotate has no such directive. */
function directiveKind(name: string): 'script' | 'amount' | 'words' | null {
  if (!known.has(name)) return null
  if (ofScripts.has(name)) return 'script'
  return ofAmounts.has(name) ? 'amount' : 'words'
}
