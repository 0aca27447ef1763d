/** Removes secrets from the parts of a record that no shape can cut. Texts are redacted afterwards (prune.ts). */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { redact } from '#base/redaction/redact.ts'
import { replaceFields, replaceItems } from '#base/redaction/replaced.ts'
import { isSecretKey } from '#base/redaction/secret-names.ts'
import { cutConfig, cutSettings } from '#model/kubelet/settings.ts'
import { withoutLogrotateSecrets } from './logrotate-secrets.ts'

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
function harmlessKernelWords(cmdline: string): string {
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
function withoutArgumentSecrets(commandLine: string[]): string[] {
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

function withoutFileSecrets(file: unknown): unknown {
  if (!isRawObject(file)) return file
  const { role, content } = file
  if (configurationRoles.has(role))
    return { ...file, content: isRawObject(content) ? withoutSecretFields(content) : null }
  if (role !== 'environment') return { ...file, content: null }
  if (typeof content === 'string') {
    const lines = content.split('\n').filter(line => isKept(line.split('=')[0] ?? ''))
    return { ...file, content: lines.join('\n') }
  }
  if (!isRawObject(content)) return { ...file, content: null }
  const kept = Object.entries(content).filter(([name]) => isKept(name))
  return {
    ...file,
    content: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
  }
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

function cutTemplate(template: unknown): unknown {
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
