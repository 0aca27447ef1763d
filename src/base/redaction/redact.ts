/**
 * Redaction of all texts from outside: messages of nodes, pods, events, API servers and AWS, image names, URLs, log lines. `redact` removes possible
 * secrets and keeps the words around them. Each expression takes linear time, because the sender chooses the text.
 */

import { oncePerText } from '#base/once.ts'
import { hasNamedSecret, withoutNamedSecrets } from './named-secrets.ts'
import { withoutPairs } from './paired-secrets.ts'
import { replaceFields, replaceItems } from './replaced.ts'
import { isSecretKey } from './secret-names.ts'
import { isMixed, removed } from './secret-values.ts'
import { joinPatterns, withoutPiped, withoutProgramSecrets } from './stated-secrets.ts'
import { visibleText } from './visible-text.ts'

/** Removes possible secrets from a text. A second call changes nothing. */
export function redact(text: string) {
  if (text.length > longestText) return redact(wholeWords(text, longestText))
  if (isHarmless(text) || isPlainForm(text) || isWidePlain(text)) return text
  const visible = visibleText(text)
  // Commands come first, because their arguments have escaped quotes and line ends.
  const clean = withoutSecretsAtAnyDepth(withoutPiped(withoutCommands(visible)))
  return clean === visible ? text : clean
}

/** Cuts a text only between words: `redact` does not recognise half a secret. A text without white space is one word. */
export function wholeWords(text: string, maxLength: number) {
  if (text.length <= maxLength) return text
  let end = maxLength
  while (end > 0 && !/\s/.test(text.charAt(end))) end -= 1
  return text.slice(0, end === 0 ? maxLength : end)
}

const withoutCommands = (text: string) =>
  text.includes('exec') ? text.replace(execCommand, '$1"(removed)"') : text

const escaped: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '', u0000: ' ' }
const oneEscape = /\\(u0000|[bnrt"'\\])/g
const allEscapes = /\\+(u0000|[bnrt"'])?/g

/**
 * Removes secrets also of a text that was quoted, as klog and JSON do: its line ends, tabs and quotes are escaped. First the inner text is read, once with
 * all escapes undone. A text that would grow stays unescaped.
 */
function withoutSecretsAtAnyDepth(text: string, depth = 0): string {
  if (depth > 1 || !text.includes('\\')) return withoutSecrets(text)
  const inner = text.replace(
    depth === 0 ? oneEscape : allEscapes,
    (_, sign = '\\') => escaped[sign] ?? sign,
  )
  if (inner === text) return withoutSecrets(text)
  const clean = withoutSecretsAtAnyDepth(inner, depth + 1)
  if (clean === inner) return withoutSecrets(text)
  const quoted = JSON.stringify(clean).slice(1, -1)
  return withoutSecrets(quoted.length > 2 * text.length ? clean : quoted)
}

function withoutSecrets(text: string) {
  let clean = withoutCommands(text.includes('-----') ? text.replace(pem, removed) : text)
  if (/:\/\/|[?#]/.test(clean)) clean = clean.replace(/[^\s"'<>]+/g, withoutUrlSecrets)
  if (anyReplacement.test(clean)) {
    clean = clean.replace(webhook, withoutPath)
    for (const [form, instead] of replacements) clean = clean.replace(form, instead)
  }
  clean = clean.replace(authorizationScheme, withoutCredentials)
  if (clean.includes('@')) clean = clean.replace(imageUser, withoutImageUser)
  clean = withoutPiped(withoutPairs(clean))
  // Cells and arguments end with the line, and another secret on several lines can begin in them.
  clean = withoutNamedSecrets(
    // A list that begins in the cell is read as a whole first.
    withoutSecretColumns(clean, cell => cell.includes('[') || hasNamedSecret(cell)),
  )
  clean = withoutSecretColumns(withoutProgramSecrets(clean))
  if (clean.length >= shortestBase64) clean = clean.replace(base64Text, removed)
  if (clean.length >= shortestRandom) clean = clean.replace(longWord, withoutRandom)
  clean = clean.replace(flagValue, withoutRandomValue).replace(lettersAndDigits, withoutPassword)
  return clean.includes(removed) ? clean.replace(continuation, removed) : clean
}

const shortestSecret = 6
/** A longer text is cut: an expression takes up to 0.5 µs for each character. Files of a node have at most 300,000. */
const longestText = 512 * 1024

/** Whether a text has a form that holds no secret: a short word, a quantity, a time, a container id. Most texts of a record do. */
export const isHarmless = (text: string) => text.length < shortestSecret || harmless.test(text)

/** Known secrets that have only letters are longer than 14. A time is RFC 3339, UTC. */
const harmless =
  /^(?:[A-Za-z]{1,14}|\d{1,16}[A-Za-z%]{0,2}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z|containerd:\/\/[0-9a-f]{64})$/

/** Forms of most other texts of a record: a word, a digest, a name or a path, an image. */
const plainForms = [
  /^[A-Za-z]{1,23}$/,
  /^(?:[a-z0-9]{1,16}:(?:\/\/)?)?[0-9a-f]{64}$/,
  /^[a-z0-9./-]{1,253}$/,
  /^[a-z0-9.-]{1,253}(?::\d{1,5})?(?:\/[a-z0-9._-]{1,128}){1,8}(?::[a-z0-9._-]{1,64})?(?:@sha256:[0-9a-f]{64})?$/,
]
/** Names, paths and images with any letters and `_`. They can be tokens of vendors, and random. */
const widePlainForms = [
  /^~?[\w./-]{1,1024}$/,
  /^[a-z0-9.-]{1,253}(?::\d{1,5})?(?:\/[a-z0-9._-]{1,128}){1,8}(?::[\w.-]{1,128})?(?:@sha256:[0-9a-f]{64})?$/,
]
const bootstrapToken = /(?<![\w./@-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w-]|\.\w)/g

const isWithoutTokens = (text: string) =>
  text.search(bootstrapToken) < 0 && text.search(base64Text) < 0

const isPlainForm = (text: string) =>
  plainForms.some(form => form.test(text)) && !tokenStart.test(text) && isWithoutTokens(text)

const isWidePlain = (text: string) =>
  widePlainForms.some(form => form.test(text)) &&
  !anyReplacement.test(text) &&
  text.replace(longWord, withoutRandom) === text &&
  isWithoutTokens(text)

/** A PEM block. A truncated block extends to the end of the text. */
const pem = /-----BEGIN [\s\S]*?(?:-----END [^-]{0,60}-----|$)/g
/** Command of a probe or a hook, which the kubelet quotes with its arguments. A program without arguments stays. */
const execCommand = /\b(exec: ?)"(?![\w./-]{1,100}")(?:[^"\\]|\\[\s\S])*"?/g

/** User and password before a URL's host. They end at the last @, as in Go, even if the password has an unescaped slash. */
const userInfo =
  /:\/\/(?:[^\s/@:[\]]*:(?!\d{1,5}[/?#])(?:(?!:\/\/)\S)*@|[^\s/?#]*@)(?![a-z0-9]{1,16}:[0-9a-f]{32})/g

/** Queries of the requests that a kubelet sends to the API server, and containerd to a registry. */
const harmlessQuery =
  /^(?:(?:^|&)(?:(?:timeout(?:Seconds)?|limit|resourceVersion|watch|allowWatchBookmarks)=(?:\d{1,20}(?:m?s|m)?)|[A-Za-z]{1,32}=(?:true|false)|scope=repository(?::|%3A)(?:[a-z\d._/-]|%2F){1,200}(?::|%3A)pull|service=[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,6}(?::\d{1,5})?)){1,8}[):,\\]{0,4}$/

/** @param word text without white space and quotes */
function withoutUrlSecrets(word: string) {
  const url = word.indexOf('://')
  const clean = url < 0 ? word : word.replace(userInfo, '://')
  const query = clean.search(/[?#]/)
  // Without letters it is an operator.
  if (query < 0 || !/\w/.test(clean.slice(query))) return clean
  const tail = clean.slice(query + 1)
  if (harmlessQuery.test(tail)) return clean
  const isUrl = url >= 0 && url < query
  if (!isUrl && (clean[query] === '#' || !/=|%3d/i.test(tail))) return clean
  // A quoted value follows the word, so the value's name must stay next to it.
  const name = /(?:^|&)([\w.-]{1,64}=)$/.exec(tail.slice(-66))?.[1] ?? ''
  return `${clean.slice(0, query + 1)}${removed}${name === '' ? '' : `&${name}`}`
}

/** Beginnings of tokens. Sources: docs.aws.amazon.com/IAM (identifiers), the vendors' documentation. JSON (JWT, docker config) and PEM begin so in base64. */
const anyPrefixes = String.raw`eyJ|ewog|LS0tLS1C|A(?:KIA|SIA|BIA|CCA)(?=[A-Z\d]{12})|IQoJb3|F[wQ]o(?:GZXIv|DYXdz)`
const prefixes = String.raw`k8s-aws-v1\.|AIza|ya29\.|GOCSPX-|1//0|xox[abeoprs]-|xapp-|hv[bsr]\.|pypi-|dop_v1_|SG\.|rubygems_|r8_|sbp_|nfp_|figd_|gl(?:sa|c)_|sntry[su]_|lin_(?:api|oauth)_|ntn_|pscale_(?:tkn|pw|oauth)_|CCIPAT_|bku[a-z]_|tskey-[a-z]{2,16}-|sq0[a-z]{3}-|dt0c01\.|do[or]_v1_|pul-|sq[pau]_|HRKU-|fo1_|fm\d_|AKCp|dp\.[a-z]{2,8}\.|lsv2_(?:pt|sk)_|PMAK-|AKID|LTAI|pplx-|hcaik_|napi_|FLWSECK-|shippo_(?:live|test)_|rzp_(?:live|test)_|pat-[a-z]{2}\d-|GOOG1E|ATATT3|ATBB|EAA[A-Z]|dapi(?=[\da-f]{12})|shp(?:at|ca|pa|ss)_|hf_(?=[A-Za-z\d]{12})|NR(?:A[AK]|II|JS)-|AGE-SECRET-KEY-|nvapi-|gsk_|p8e-|A3-(?=[A-Z\d]{6}-)|xkeysib-|sgp_|sm_[aps]at_|rdme_|mlsn\.|e2b_|v1\.0-(?=[\da-f]{24}-)|tfp_|fio-u-|duffel_|dnkey-|tk-us-|EZ[AT]K(?=[\da-f]{12})`
/** Words can begin so, too, so the token is longer. */
const wordPrefixes =
  'gh[oprsu]_|github_pat_|npm_|dckr_[po]at_|gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct)-|[prs]k_(?:live|test)_|whsec_|sk-'
const services = String.raw`hooks\.(?:slack(?:-gov)?|zapier)\.com|chat\.googleapis\.com|webhook\.office\.com|api\.telegram\.org|hc-ping\.com|maker\.ifttt\.com/trigger|events\.pagerduty\.com/integration|logic\.azure\.com(?::443)?/workflows|/bot/v2/hook|conda\.anaconda\.org/t`
const tokenStart = new RegExp(
  `${anyPrefixes}|${prefixes}|${wordPrefixes}|(?:${services})/|base64url|-us\\d|8Q~|key-|(?:passwords?|tokens?|otp|invites?)/`,
)
const user = String.raw`(?<![^\s"'])((?:[\w.-]{1,64}=)?)`

/** Secrets with a recognizable form. Sources: k8s.io/cluster-bootstrap/token/api, the vendors' token formats. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(
      `(?:${anyPrefixes}|(?:(?<![A-Za-z0-9])|(?<=%[\\dA-Fa-f]{2}))(?:${prefixes}))[\\w+/=.%~-]{11,}|(?:${wordPrefixes})\\w[\\w.-]{15,}`,
      'g',
    ),
    removed,
  ],
  [bootstrapToken, removed],
  [new RegExp(`(${services})/[^\\s"'<>]+`, 'g'), `$1/${removed}`],
  [
    /(:\/\/[^\s"'<>]{0,300}?\/(?:(?:reset-?)?passwords?|password-reset|tokens?|otp|invites?)\/)(?=[^/\s"'<>]{0,40}\d)[^/\s"'<>?]{7,}/g,
    `$1${removed}`,
  ],
  [/(base64url\.bearer\.authorization\.k8s\.io\.|(?<![^\s"'])\/token\/)[\w.&-]+/g, `$1${removed}`],
  [/(?<![\w-])(?:(?:SK|key-)[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2})(?![\w-])/g, removed],
  [/(?<![\w:])\d{8,10}:[\w-]{35}(?![\w-])/g, removed],
  // Hash of a password, as in /etc/shadow.
  [/\$(?:[1567y]|2[abxy]|apr1|argon2i?d?)\$[\w./$=,+-]{8,}/g, removed],
  [/\{(?:S?SHA(?:256|512)?|PLAIN|CRYPT)\}[^\s"']+/g, removed],
  [/[\w~.]{3}8Q~[\w.~-]{20,}/g, removed],
  // Data sources of Go's MySQL driver and of Oracle: the user and the password.
  [new RegExp(String.raw`${user}[^\s"']+(?=@(?:tcp|udp|unix)6?\()`, 'g'), `$1${removed}`],
  [new RegExp(String.raw`${user}[^\s"':@/]{1,64}:[^\s"']+(?=@/\w)`, 'g'), `$1${removed}`],
  [/(?<![^\s"'])([\w$#]{1,64}\/)[^\s"'@]+(?=@\/\/)/g, `$1${removed}`],
  [
    /(?<![^\s"'])([\w$#]{1,20}\/)[^\s"'@/]{1,48}(?=@(?!v?\d|sha256:|main|master)[\w-])/g,
    `$1${removed}`,
  ],
  [/((?:jdbc|JDBC):(?:oracle|ORACLE):\w{1,16}:)[^\s@]+/g, `$1${removed}`],
  [
    /(--from-(?:literal|env)(?:=|[ \t]+))(?:"[^"]*"?|'[^']*'?|\\[\s\S]|[^\s"'\\])+/g,
    `$1${removed}`,
  ],
  [
    /((?:^|[\s"'[,])(?:-[fgikLsSv]{0,6}u|--user|--proxy-user|--(?:src-|dest-)?creds)(?:=|[ \t]+|["']?,[ \t]*)["']?)(?!\d+:\d+(?:[\s"',]|$))[^\s:"'=]{0,64}:[^\s"']+/g,
    `$1${removed}`,
  ],
  // A token in .netrc.
  [/(\bmachine\s+[\w.:-]+\s+login\s+)\S+/g, `$1${removed}`],
  [/(\blogin\b[^\n]{0,120}\s-p[ \t=]{0,8})[^\s]+/g, `$1${removed}`],
]

/** A webhook of any service. Those of a cluster have no secret in their path, nor has an image of a registry. */
const webhook =
  /(:\/\/(?![^\s/]{1,253}(?:\.svc[:/]|\/v2\/[^\s"'<>]{1,255}\/(?:manifests|blobs|tags)\/))[^\s/"'<>]{1,253}(?:\/[^\s/"'<>]{1,64}){0,4}?\/(?:hook|webhookb?2?)s?)\/[^\s"'<>]+/g
const admission = /^\/[a-z-]{0,40}(?:validat|mutat|admi|conver|default)[a-z-]{0,40}(?:[?:]|$)/
const withoutPath = (url: string, place: string) =>
  admission.test(url.slice(place.length)) ? url : `${place}/${removed}`

/** One test is faster than all forms: most texts have none. */
const anyReplacement = joinPatterns([webhook, ...replacements.map(([form]) => form)])

/** User and password before the @ of a registry without a scheme. A digest after the @ does not match. */
const imageUser =
  /(?<![^\s/@"'])(?!mailto:|sip:|acct:)[^\s/@"']+@(?![a-z0-9]{1,16}:[0-9a-f]{32})(?=[\w-]{1,63}(?:[.:/][\w:/]|[\s"',;)]|$))/g

/** Removes user and password. The user begins the word or follows a sign. */
function withoutImageUser(segment: string, at: number, text: string) {
  const isPathEnd =
    /[/@]/.test(text[at - 1] ?? '') &&
    !/(?:^|[\s"'=(])\/\/$/.test(text.slice(Math.max(0, at - 3), at))
  const user = (isPathEnd ? /[=,(<][^=,(<:]+:/ : /(?:^|[=,(<])[^=,(<:]+:/).exec(segment)
  if (!user || user.index + user[0].length > segment.length - 2) return segment
  return segment.slice(0, user.index + (/^[=,(<]/.test(user[0]) ? 1 : 0))
}

const authorizationScheme =
  /\b(bearer|basic|negotiate|digest|ntlm|apikey|aws4-hmac-sha256)((?:[ \t]{1,8}["'<]?|%20|\+))((?!sha256:|\\)(?:[^\s",;]|[,;](?![\s"]|$))+)/gi

/** A header before a scheme. */
const inHeader = /authorization\b(?! failed)[^\n]{0,40}$/i

/** Removes credentials, but leaves sentences such as "bearer token is missing" unchanged. */
function withoutCredentials(
  text: string,
  scheme: string,
  sign: string,
  value: string,
  at: number,
  whole: string,
) {
  const isInHeader = scheme === 'Basic' && inHeader.test(whole.slice(Math.max(0, at - 60), at))
  const isKnown = isInHeader || /^(?:bearer|aws4)/i.test(scheme)
  const isWord = isKnown
    ? /^(?:(?:tokens?|auth|authentication|authorization|credentials?|scheme|is|was|not|and|or|for)[.:)]*$|realm=)/i.test(
        value,
      )
    : /^[a-z.:)(-]+$/.test(value) && value !== removed
  if (isWord || value.includes('@sha256:')) return text
  return `${/^bearer/i.test(scheme) ? 'Bearer' : scheme} ${sign.trim().replace(/^[%+].*/, '')}${removed}`
}

/** Text in base64: each group of four characters has three printable ASCII characters. Text in hexadecimal: each pair of digits is one. A name or a digest has no such groups in a row. */
const shortestBase64 = 12
const base64Group = '[I-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/]'
const base64Text = new RegExp(
  String.raw`(?<![\w@]|sha256:)(?:[2-6][\da-fA-F]|7[\da-eA-E]){12,}(?!\w)|(?<![\w+/=-])(?:(?:${base64Group}){4,}[A-Za-z0-9+/]*={0,2}|(?:${base64Group}){2,3}[A-Za-z0-9+/]{2,3}={1,2})(?![\w"'])`,
  'g',
)

/** A word long enough to be base64 or other random text. Unlike names, paths and digests, random text mixes upper case, lower case and digits. */
const longWord = /[A-Za-z0-9+/_=-]{24,}/g
const shortestRandom = 24
const awsSecretLength = 40

function withoutRandom(word: string) {
  const isAwsSecret = word.length === awsSecretLength && /^[A-Za-z0-9+/]+$/.test(word)
  if (isAwsSecret && randomness(word) > 0.38) return removed
  let at = 0
  for (const part of word.split(/[/-]/)) {
    if (part.length >= shortestRandom && randomness(part) > 0.42)
      return `${word.slice(0, at)}${removed}`
    at += part.length + 1
  }
  return word
}

/** The value of any flag, or of a command such as `login`, also behind a user. */
const flagValue =
  /((?:(?:^|[\s"'[,])(?:--?|\/)[A-Za-z][\w-]{0,40}|\b(?:login|unlock|unseal|auth|install|keygen|encrypt_string))(?:[ \t=:]|["'],[ \t]{0,4})["']?(?:[\w.@-]{1,64}:)?)([\w!#$%&*+,;@^~-]{10,64})(?=["'\s,\]]|$)/g
const withoutRandomValue = (all: string, before: string, value: string) =>
  randomness(value) > 0.4 ? `${before}${removed}` : all

const classChange = /(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[^A-Za-z])[A-Za-z]/g

/** Share of neighbouring characters of different classes (upper case, lower case, digit). 0: a class is missing. */
const randomness = (word: string) =>
  isMixed(word) ? (word.match(classChange)?.length ?? 0) / word.length : 0

/** A word like a password, which names of Kubernetes and times are not: it mixes upper case, lower case and digits. */
const lettersAndDigits = /(?<![\w.@$%/-])(?=[^\s"'\d]{0,24}\d)[\w!#$&*+,;^~?]{8,64}(?![\w./:-])/g
const credential =
  /pas{1,2}w|passphrase|\bpass\b|secret|token|credential|plaintext|\bauth(?:enticat\w+)?\b|log(?:ged[ _-]?)?in\b|sign-?in\b|jwt|hmac|fernet|cipher/i
/** Names of protocols and of types, which have digits between letters. */
const technicalTerm =
  /OAuth\d|IPv?\d|SHA\d+|X\.?509|Base\d+|EC2|S3|(?:^|[a-z_])[vV]\d(?:(?:alpha|beta)\d)?|HTTP2|UTF8|K8s|E2E|[HRE]S(?:256|384|512)|AES\d+|Ed25519|I[a-z]?8n/gi

function withoutPassword(word: string, at: number, whole: string) {
  if (!isMixed(word.replace(technicalTerm, ''))) return word
  const before = whole.slice(Math.max(0, at - 120), at)
  return credential.test(before) && !/\/[\w.-]*:$/.test(before) ? removed : word
}

/** A secret that is folded over lines. */
const continuation =
  /\(removed\)(?:[ \t]*\\?\r?\n[ \t]*(?:[\w+/=.-]{16,}|(?<=[ \t])(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])[^\s"']{6,}|\(removed\))(?=[ \t]*(?:\r?\n|$)|["']))+/g

/** Fields that are not redacted: names by which records are joined, and the cluster's public CA certificate. */
const identifiers = new Set(
  `name namespace uid generateName nodeName claimName volumeName nodegroupName clusterName schema
   kind apiVersion cluster podSandboxId sha256 certificateAuthority`.split(/\s+/),
)
/** Labels with a name like a secret's and with harmless values. Source: EKS hybrid nodes, `ssm` or `iam-ra`. */
const wordLabels = new Set(['eks.amazonaws.com/hybrid-credential-provider'])
/** Fields that hold maps with names chosen by users. */
const namedTexts = new Set(['labels', 'matchLabels', 'tags'])

export const isIdentifier = (field: string) => identifiers.has(field)
export const isNamedTexts = (field: string | null) => field !== null && namedTexts.has(field)

interface Clean {
  clean: string
  /** In characters of messages. 0: the text is plain. */
  cost: number
}

/** A name with any letters takes a tenth of the time of a message. */
const wideShare = 1 / 8

function cleanOf(text: string): Clean {
  if (isPlainForm(text)) return { clean: text, cost: 0 }
  if (isWidePlain(text)) return { clean: text, cost: text.length * wideShare }
  return { clean: redact(text), cost: text.length }
}

const isPlainWithin = (text: string, left: number) =>
  isPlainForm(text) || (left >= text.length * wideShare && isWidePlain(text))

const redactKnown = oncePerText(cleanOf)

/** Longer texts are messages for people. Names, images and labels are facts. */
const longestFact = 256

export interface BudgetOptions {
  /** A longer text is shortened, so that a few long ones do not cost the others. */
  longest?: number
  /** Messages leave a quarter of the budget for facts. */
  keepsFacts?: boolean
}

/**
 * Redacts the texts of one answer or record. Redaction takes up to 1 µs for each character and blocks the thread: when the budget is spent,
 * each further text that can hold a secret is removed. Equal texts count once, and names, paths and digests count an eighth or nothing.
 */
export class RedactionBudget {
  #charactersLeft: number
  readonly #longest: number
  readonly #reserve: number
  readonly #known = new Map<string, string>()
  /** A text was removed that is no message. */
  hasLostFacts = false
  hasLostMessages = false

  constructor(
    characters: number,
    { longest = characters, keepsFacts = false }: BudgetOptions = {},
  ) {
    this.#charactersLeft = characters
    this.#longest = longest
    this.#reserve = keepsFacts ? characters / 4 : 0
  }

  readonly redact = (text: string): string => this.#redacted(text, cleanOf)

  /** With a cache for repeated texts. @param text not a slice of a longer text, which the cache would keep in memory */
  readonly redactOnce = (text: string): string => this.#redacted(text, redactKnown)

  #redacted(text: string, compute: (text: string) => Clean): string {
    if (isHarmless(text)) return text
    const known = this.#known.get(text)
    if (known !== undefined) return known
    if (text.length > this.#longest) return this.#redacted(wholeWords(text, this.#longest), compute)
    const isMessage = text.length > longestFact
    const left = this.#charactersLeft - (isMessage ? this.#reserve : 0)
    if (left < text.length && !isPlainWithin(text, left)) return this.#withoutText(isMessage)
    const { cost, clean } = compute(text)
    if (cost === 0) return text
    this.#charactersLeft -= cost
    this.#known.set(text, clean)
    this.#known.set(clean, clean)
    return clean
  }

  #withoutText(isMessage: boolean) {
    if (isMessage) this.hasLostMessages = true
    else this.hasLostFacts = true
    return removed
  }
}

const isSecretName = oncePerText(isSecretKey)

/**
 * Redacts all texts in a value, at any depth, except identifiers. A value without secrets is returned unchanged.
 * @param clean of a budget; `redactOnce` for parsed JSON, whose texts are no slices
 */
export function redactTexts(value: unknown, field = '', clean = redact): unknown {
  if (identifiers.has(field)) return value
  if (typeof value === 'string') return clean(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return replaceItems(value, item => redactTexts(item, field, clean))
  const isNamed = namedTexts.has(field)
  return replaceFields(value, (inner, name) => {
    const isSecret = isNamed && isSecretName(name) && !wordLabels.has(name)
    return isSecret && typeof inner === 'string'
      ? removed
      : redactTexts(inner, isNamed ? 'value' : name, clean)
  })
}

/* Removes the cells of a table below a head such as `password`: cells between bars, commas, tabs or two spaces. */

const separators = [/(\|)/, /(,)/, /(;)/, /(\t| {2,})/]
const head = /^[ \t]*(?:[A-Za-z][\w -]{0,40}[ \t]*)?$/
const isSecretHead = (cell: string) =>
  head.test(cell) && isSecretKey(cell.trim()) && !/^key$/i.test(cell.trim())
/** Empty cells, and the line below the heads. */
const hasValue = (cell: string) => /[^-: \t\r]/.test(cell)

interface Table {
  separator: RegExp
  /** Indexes of secret columns. Separators count, too. */
  columns: number[]
  /** Number of cells of the head. */
  length: number
}

/** Linear in the length of the text. @param isKept cells that stay */
function withoutSecretColumns(text: string, isKept: (cell: string) => boolean = () => false) {
  if (!text.includes('\n')) return text
  let table: Table | null = null
  const lines = text.split('\n').map(line => {
    const heads = tableBelow(line)
    const cells = table ? line.split(table.separator) : []
    // A row can look like the head of another table.
    const clean = !table || cells.length === 1 ? line : withoutCells(cells, table, isKept)
    table = heads ?? (cells.length > 1 ? table : null)
    return clean
  })
  return lines.join('\n')
}

function tableBelow(line: string): Table | null {
  if (!/[|,;\t]| {2}/.test(line)) return null
  for (const separator of separators) {
    const cells = line.split(separator)
    // A message, also a row of another table, can stand before the first head.
    const last = cells.findLastIndex((cell, index) => index % 2 === 0 && !head.test(cell))
    const columns = cells.flatMap((cell, index) =>
      index > last && isSecretHead(cell) ? [index] : [],
    )
    if (cells.length > 1 && columns.length > 0) return { separator, columns, length: cells.length }
  }
  return null
}

/** A message before the head can have separators, so columns are counted from both ends. */
const withoutCells = (
  cells: string[],
  { columns, length }: Table,
  isKept: (cell: string) => boolean,
) =>
  cells
    .map((cell, at) => {
      const isSecret = columns.includes(at) || columns.includes(at + length - cells.length)
      return isSecret && hasValue(cell) && !isKept(cell) ? removed : cell
    })
    .join('')
