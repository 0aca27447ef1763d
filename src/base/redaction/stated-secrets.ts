/** Removes secrets that a text states in words (`the password is …`) or passes to a program (`mysql -p…`). Each expression takes linear time. */
import { removed } from './named-secrets.ts'

/** Removes what a program gets as an argument. Often it is the rest of the line. */
export function withoutProgramSecrets(text: string): string {
  let clean = text
  if (text.includes('<<<')) clean = clean.replace(hereString, `$1${removed}`)
  if (anyProgram.test(clean))
    for (const form of programs) clean = clean.replace(form, `$1${removed}`)
  return clean
}

/** Removes what prose states. */
export function withoutStatedSecrets(text: string): string {
  if (!anyName.test(text)) return text
  return text
    .replace(commands, withoutBareValue)
    .replace(stated, withoutValue)
    .replace(changed, withoutValue)
    .replace(prompted, withoutValue)
    .replace(lone, withoutValue)
    .replace(bracketed, withoutValue)
    .replace(login, withoutValue)
    .replace(usedAs, withoutValue)
    .replace(quoted, withoutValue)
    .replace(bare, withoutBareValue)
    .replace(stating, withoutBareValue)
}

/** Matches at least where one of the forms does: a flag of one of them, such as `i`, counts for all. */
export const anyOf = (forms: readonly RegExp[]): RegExp => {
  const flags = new Set(forms.flatMap(form => [...form.flags]))
  flags.delete('g')
  return new RegExp(forms.map(({ source }) => source).join('|'), [...flags].join(''))
}

const shortestStated = 3
const shortestBare = 6
const passwordName = 'passw(?:or)?ds?|passphrase|passcode|pwd'
const keyName =
  '(?:api|access|private|license|encryption|master|signing|shared|subscription|hmac)[ _-]?key|client[ _-]?secret'
/** Names of two words, and short ones. */
const codeName =
  'pass[ -](?:phrase|word|code|key)|(?:recovery|backup|one[ -]time|verification|unlock|security|otp|activation|[2m]fa)[ -]code|seed[ -]phrase|session[ -]id|secret[ -](?:word|value|phrase)|otp|pin|pw|psk'

/** A word of a command line. A quote that ends the word of a list is not part of it. */
const word = String.raw`(?:"(?![,\])}\s]|$)[^"\n]*"?|'(?![,\])}\s]|$)[^'\n]*'?|\\.|[^\s"'\\])`
const passwordReader =
  /stdin|passphrase-fd|\b(?:chpasswd|kinit|sudo|cryptsetup|gh auth|vault login|secret create|create secret|base64|mkpasswd|openssl passwd)\b/
const printed = /\b(?:echo|printf)[ \t]+/

/** Removes what a pipe gives to a program that reads a password from it. */
export function withoutPiped(text: string): string {
  if (!text.includes('|')) return text
  const parts = text.split('|')
  const clean = parts.map((part, index) => {
    const line = part.lastIndexOf('\n') + 1
    const command = printed.exec(part.slice(line))
    const [reader = ''] = parts[index + 1]?.split('\n', 1) ?? []
    if (command === null || !passwordReader.test(reader)) return part
    return `${part.slice(0, line + command.index + command[0].length)}${removed} `
  })
  return clean.join('|')
}

const hereString = new RegExp(`((?<!<)<<<[ \\t]*)${word}+`, 'g')
/** A program with or without a path, also in a list of quoted words. `mysql-0` and `mysql:8` do not match. */
const programForm = (names: string) => String.raw`(?<![\w.-])(?:${names})(?=["'\s])`
/** A flag at most 200 characters after the program. */
const flagForm = (flag: string) => String.raw`[^\n]{0,200}?[\s"',]-${flag}`
const separator = String.raw`["']?[ \t,=]{0,8}["']?`
/** The arguments up to the end of the command. */
const rest = String.raw`[^\n;|&]+`

/** Programs, what stands between their name and a secret, and how far the secret extends if not to the end of its word. */
const calls: readonly [names: string, between: string, secret?: string][] = [
  // These programs take the value joined to the flag. -P is a port.
  ['mysql[a-z]{0,16}|mariadb[a-z-]{0,16}|7z[ar]?|(?:un)?rar', flagForm('(?:h?p)')],
  ['mysqladmin', String.raw`[^\n]{0,200}?\spassword[ \t]+`],
  [
    'sshpass|mongo[a-z]{0,16}|user(?:add|mod)|cqlsh|twine|rdesktop|beeline|cypher-shell|smbmap|psexec|rabbitmqadmin',
    flagForm('p') + separator,
  ],
  ['doctl|rancher|codecov', flagForm('t') + separator],
  ['dotnet', String.raw`[ \t]+nuget[ \t]+push[^\n]{0,200}?\s-k[ \t=]+`],
  ['lftp', `${flagForm('u')}${separator}[^\\s,]{1,64},`],
  ['SETUSER|setuser', String.raw`[ \t]+\S{1,64}(?:[ \t]+[^\s>]{1,64}){0,4}[ \t]+>`],
  ['redis-cli', flagForm('a') + separator],
  ['redis-cli', String.raw`[^\n]{0,200}?\s(?:AUTH|auth)[ \t]+`, rest],
  ['ldap[a-z]{1,16}', flagForm('w') + separator],
  ['ldappasswd', flagForm('[as]') + separator],
  ['sqlcmd|bcp|osql|tsql|zip|unzip|ipmitool|mosquitto_[a-z]{3}', flagForm('P') + separator],
  ['snmp[a-z]{1,16}', flagForm('[cA]') + separator],
  ['snmp[a-z]{1,16}', flagForm('X') + separator],
  ['ssh-keygen', flagForm('N') + separator],
  ['openssl', flagForm('k') + separator],
  ['openssl', String.raw`[ \t]+passwd[ \t]+(?:-[a-z\d]{1,10}[ \t]+)?`, rest],
  ['curl', `${flagForm('u')}${separator}[^\\s:"'=]{1,64}:`],
  ['curl', String.raw`${flagForm('b')}[ \t]{0,4}["']?[\w.-]{1,64}=`],
  ['https?|ab', `${flagForm('[aA]')}${separator}[^\\s:"'=]{1,64}:`],
  ['smbclient|rpcclient|net', String.raw`${flagForm('U')}${separator}[^\s%]{1,64}%`],
  ['xfreerdp|wfreerdp', String.raw`[^\n]{0,200}?\s/p:`],
  ['schtasks', String.raw`[^\n]{0,200}?\s/rp[ \t]+`],
  ['sqlplus|sqlldr|expdp|impdp', String.raw`(?:[ \t]+-\S{1,8})?[ \t]+[\w$#]{1,64}/`],
  ['vault', String.raw`[ \t]+login[ \t]+(?:-\S{1,64}[ \t]+)?(?!-)`],
  ['vault', String.raw`[ \t]+operator[ \t]+unseal[ \t]+(?:-\S{1,64}[ \t]+)?(?!-)`],
  ['vault', String.raw`[ \t]+(?:write|kv[ \t]+(?:put|patch))[ \t]+\S{1,200}[ \t]+`, rest],
  ['rabbitmqctl', String.raw`[^\n]{0,60}?\s(?:add_user|change_password)[ \t]+\S{1,64}[ \t]+`],
  ['db2', String.raw`[^\n]{0,100}?\suser[ \t]+\S{1,64}[ \t]+using[ \t]+`],
  ['net', String.raw`[ \t]+user[ \t]+\S{1,64}[ \t]+(?!/)`],
  ['net', String.raw`[ \t]+use[ \t]+(?:[^\s\\]{1,64}[ \t]+)?\S{1,200}[ \t]+(?!/)`],
  ['cmdkey', String.raw`[^\n]{0,200}?\s/pass:`],
  ['caddy', String.raw`[^\n]{0,60}?\s--plaintext[ \t=]+`],
  ['wpa_passphrase', String.raw`[ \t]+\S{1,64}[ \t]+`],
  ['nmcli', String.raw`[^\n]{0,200}?\spassword[ \t]+`],
  ['iw(?:config)?', String.raw`[^\n]{0,100}?\skey[ \t]+(?:s:)?`],
  ['consul|etcdctl', String.raw`[^\n]{0,100}?\sput[ \t]+\S{1,200}[ \t]+`],
  ['(?:grafana-cli|grafana cli)', String.raw`[^\n]{0,100}?\sreset-admin-password[ \t]+`],
  ['pdftk', String.raw`[^\n]{0,200}?\s(?:user|owner|input)_pw[ \t]+`],
  ['qpdf', String.raw`[^\n]{0,100}?\s--encrypt[ \t]+`, String.raw`[^\s(]\S*(?:[ \t]+[^\s-]\S*)?`],
  ['mosquitto_passwd', String.raw`[^\n]{0,100}?\s-[A-Za-z]{0,4}b[A-Za-z]{0,4}[ \t]+`, rest],
  ['mkpasswd', String.raw`[ \t]+(?:-m[ \t]+\S{1,32}[ \t]+)?(?!-)`],
  ['rclone', String.raw`[ \t]+obscure[ \t]+`],
  ['rclone', String.raw`[ \t]+config[ \t]+(?:create|update|password)[ \t]+\S{1,64}[ \t]+`, rest],
  ['nuget', String.raw`[ \t]+setApiKey[ \t]+`],
  ['snyk', String.raw`[ \t]+auth[ \t]+(?!-)`],
  ['fly(?:ctl)?|heroku', String.raw`[ \t]+(?:secrets|config)[: \t]set[ \t]+`, rest],
  ['az', String.raw`[ \t]+keyvault[ \t]+secret[ \t]+set[^\n]{0,200}?\s--value[ \t=]+`],
  ['npm', String.raw`[ \t]+config[ \t]+set[ \t]+_?auth\w{0,16}[ \t]+`],
  ['sonar-scanner|mvn|gradle', String.raw`[^\n]{0,200}?\s-Dsonar\.login=`],
  // A variable of a shell, of a web server and of a Dockerfile.
  [
    String.raw`setenv|SetEnv|ENV|fastcgi_param|proxy_set_header|set[ \t]+-[a-zA-Z]{1,3}|printf[ \t]+-v`,
    String.raw`[ \t]+[\w-]{0,64}(?:[Pp]assw|PASSW|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Kk]ey|KEY|[Aa]uthorization|PWD)[\w-]{0,64}[ \t]+(?:["']%s["'][ \t]+)?`,
  ],
  ['ConvertTo-SecureString', String.raw`[ \t]+(?:-String[ \t]+)?`],
  ['ngrok', String.raw`[ \t]+(?:config[ \t]+add-)?authtoken[ \t]+`],
  ['cargo', String.raw`[ \t]+login[ \t]+(?!-)`],
  ['pulumi', String.raw`[ \t]+config[ \t]+set[^\n]{0,60}?\s--secret[ \t]+\S{1,64}[ \t]+`],
  ['gcloud', String.raw`[^\n]{0,60}?\sactivate-refresh-token[ \t]+\S{1,64}[ \t]+`],
  ['composer|poetry', String.raw`[^\n]{0,60}?\shttp-basic\S{1,100}[ \t]+\S{1,64}[ \t]+`],
  ['mc', String.raw`[ \t]+alias[ \t]+set[ \t]+\S{1,64}[ \t]+\S{1,200}[ \t]+`, rest],
  ['gh', String.raw`[ \t]+secret[ \t]+set[^\n]{0,60}?\s(?:-b|--body)[ \t=]+`],
  ['aws', String.raw`[^\n]{0,60}?\sput-parameter[^\n]{0,200}?\s--value[ \t=]+`],
  ['aws', String.raw`[^\n]{0,60}? configure set \S{0,64}(?:key|token)[ \t]+`],
  ['htpasswd', String.raw`[^\n]{0,100}?\s-[A-Za-z]{0,8}b[A-Za-z]{0,8}[ \t]+`, rest],
  // Directives of redis.conf, slapd.conf, ldap.conf, .npmrc and network devices.
  [
    'requirepass|masterauth|(?:root|bind)pw|:_(?:authToken|auth|password)|wpa-psk|pre-shared-key|authentication-key|key-string|AuthUserPass|SecretKeyBase',
    '[ \\t]+',
  ],
  ['snmp-server', String.raw`[ \t]+community[ \t]+`],
  ['(?:tacacs|radius)-server', String.raw`[^\n]{0,100}?\skey[ \t]+(?:\d[ \t]+)?`],
  ['username|enable', String.raw`[^\n]{0,80}?\s(?:secret|password)[ \t]+\d[ \t]+`],
  ['username', String.raw`[ \t]+[\w.@-]{1,64}(?:[ \t]+privilege[ \t]+\d{1,2})?[ \t]+secret[ \t]+`],
  ['user', String.raw`[ \t]+[\w.-]{1,64}(?:[ \t]+(?:on|off|reset|[~&+-]\S{0,64})){0,6}[ \t]+>`],
  ['user', String.raw`[ \t]+[\w.@-]{1,64}[ \t]+insecure-password[ \t]+`],
  ['(?:CONNECT|conn(?:ect)?)', String.raw`[ \t]+[\w$#]{1,64}/(?=[^\s@]{1,64}@)`],
]

const programs = [
  ...calls.map(
    ([names, between, secret = `${word}+`]) => `(${programForm(names)}${between})${secret}`,
  ),
  String.raw`(\b[Ii](?:dentified|DENTIFIED)[ \t]+(?:(?:with|WITH)[ \t]+\S{1,64}[ \t]+)?(?:by|BY)[ \t]+(?:password|PASSWORD|values|VALUES)?[ \t]*)${word}+`,
  String.raw`(\b(?:set|SET)[ \t]+(?:password|PASSWORD)[ \t]+(?:for|FOR)[ \t]+[^\s=]{1,128}[ \t]*=[ \t]*(?:(?:password|PASSWORD)\()?)${word}+`,
  String.raw`(\b(?:Unseal|Recovery) Key \d{1,2}:[ \t]+)${word}+`,
  // User and password are arguments of their own.
  ...[
    [
      String.raw`getConnection|PlainAuth|(?:new[ \t]+)?(?:PDO|mysqli)(?:->__construct)?|mysqli?_p?connect`,
      2,
    ],
    [
      String.raw`\.auth|\.login|[bB]asicAuth|NetworkCredential|PasswordAuthentication|UsernamePasswordCredentials|pgp_sym_(?:en|de)crypt(?:_bytea)?`,
      1,
    ],
  ].map(
    ([names, before]) =>
      String.raw`((?:${names})\((?:[ \t]{0,8}(?:"[^"\n]{0,256}"|'[^'\n]{0,256}'|\(removed\)|[\w.]{1,64})[ \t]{0,8},){${before}}[ \t]{0,8})(?:"[^"\n]*"?|'[^'\n]*'?)`,
  ),
  String.raw`(<\((?:echo|printf)[ \t]+)${word}+`,
  String.raw`(:pserver:[\w.-]{1,64}:)[^\s@]+`,
  // A line of .pgpass: host, port, database, user, password. An address of IPv6 does not match.
  String.raw`((?<![\w.:/-])(?!(?:[\da-f]{0,4}:){4})(?:\*|[A-Za-z\d][\w.-]{0,253}):(?:\d{4,5}|\*):(?!\d{1,9}:)[\w.*-]{1,64}:[\w.*-]{1,64}:)(?=\S)${word}+`,
  String.raw`(chpasswd[^\n]{0,100}<<[^\n<]{1,40}\n)[\s\S]{1,4000}`,
  String.raw`(\bSECRET[ \t]+)'[^'\n]*'?`,
  // A password after -p in a list. A port, a path and an option do not match.
  String.raw`((?<!mkdir["'],[ \t]?)["']-p["'],[ \t]*["'])(?![/.-]|\d{1,5}[:/"'-])[^"'\n]+`,
  // A request of Redis, and of mail: AUTH, PASS.
  String.raw`(\bAUTH"?(?:\r?\n\$\d{1,9}\r?\n|[ \t]+(?:PLAIN|LOGIN)[ \t]+|[ \t]+(?=")))(?!failed|error)\S+`,
  // A user with a password, where no secret is named.
  String.raw`(\b(?:(?:credentials?|creds)(?: used)?|basic auth(?: with)?|user(?:name)?[/:]pass(?:word|wd)?)\b(?:[ \t]*[:=])?[ \t(]{1,3}["']?[\w.@-]{1,64}:)(?![:/(])[^\s"',)]+`,
  String.raw`(\buser(?:name)?[/:]pass(?:word|wd)?\b(?:[ \t]*[:=])?[ \t]{1,3}[\w.@-]{1,64}[ \t]?/[ \t]?)(?!\()[^\s"',)]+`,
  String.raw`(\bcredentials?[ \t]*[:=][ \t]{1,3}[\w.@-]{1,64}[ \t]/[ \t])(?!\()[^\s"',)]+`,
  String.raw`((?:\blogin:[ \t]+|\bauth_basic_user[ \t]+|\bstatic:|\]:\d{2,5}[ \t]+|\b[Aa]uthentication failed for )[\w.@-]{1,64}:)(?![:/(])[^\s"',)]+`,
].map(form => new RegExp(form, 'g'))
const anyProgram = anyOf(programs)
/** A name that one of the expressions below begins with. */
const anyName = new RegExp(
  `${passwordName}|${keyName}|${codeName}|secret|token|credential|auth|pass|login`,
  'i',
)

const value = String.raw`(\\*"[^"\n]*"?|\\*'[^'\n]*'?|[^\s"'\\:]\S*)`
/** `the password is …`, `DB_PASSWORD set to …`. */
const stated = new RegExp(
  String.raw`((?:${passwordName}|secret|token|${keyName}|${codeName}|credentials?)\b["']?(?:(?:'s)? value| (?:for|of) [^\s"']+)?[ \t]+(?:is|was|are|equals|being|(?:has|had) been|(?:would|should|must|will) be|set to|changed to|reset to)\b[ \t]*(?:(?:set to|changed to|reset to|now|still)\b[ \t]*)?(?::[ \t]*)?)${value}`,
  'gi',
)
/** `set password to …`, `password changed from … to …`. */
const changed = new RegExp(
  String.raw`(\b(?:(?:set|reset|change|update)d?[ \t]+(?:the[ \t]+|your[ \t]+)?(?:${passwordName})(?:[ \t]+from[ \t]+\S{1,200})?[ \t]+to|(?:${passwordName})[ \t]+(?:changed|rotated)[ \t]+from)[ \t]+)${value}`,
  'gi',
)
/** The rest of a line behind two words and a colon: `recovery code: …`, `password of bob: …`. */
const lone = new RegExp(
  String.raw`(\b(?:(?:${passwordName})(?: value|(?: (?:for|of|at))(?: user| account)? [^\s:"']{1,64}| you [a-z]{1,10})|${keyName}|${codeName}):[ \t]+)(?!\(removed\))${value}(?=[ \t]*(?:[\r\n"',;)\]}]|$))`,
  'gi',
)
/** `[password] …` */
const bracketed = new RegExp(
  String.raw`(\[[\w.-]{0,64}(?:${passwordName})\][ \t]+)(?!\(removed\))${value}(?=[ \t]*(?:[\r\n"',;)\]}]|$))`,
  'gi',
)
/** A prompt with its answer: `Password for bob: …`. */
const prompted = new RegExp(
  String.raw`(\b(?:${passwordName}) for [^\s:]{1,64}(?:://[^\s]{1,200})?:[ \t]{1,4})${value}`,
  'gi',
)
/** A quoted value after a secret's name. `secret "name" not found` stays unchanged. */
const quoted = new RegExp(
  String.raw`((?<!unexpected )\b(?:${passwordName}|token|${keyName}|${codeName})\b["']?[ \t]+(?:-{1,2}[ \t]+)?)(?=\\*["'])${value}`,
  'gi',
)
/** The password of somebody: `bob with password …`, and `login bob password …` of a .netrc file. */
const login =
  /(\b(?:with|using|login [^\s"]{1,64})\s{1,4}(?:password|passwd|passphrase) {1,4})([^\s"':\\][^\s]{0,200})/gi
/** `with S as the password`. */
const usedAs =
  /(\b(?:used?|using|with|sent|entered|type)[ \t])([^\s"':\\]\S+)(?=[ \t](?:as|for)[ \t](?:(?:the|a|its)[ \t])?(?:passw|token|secret))/gi
const statedWord =
  /^(?:not|no|now|in|an?|the|too|un\w+|in\w+|expired|missing|empty|wrong|required|rejected|refused|set|changed|known|valid|being|been|nil|null|about|already|also|still|only|used|stale|old|bad|rotated|revoked|mounted|created|deleted|issued|signed|stored|needed|never|longer|of|on|for|from|at|by|with|without|yet|optional|deprecated|disabled|enabled|auth\w*|hash\w*|based|grant|reset|policy|file|protect\w+|login|from|and|or|that|which|to|expire|log|connect|access|continue|denied|timeout|refused|fails?|failed|forbidden|(?:previous|current|recent|successful|automatical|temporari)ly)\b/i

/** Removes a value, but leaves sentences such as "The token is expired" unchanged. */
function withoutValue(text: string, before: string, value: string): string {
  const [quote = ''] = /^\\*["']/.exec(value) ?? []
  const inner = value.slice(quote.length)
  if (inner.length < shortestStated || statedWord.test(inner)) return text
  const [end = ''] = (quote !== '' && /\\{0,8}["']$/.exec(inner)) || []
  return `${before}${quote}${removed}${end}`
}

/** A value without quotes. It must contain a digit, because most words of prose have none. */
const bare = new RegExp(
  String.raw`((?:\b|_)(${passwordName}|token|${keyName}|${codeName})(?:\||(?:[:=;]|[ \t]value:?)?[ \t]{1,3}|[ \t]-{1,2}[ \t])(?:(?:invalid|wrong|bad|incorrect|unknown|expired)[ \t]|\()?)((?=[^\s\d]{0,24}\d)[^\s"',;]{6,})`,
  'gi',
)
/** Commands of mail servers, FTP and Redis. */
const commands =
  /((?:^|[\s"'])(AUTH|PASS|LOGIN)[ \t]+(?:"?[\w.@-]{1,64}"?[ \t]+)?"?)((?=[^\s\d]{0,24}\d)[^\s"',;]{6,256})/g
/** `… is the password`, with the value first. */
const stating =
  /()(?<![^\s"'(])()((?=[^\s\d]{0,24}\d)[^\s"',;]{6,256})(?=[ \t]is[ \t](?:the|my|your|our)[ \t](?:\w{1,32}[ \t])?(?:passw|token|secret))/gi
const notRandom = /^(?:v\d+(?:alpha|beta)\d+|\d+[a-z]{1,2}|sha\d+|base\d+|oauth\d|utf\d+|md5)$/i

/** Removes a value that mixes letters and digits, or a password of digits. "The token 2h30m old" stays unchanged. */
function withoutBareValue(text: string, before: string, name: string, value: string): string {
  const isRandom = value
    .split(/[^A-Za-z0-9]+/)
    .some(part => part.length >= shortestBare && isMixed(part) && !notRandom.test(part))
  const isNumber = /^p/i.test(name) && /^\d{6,}[.:)]?$/.test(value)
  return isRandom || isNumber ? `${before}${removed}` : text
}

const isMixed = (part: string) => /\d/.test(part) && /[a-z]/i.test(part)
