/** Removes secrets of statements and of single forms of commands. Each expression takes linear time. */
import { withoutCommandSecrets } from './command-secrets.ts'
import { hasNamedSecret } from './named-secrets.ts'
import { removed } from './secret-values.ts'

/** Removes what a program gets as an argument. Often it is the rest of the line. */
export function withoutProgramSecrets(text: string) {
  let clean = withoutCommandSecrets(text)
  if (text.includes('<<<')) clean = clean.replace(hereString, `$1${removed}`)
  if (anyProgram.test(clean))
    for (const form of programs) clean = clean.replace(form, `$1${removed}`)
  return clean
}

/** Matches at least where one of the forms does: a flag of one of them, such as `i`, counts for all. */
export const joinPatterns = (forms: readonly RegExp[]) => {
  const flags = new Set(forms.flatMap(form => [...form.flags]))
  flags.delete('g')
  return new RegExp(forms.map(({ source }) => source).join('|'), [...flags].join(''))
}

/** A word of a command line. A quote that ends the word of a list is not part of it. */
const word = String.raw`(?:"(?![,\])}\s]|$)[^"\n]*"?|'(?![,\])}\s]|$)[^'\n]*'?|\\.|[^\s"'\\])`
/** A comma or a bracket before white space is not part of it. */
const bare = String.raw`(?:[^\s"',)]|,(?![\s"']|$))+`
const passwordReader =
  /stdin|\b(?:kinit|sudo|su|cryptsetup|login|base64|kubeseal|ConvertTo-SecureString)\b/
const printed = /\b(?:echo|printf)[ \t]+|(?<==[ \t]{0,4})(?=(?:"[^"\n]*"|'[^'\n]*')[ \t]*$)/
const fileName = /^[ \t]*["']?([\w./~${}-]{1,256})/

/** Removes what is printed into a file with a secret's name, or what a pipe gives to a program that reads a password. */
export const withoutPiped = (text: string) =>
  withoutPrinted(
    withoutPrinted(text, '|', reader => passwordReader.test(reader) || hasNamedSecret(reader)),
    '>',
    file => hasNamedSecret(fileName.exec(file)?.[1] ?? ''),
  )

/** @param isSecret for what stands behind the sign, up to the end of its line */
function withoutPrinted(text: string, sign: string, isSecret: (next: string) => boolean) {
  if (!text.includes(sign)) return text
  const parts = text.split(sign)
  const clean = parts.map((part, index) => {
    const line = part.lastIndexOf('\n') + 1
    const command = printed.exec(part.slice(line))
    const behind = parts[index + 1] === '' && sign === '>' ? parts[index + 2] : parts[index + 1]
    const [next = ''] = behind?.split('\n', 1) ?? []
    if (!command || !isSecret(next)) return part
    return `${part.slice(0, line + command.index + command[0].length)}${removed} `
  })
  return clean.join(sign)
}

const hereString = new RegExp(`((?<!<)<<<[ \\t]*)${word}+`, 'g')
const programs = [
  String.raw`(\b[Ii](?:dentified|DENTIFIED)[ \t]+(?:(?:with|WITH)[ \t]+\S{1,64}[ \t]+)?(?:by|BY)[ \t]+(?:password|PASSWORD|values|VALUES)?[ \t]*)${word}+`,
  String.raw`(\b(?:set|SET)[ \t]+(?:password|PASSWORD)[ \t]+(?:for|FOR)[ \t]+[^\s=]{1,128}[ \t]*=[ \t]*(?:(?:password|PASSWORD)\()?)${word}+`,
  String.raw`(\b(?:Unseal|Recovery) Key \d{1,2}(?: \([^)\n]{1,40}\))?:[ \t]+)${word}+`,
  // User and password are arguments of their own.
  ...[
    [
      String.raw`getConnection|PlainAuth|(?:new[ \t]+)?(?:PDO|mysqli)(?:->__construct)?|mysqli?_p?connect`,
      2,
    ],
    [String.raw`\.auth|\.login|[bB]asicAuth|pgp_sym_(?:en|de)crypt(?:_bytea)?`, 1],
  ].map(
    ([names, before]) =>
      String.raw`((?:${names})\((?:[ \t]{0,8}(?:"[^"\n]{0,256}"|'[^'\n]{0,256}'|\(removed\)|[\w.$]{1,64})[ \t]{0,8},){${before}}[ \t]{0,8})(?:"[^"\n]*"?|'[^'\n]*'?)`,
  ),
  String.raw`(<\((?:echo|printf)[ \t]+)${word}+`,
  String.raw`(\b[Uu]ser(?:name)?=[\w.@\\-]{1,64}%)[^\s,"']+`,
  String.raw`(:pserver:[\w.-]{1,64}:)[^\s@]+`,
  // A line of .pgpass: host, port, database, user, password. An address of IPv6 does not match.
  String.raw`((?<![\w.:/-])(?!(?:[\da-f]{0,4}:){4})(?:\*|[A-Za-z\d][\w.-]{0,253}):(?:\d{4,5}|\*):(?!\d{1,9}:)[\w.*-]{1,64}:[\w.*-]{1,64}:)(?=\S)${word}+`,
  // A line of /etc/shadow.
  String.raw`((?<![\w.-])[\w.-]{1,32}:)[^\s:]+(?=:\d{5}:\d{0,5}:\d{0,5}:)`,
  // A name of JSON that an error cuts off.
  String.raw`(\.\.\.\|\w{1,64}"[ \t]*:[ \t]*)"[^"\n]*"?`,
  String.raw`(\bSECRET[ \t]+)'[^'\n]*'?`,
  // A password after -p in a list. A port, a path and an option do not match.
  String.raw`((?<!mkdir["'],[ \t]?)["']-p["'],[ \t]*["'])(?![/.-]|\d{1,5}[:/"'-])[^"'\n]+`,
  // A request of Redis, and of mail: AUTH, PASS.
  String.raw`(\bAUTH"?(?:\r?\n\$\d{1,9}\r?\n|[ \t]+(?:PLAIN|LOGIN)[ \t]+|[ \t]+(?=")))(?!failed|error)\S+`,
  // A user with a password, where no secret is named.
  String.raw`(\b(?:(?:credentials?|creds)(?: used)?|basic auth(?: with)?|user(?:name)?[/:]pass(?:word|wd)?)\b(?:[ \t]*[:=])?[ \t(]{1,3}["']?[\w.@-]{1,64}:)(?![:/(])${bare}`,
  String.raw`(\buser(?:name)?[/:]pass(?:word|wd)?\b(?:[ \t]*[:=])?[ \t]{1,3}[\w.@-]{1,64}[ \t]?/[ \t]?)(?!\()${bare}`,
  String.raw`(\bcredentials?[ \t]*[:=][ \t]{1,3}[\w.@-]{1,64}[ \t]/[ \t])(?!\()${bare}`,
  String.raw`((?:\blogin:[ \t]+|\bauth_basic_user[ \t]+|\bstatic:|\brelayhost[ \t]+|username=|\b(?:logged in|login|tried) (?:with )?|\]:\d{2,5}[ \t]+|\b[Aa]uthentication failed for )[\w.@-]{1,64}:)(?![:/(])${bare}`,
].map(form => new RegExp(form, 'g'))
const anyProgram = joinPatterns(programs)
