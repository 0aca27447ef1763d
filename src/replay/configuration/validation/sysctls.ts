/**
 * Sysctls that every pod gets.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration, isValidSysctlName;
 *               component-helpers/node/util/sysctl  GetNamespace, NormalizeName
 * Read at       1.37, the first minor with the field
 */
import { goQuote } from '#base/go/go-text.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/kubelet.ts'

const segment = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?'
const nameForm = new RegExp(`^(?:${segment}[./])*${segment}$`)
const longestName = 253

const namespaced = [
  'kernel.domainname',
  'kernel.msg',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.sem',
  'kernel.shm',
  'kernel.shm_rmid_forced',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
]
const namespacedPrefixes = ['net.', 'fs.mqueue.', 'user.']

export function* sysctlErrors(
  { defaultPodSysctls }: LoadedConfiguration,
  { isGateOn }: Kubelet,
): Iterable<string> {
  const names = Object.keys(defaultPodSysctls ?? {})
  if (names.length > 0 && !isGateOn('DefaultPodSysctls')) {
    yield 'DefaultPodSysctls feature gate is required for Kubelet configuration option defaultPodSysctls'
    return
  }
  const seen = new Set<string>()
  for (const name of names) {
    if (name.length > longestName || !nameForm.test(name)) {
      yield `${goQuote(name)} is not a valid sysctl name for defaultPodSysctls`
      continue
    }
    const normalized = normalizedName(name)
    const isNamespaced =
      namespaced.includes(normalized) ||
      namespacedPrefixes.some(prefix => normalized.startsWith(prefix))
    if (!isNamespaced) yield `${goQuote(name)} is not known to be namespaced for defaultPodSysctls`
    if (seen.has(normalized))
      yield `duplicate sysctl ${goQuote(normalized)} found in defaultPodSysctls`
    seen.add(normalized)
  }
}

/** `net/ipv4/conf/eno2.100/rp_filter` is `net.ipv4.conf.eno2/100.rp_filter`. */
const normalizedName = (name: string) =>
  /^[^.]*\//.test(name) ? name.replace(/[./]/g, separator => (separator === '.' ? '/' : '.')) : name
