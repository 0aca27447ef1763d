/** Secrets within free text, by the words before them: as the inspect scripts take them out (answer.sh), for what was written by hand. */
import { isSecretName } from '#model/kubelet-settings.ts'

const removed = '(removed)'
const words = /[-\w.]+/g
const secretWord =
  /token|passw|secret|credential|authorization|key|auth|pass|pwd|signature|manifest[-_]?url/i
const lastWord = /(?<![\w-])[\w-]+$/
const isPlace = (name: string) =>
  /(file|path|dir|ttl|mode|refresh)$/i.test(name) || /rotate/i.test(lastWord.exec(name)?.[0] ?? '')
/** Static pods may come from an address with a token in it, or by a header with one. Source: cmd/kubelet/app/options/options.go AddKubeletConfigFlags */
const isStaticPodSource = (name: string) => /manifest[-_]?url([-_]?header)?$/i.test(name)

/** A path or a file is no secret: `--token-auth-file=…` stays. */
export const isSecretKey = (name: string) =>
  (isSecretName(name) ||
    /passw|key$|signature$|(^|[-_.])(auth|pass|pwd)$/i.test(name) ||
    isStaticPodSource(name)) &&
  !isPlace(name)

/** What stands before the host of an address. Go takes the last @ of the authority; a password that a slash is left in ends there, too. */
const userInfo = /:\/\/(?:[^\s/@:[\]"']*:(?!\d{1,5}[/?#])(?:(?!:\/\/)[^\s"'])*@|[^\s/?#"']*@)/g

/** @param instead what then stands before the host */
export const withoutUserInfo = (text: string, instead = '') =>
  text.replace(userInfo, `://${instead}`)

/** Source: k8s.io/cluster-bootstrap/token/api BootstrapTokenPattern */
const bootstrapToken = /(?<![\w./@-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w-]|\.\w)/g
const privateKey = /-----BEGIN[A-Z0-9 ]*PRIVATE KEY.*/gs

/** `--token=…` keeps its name and loses its value, as do `password: "…"` and `Authorization: Basic …`. */
export function withoutTextSecrets(text: string): string {
  const clean = text
    .replace(privateKey, removed)
    .replace(/bearer +[^ "]+/gi, 'Bearer (removed)')
    .replace(bootstrapToken, removed)
  let out = ''
  let at = 0
  for (const found of clean.matchAll(words)) {
    if (found.index < at || !secretWord.test(found[0])) continue
    const [name] = found
    const end = found.index + name.length
    const before = clean[found.index - 1] ?? ''
    const between =
      isSecretKey(name) && !isLabel(name, before) ? betweenOf(name, clean.slice(end)) : null
    if (between === null) continue
    const rest = clean.slice(end + between.length)
    const quote = /^\\*["']/.test(between) || !/["']/.test(before) ? '' : before
    const length = valueLength(rest, name, quote)
    if (length === 0 || /^(true|false)$/.test(rest.slice(0, length))) continue
    out += `${clean.slice(at, end)}${between}${removed}`
    at = end + between.length + length
  }
  return out + clean.slice(at)
}

/** A label or a taint may well be called a key. */
const isLabel = (name: string, before: string) =>
  !/token|pass|secret|credential|auth|private|api|access|pwd|signature|manifest/i.test(name) &&
  /[=,/:]/.test(before)

function betweenOf(name: string, rest: string): string | null {
  const [sign] = /^\\*["']?(?:[ \t]*:[ \t]*|=|[ \t]+=[ \t]*)/.exec(rest) ?? []
  if (sign !== undefined) return sign
  const [space] = (/^--?[A-Za-z0-9]/.test(name) && /^["']?[ \t]+(?!["']?-)/.exec(rest)) || []
  return space ?? null
}

function valueLength(rest: string, name: string, before: string): number {
  if (rest.startsWith(removed)) return removed.length
  const [quote] = /^\\*["']/.exec(rest) ?? []
  if (quote !== undefined) return quotedLength(rest, quote)
  if (/authorization/i.test(name) || /^[[{]/.test(rest)) return rest.length
  // A header's value may have spaces; the next flag is none of it.
  if (isStaticPodSource(name)) {
    const flagAt = rest.search(/(?<![ \t])[ \t]+["']?--?[A-Za-z]/)
    return flagAt < 0 ? rest.replace(/["']$/, '').length : flagAt
  }
  const [scheme = ''] = /^(basic|bearer|digest|negotiate)[ \t]+/i.exec(rest) ?? []
  if (scheme !== '') return scheme.length + wordLength(rest.slice(scheme.length))
  const word = rest.slice(0, wordLength(rest))
  if (/["']$/.test(word)) return word.length - 1
  let length = word.length
  // In quotes a value may have spaces; the next flag is none of it.
  while (before !== '') {
    const [more] = /^[ \t]+[^- \t"'][^ \t]*/.exec(rest.slice(length)) ?? []
    if (more === undefined) break
    length += more.length
    if (more.endsWith(before)) return length - 1
  }
  return length
}

const wordLength = (rest: string) => /^(?:\\.|[^ \t\\])*/.exec(rest)?.[0].length ?? 0

function quotedLength(rest: string, quote: string): number {
  let end = rest.indexOf(quote, quote.length)
  while (end > 0 && quote.length === 1 && rest[end - 1] === '\\') end = rest.indexOf(quote, end + 1)
  if (end < 0) return rest.length
  const after = /^[A-Za-z0-9_$][^ \t]*/.exec(rest.slice(end + quote.length))?.[0] ?? ''
  return end + quote.length + after.length
}

const harmless =
  /^(BOOT_IMAGE|root|rootfstype|ro|rw|quiet|console|cgroup[._][a-z0-9_.]+|cgroup|swapaccount|psi|systemd\.unified_cgroup_hierarchy|systemd\.legacy_systemd_cgroup_controller|net\.ifnames|biosdevname|nvme_core\.io_timeout|selinux|enforcing|security|mitigations|transparent_hugepage|hugepages|hugepagesz|crashkernel|panic)(=[A-Za-z0-9_.,:/()=+-]*)?$/

/** Of the kernel's parameters only those that are known to hold nothing but settings; what follows `--` is for init. */
export function harmlessKernelWords(cmdline: string): string {
  const words = cmdline.replace(/"[^"]*"?/g, '"').split(/\s+/)
  const end = words.indexOf('--')
  return (end < 0 ? words : words.slice(0, end)).filter(word => harmless.test(word)).join(' ')
}
