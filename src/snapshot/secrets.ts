/** What is taken out of the parts that are kept as a whole. */
import { cutConfig, cutSettings } from '#model/kubelet-settings.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { withoutLogrotateSecrets } from './logrotate-secrets.ts'
import {
  harmlessKernelWords,
  isSecretKey,
  withoutTextSecrets,
  withoutUserInfo,
} from './secret-text.ts'

/** The kubelet's own environment files and its unit carry flags; whatever else stands there is nobody's business. */
const variable = /^(?:export\s+)?[A-Z0-9_]+$/
const isKubeletVariable = (name: string) =>
  name === 'ExecStart' || (name.includes('KUBELET') && variable.test(name))

const isKept = (name: string) => isKubeletVariable(name.trim()) && !isSecretKey(name)
/** Roles whose content is a KubeletConfiguration, read by the kubelet or not, or the NodeConfig that a plan wrote; a kubeconfig, or whatever else was put there, stays behind. */
const configurationRoles = new Set<unknown>(['config', 'drop-in', 'ignored', 'nodeadm'])

export function withoutHostSecrets(host: unknown): unknown {
  if (!isRawObject(host)) return host
  const { kubelet, kernel, logLines, logrotate, logrotateRuns, containerd, bottlerocket } = host
  return {
    ...host,
    ...(isRawObject(kubelet) && { kubelet: withoutKubeletSecrets(kubelet) }),
    ...(isRawObject(kernel) &&
      typeof kernel.cmdline === 'string' && {
        kernel: { ...kernel, cmdline: harmlessKernelWords(kernel.cmdline) },
      }),
    ...(Array.isArray(logLines) && {
      logLines: logLines.map(line => withoutTextSecrets(withoutUserInfo(String(line)))),
    }),
    ...(logrotate !== undefined && { logrotate: withoutLogrotateSecrets(logrotate) }),
    ...(isRawObject(logrotateRuns) && { logrotateRuns: withoutRunSecrets(logrotateRuns) }),
    ...(containerd !== undefined && { containerd: withoutAddressSecrets(containerd) }),
    ...(bottlerocket !== undefined && { bottlerocket: withoutAddressSecrets(bottlerocket) }),
  }
}

/** Null says that nothing else starts it, so it stays. */
function withoutRunSecrets({ unsure, ...runs }: RawObject): RawObject {
  if (unsure === null) return { ...runs, unsure }
  return typeof unsure === 'string'
    ? { ...runs, unsure: withoutTextSecrets(withoutUserInfo(unsure)).slice(0, longestDoubt) }
    : runs
}

const longestDoubt = 200

/** Addresses without users, passwords and tokens, at any depth. */
function withoutAddressSecrets(value: unknown): unknown {
  if (typeof value === 'string')
    return value.includes('://') ? withoutTextSecrets(withoutUserInfo(value)) : value
  if (Array.isArray(value)) return value.map(withoutAddressSecrets)
  if (!isRawObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [field, withoutAddressSecrets(inner)]),
  )
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

/** Flags of the kubelet's that are called like a secret and take no second argument. Source: cmd/kubelet/app/options/options.go */
const isSwitch = (flag: string) => flag.replaceAll('_', '-') === 'authentication-token-webhook'

/** A flag and its value may be two arguments, of which the second is the value whatever it begins with. */
function withoutArgumentSecrets(commandLine: string[]): string[] {
  let isHidden = false
  return commandLine.map(argument => {
    const [, flag = '', value] = /^--?([\w-]+)(=.*)?$/s.exec(argument) ?? []
    const hides = isHidden && !/^--[A-Za-z]/.test(argument)
    isHidden = !hides && flag !== '' && value === undefined && isSecretKey(flag) && !isSwitch(flag)
    if (hides) return '(removed)'
    const isSecret = value !== undefined && isSecretKey(flag) && !/^=(true|false)$/.test(value)
    return isSecret
      ? `${argument.slice(0, argument.indexOf('='))}=(removed)`
      : String(withoutAddressSecrets(argument))
  })
}

function withoutFileSecrets(file: unknown): unknown {
  if (!isRawObject(file)) return file
  const { role, content } = file
  if (configurationRoles.has(role))
    return {
      ...file,
      content: isRawObject(content) ? withoutAddressSecrets(withoutSecrets(content)) : null,
    }
  if (role !== 'environment') return { ...file, content: null }
  if (typeof content === 'string') {
    const lines = content.split('\n').filter(line => isKept(line.split('=')[0] ?? ''))
    return { ...file, content: lines.map(withoutFlagSecrets).join('\n') }
  }
  if (!isRawObject(content)) return { ...file, content: null }
  const kept = Object.entries(content).filter(([name]) => isKept(name))
  return {
    ...file,
    content: Object.fromEntries(
      kept.map(([name, value]) => [name, withoutFlagSecrets(String(value))]),
    ),
  }
}

const withoutFlagSecrets = (line: string) => withoutTextSecrets(withoutUserInfo(line))

/** The address that static pods come from, and the header that is sent there, may carry a token; the rest is what objects and containers hide their secrets in. */
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
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isRawObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !secretFields.has(field))
      .map(([field, inner]) => [field, withoutSecrets(inner)]),
  )
}

/** What a template tells the kubelet: null where it tells nothing; absent where it is not known, as where a hand wrote something else there. */
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
 * NodePools and node classes: the kubelet's fields cut as everywhere, and of user data only the settings that were read out of it. Text that stands there,
 * as in a snapshot made by hand, is null: there is some, and what it says is not known.
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

/** An event's message quotes what failed: a command with its arguments, an image with its address. */
export function withoutEventSecrets(event: unknown): unknown {
  if (!isRawObject(event)) return event
  const texts = Object.entries(event).filter(
    ([field, text]) => ['message', 'note'].includes(field) && typeof text === 'string',
  )
  return {
    ...event,
    ...Object.fromEntries(
      texts.map(([field, text]) => [
        field,
        withoutAddressesAndCommands(withoutTextSecrets(String(text))),
      ]),
    ),
  }
}

const withoutAddressesAndCommands = (text: string) =>
  withoutUserInfo(text, '(removed)@').replace(/\b(exec: ?)"(?:[^"\\]|\\.)*"?/g, '$1"(removed)"')
