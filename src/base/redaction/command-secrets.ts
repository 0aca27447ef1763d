/** Removes secrets that a command passes to a program: `mysql -p…`, `["redis-cli","-a","…"]`. */
import { removed } from './secret-values.ts'
import type { Cut } from './spoken-secrets.ts'

/**
 * Programs, and the arguments before their secret. Each argument is an expression; `_` is any, `…` are some, a flag is found among all. `$` is the secret,
 * which may follow other text of its word or be joined to its flag; `$*` is the rest of the command.
 */
const calls = String.raw`
mysql[a-z]{0,16}|mariadb[a-z-]{0,16}|7z[ar]?|(?:un)?rar|winrs: … -h?p$
mysqladmin: … password $
sshpass|certutil|mcrcon|racadm|mongo[a-z]{0,16}|user(?:add|mod)|cqlsh|twine|rdesktop|beeline|cypher-shell|smbmap|psexec|rabbitmqadmin: -p $
doctl|rancher|codecov|influx|k3s: -t $
dotnet: nuget push … -k $
lftp: -u [^,]+,$
SETUSER|setuser: … >$
redis-cli: -a $ ; … (?:AUTH|auth) $*
ldap[a-z]{1,16}|kadmin|security: -w $
ldappasswd|slappasswd: -[as] $
sqlcmd|bcp|i?sql|osql|tsql|zip|unzip|ipmitool|mosquitto_[a-z]{1,16}: -P $ ; … /P $
snmp[a-z]{1,16}: -[cA] $ ; -X $
ssh-keygen: -N $
openssl: -k $ ; passwd $*
curl: -u [^:]*:$ ; -b [\w.-]+=$ ; -E [^:]+:$ ; --cert [^:]+:$
https?|xhs?|ab: -[aA] [^:]+:$
smbclient|rpcclient|net: -U [^%]+%$
xfreerdp|wfreerdp: … /p:$
schtasks|ktpass|cmdkey: … /(?:rp|pass) $
sqlplus|sqlldr|expdp|impdp: … [\w$#]+/$
vault: login (?!-)$ ; login _ (?!-)$ ; operator unseal (?!-)$ ; write _ $* ; kv (?:put|patch) _ $*
rabbitmqctl: … (?:add_user|change_password) _ $
db2: … user _ using $
net: user _ (?!/)$ ; use _ (?![/\\])$ ; use _ _ (?!/)$ ; use _ _ /user:.+ $
caddy: … --plaintext $
wpa_passphrase: _ $
nmcli: … (?:password|.*psk) $
iw(?:config)?: … key (?:s:)?$
consul|serf|etcdctl: … put _ $ ; -encrypt $
grafana-cli|grafana: … reset-admin-password $
pdftk: … (?:user|owner|input)_pw $
qpdf: … --encrypt $ ; … --encrypt _ $
mosquitto_passwd|htpasswd: … -\w{0,8}b\w{0,8} $*
mkpasswd: (?!-)$ ; -m _ $
dscl: … -passwd _ $
bw: unlock (?!-)$ ; login _ (?!-)$
cloudflared: service install (?!-)$
consul: keygen (?!-)$ ; … set-agent-token _ $
d-i: .{0,60}passw.{0,60} password $
rclone: obscure $ ; config (?:create|update|password) _ $*
nuget: setApiKey $
snyk: auth (?!-)$
cargo: login (?!-)$
fly(?:ctl)?|heroku: (?:secrets|config) set $* ; config:set $*
az: keyvault secret set … --value $
npm: config set .{0,99}_auth\w{0,16} $
sonar-scanner|mvn|gradle: … -Dsonar\.login=$
ConvertTo-SecureString: (?!-)$ ; -String $
ngrok: authtoken $ ; config add-authtoken $
pulumi: config set … --secret _ $
gcloud: … activate-refresh-token _ $
composer|poetry: … http-basic.+ _ $
mc: alias set _ _ $* ; config host add _ _ $*
radtest: _ $*
nsupdate|dig: -y .*:$
gh: secret set … (?:-b|--body) $
aws: … put-parameter … --value $ ; … configure set .{0,99}(?:key|token) $
requirepass|masterauth|bindpw|:_(?:authToken|auth|password)|wpa-psk|pre-shared-key|authentication-key|key-string|AuthUserPass|SecretKeyBase: $
rootpw: … (?!-)$
snmp-server: community $
(?:tacacs|radius)-server: … key (?!\d$)$ ; … key \d $
username|enable: … (?:secret|password) \d $ ; _ secret $ ; _ privilege \d+ secret $
user: _ insecure-password $ ; _ >$ ; _ (?:on|off|reset) … >$
CONNECT|conn(?:ect)?: [\w$#]{1,64}/(?=[^@]{1,99}@)$`

interface Argument {
  text: string
  start: number
  /** Of the word, with its quotes. */
  end: number
}
/** Matches the argument's text up to the secret. */
type Pattern = RegExp | '…' | '$*'

const patternOf = (part: string): Pattern =>
  part === '…' || part === '$*'
    ? part
    : new RegExp(
        part.endsWith('$')
          ? `^(?:${part.slice(0, -1)})(?=.)`
          : `^(?:${part === '_' ? '.+' : part})$`,
      )

/** The secret of a flag may be the next argument, or be joined to the flag. */
function patternsOf(call: string): Pattern[][] {
  const parts = call.split(' ')
  const [flag = '', secret = ''] = parts.slice(-2)
  if (secret === '$*' || !/^(?:\(\?:)?-/.test(flag)) return [parts.map(patternOf)]
  const before = parts.length > 2 ? parts.slice(0, -2) : ['…']
  return [
    [...before, flag, secret],
    [...before, `${flag}=?${secret}`],
  ].map(form => form.map(patternOf))
}

const programs = calls
  .trim()
  .split('\n')
  .map(line => {
    const [names = '', forms = ''] = line.split(/: (.*)/)
    return {
      names: new RegExp(`^(?:${names})$`),
      forms: forms.split(' ; ').flatMap(patternsOf),
      source: names,
    }
  })
/** With or without a path, also in a list of quoted words. `mysql-0` and `mysql:8` do not match. */
const program = new RegExp(
  `(?<![\\w.-])(?:${programs.map(({ source }) => source).join('|')})(?=["'\\s])`,
  'g',
)

const mostArguments = 16
const longestCall = 2_000
/** The first calls of a text are read further, because their names are more likely those of commands. */
const [firstCalls, longestFirst] = [8, 50_000]
/** A quote that ends the word of a list is not part of it. */
const argument =
  /(?:"(?![,\])}\s]|$)[^"\n]*"?|'(?![,\])}\s]|$)[^'\n]*'?|\\.|(?<!["']),(?![ \t]{0,8}["'])|[^\s"'\\,])+|\n/g

export function withoutCommandSecrets(text: string) {
  const formsByName = new Map<string, Pattern[][]>()
  /** Where a form with a flag at any place was looked for: commands of one line share their arguments. */
  const readUpTo = new Map<Pattern[], number>()
  const cuts: Cut[] = []
  let last: Cut = [0, 0]
  let count = 0
  let words: Argument[] = []
  for (const { 0: name, index } of text.matchAll(program)) {
    if (index >= last[0] && index < last[1]) continue
    count += 1
    const longest = count > firstCalls ? longestCall : longestFirst
    const known = words.findIndex(({ end }) => end === index + name.length)
    if (known < 0) readUpTo.clear()
    // The last argument may be cut off.
    const first = known < 0 ? [] : words.slice(known + 1, -1)
    words = argumentsFrom(text, index + name.length, longest, first)
    let forms = formsByName.get(name)
    if (!forms) {
      forms = programs.flatMap(({ names, forms }) => (names.test(name) ? forms : []))
      formsByName.set(name, forms)
    }
    for (const form of forms) {
      const first = words.findIndex(({ start }) => start >= (readUpTo.get(form) ?? 0))
      const cut = first < 0 ? null : cutOf(form, words, text, 0, first)
      if (form.lastIndexOf('…') === 0)
        readUpTo.set(form, cut?.[0] ?? words.at(-form.length)?.start ?? 0)
      if (!cut) continue
      cuts.push(cut)
      if (cut[1] > last[1]) last = cut
    }
  }
  let out = ''
  let at = 0
  for (const [start, end] of cuts.sort(([a], [b]) => a - b)) {
    if (start >= at) out += `${text.slice(at, start)}${removed}`
    at = Math.max(at, end)
  }
  return out + text.slice(at)
}

/** Only near arguments, because a text can be full of names. @param found the first ones, from the command before */
function argumentsFrom(text: string, from: number, longest: number, found: Argument[]) {
  const next = found.at(-1)?.end ?? from
  for (const { 0: word, index } of text.slice(next, from + longest).matchAll(argument)) {
    if (found.length === mostArguments || word === '\n') break
    const quote = /^["']/.test(word) ? word.indexOf(word.charAt(0), 1) : -1
    const start = next + index
    const end = start + word.length
    if (quote > 0 && !/[\w$]/.test(word.charAt(quote + 1)))
      found.push({ text: word.slice(1, quote), start: start + 1, end })
    else found.push({ text: word, start, end })
  }
  return found
}

/** Null: the words from `at` on have not the parts of the form from `part` on. */
function cutOf(
  form: readonly Pattern[],
  words: readonly Argument[],
  text: string,
  part = 0,
  at = 0,
): Cut | null {
  const [pattern, word] = [form[part], words[at]]
  if (!word || pattern === undefined) return null
  const { start, text: argument } = word
  if (pattern === '$*') return [start, endOfCommand(text, start)]
  if (pattern === '…') {
    const next = form[part + 1]
    const isFlag = next instanceof RegExp && next.source.startsWith('^(?:-')
    for (let from = at; from < words.length; from++) {
      if (isFlag && words[from]?.text[0] !== '-') continue
      const cut = cutOf(form, words, text, part + 1, from)
      if (cut) return cut
    }
    return null
  }
  const [found] = pattern.exec(argument) ?? []
  if (found === undefined) return null
  if (part < form.length - 1) return cutOf(form, words, text, part + 1, at + 1)
  return [start + found.length, start + argument.length]
}

const endOfCommand = (text: string, from: number) => {
  const length = text.slice(from).search(/\n|[;|&](?=[;|&]?(?:\s|$))|(?<=\s)[;|&]/)
  return length < 0 ? text.length : from + length
}
