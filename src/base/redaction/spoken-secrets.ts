/** Finds secrets that prose states: `the password is …`, `token "…"`, `recovery code of bob: …`, `with … as the password`. */
import { isMixed } from './secret-values.ts'

/** Start and end of a value, in characters behind its name. A value before its name has a negative start. */
export type Cut = readonly [start: number, end: number]

const passwordName = 'passw(?:or)?ds?|passphrase|passcode|pwd|(?<![A-Za-z])(?:otp|pin|pw|psk)'
const phrase =
  '(?:api|access|private|secret|license|encryption|master|signing|shared|subscription|hmac)[ _-]?key|client[ _-]?secret|pass[ -](?:phrase|word|code|key)|(?:recovery|backup|one[ -]time|verification|unlock|security|otp|activation|[2m]fa)[ -]code|seed[ -]phrase|session[ -]id|secret[ -](?:word|value|phrase)'
const isPassword = new RegExp(`(?:${passwordName})$`, 'i')
const isPhrase = new RegExp(`(?:${phrase})$`, 'i')
const isSpoken = new RegExp(`(?:${passwordName}|token|${phrase})$`, 'i')
/** The last word of such a name, also of one that stands in statements only. */
const lastWord =
  /(?:word|words|wds?|phrase|code|pw|psk|otp|pin|token|secret|credentials?|key|id|value|realm|header|AUTH|PASS|LOGIN)$/i

const owner = String.raw`(?:'s)?(?: value)?(?: (?:for|of|at)(?: the)?(?: user| account| key)? ["']?[^\s"']{1,80}["']?(?: user)?| you [a-z]{1,10})?`
/** `the password is …`, `DB_PASSWORD set to …`. */
const statement = new RegExp(
  String.raw`^["']?${owner}(?:[ \t]{1,2}(?:is|was|are|equals|eq|being|now|still|(?:has|had) been|(?:would|should|must|will) be|(?:re)?set to|(?:changed|rotated) (?:to|from))\b){1,2}[ \t]{0,2}(?::[ \t]{0,2})?`,
  'i',
)
/** `password of bob: …`, `recovery code: …`. */
const owned = new RegExp(
  String.raw`^(?:(?: is| was)? (?:generated|provided))?${owner}:[ \t]{1,4}(?!\(removed\))`,
  'i',
)
/** `set password to …`, `changed password from … to …`. */
const setting = /\b(?:set|reset|change|update)d?[ \t]{1,4}(?:(?:the|your)[ \t])?$/i
const newValue = /^(?:[ \t]{1,4}from[ \t]\S{1,200})?[ \t]{1,4}to[ \t]{1,4}/i
const quotedValue = /^["']?[ \t]{1,4}(?:-{1,2}[ \t]{1,4})?(?=["'])/
/** Behind a gap, as in a table. */
const distantValue = /^[ \t]{2}[ \t]{1,6}(?!\/|[A-Z]{2,20}\b)/
const bareValue =
  /^(?:\||…|[ \t]-{1,2}[ \t]|(?:[:=;]|[ \t]value:?)?[ \t]{1,8})(?:(?:invalid|wrong|bad|incorrect|unknown|expired)[ \t]|\()?/
const joinedValue = /^(?:[~,]|\r?\n(?:[ \t]*-{4,}[ \t]*\r?\n[ \t]*)?)/
/** The rest of a heading before a generated password on a line of its own: `Please use the following password to proceed:`. */
const heading =
  /^[^\n:=]{0,100}:[ \t]*(?:\r?\n[ \t]*){1,3}(?=[^\s"']{8,64}(?:["']|[ \t]*(?:\r?\n|$)))/
/** A line of a configuration or of a list of variables: `http_Passwd …`. */
const ownLine = /^(?:[ \t]+|(?=\S*[_-]))\S+$/
const lineValue = /^[ \t]{1,8}(?![/-])/
/** The password of somebody: `bob with password …`, and `login bob password …` of a .netrc file. */
const loginBefore = /\b(?:with|using|login [^\s"]{1,64})\s{1,4}$/i
/** A command of a mail server, FTP or Redis. */
const commandValue = /^[ \t]{1,8}"?/
const commandUser = /^[ \t]{1,8}"?[\w.@-]{1,64}"?[ \t]{1,8}"?/
/** `with … as the password` and `… is the password`. */
const usedAs =
  /\b(?:used?|using|with|sent|entered|type)[ \t]([^\s"':\\]\S{0,60}[ \t](?:as|for)[ \t](?:(?:the|a|its)[ \t])?)$/i
const stating = /(?<![^\s"',;])([^\s"',;]+[ \t]is[ \t](?:the|my|your|our)[ \t](?:\w{1,9}[ \t])?)$/i

/** @param before the text before the name, not all of it */
export function spokenCut(word: string, before: string, rest: string): Cut | null {
  if (!lastWord.test(word)) return null
  const cut = /^(?:passw|token|secret)/i.test(word) ? cutBefore(word, before.slice(-99)) : null
  if (cut) return cut
  if (/^(?:AUTH|PASS|LOGIN)$/.test(word) && /(?:^|[\s"'])$/.test(before))
    return (
      randomCut(commandValue.exec(rest), rest, false) ??
      randomCut(commandUser.exec(rest), rest, false)
    )
  if (/\bnon-existent [\w-]+ $/.test(before.slice(-40))) return null
  const name = (/[\w-]{1,16}[ -]$/.exec(before.slice(-17))?.[0] ?? '') + word
  if (/^(?:basic realm|auth(?:orization)? header)$/i.test(name))
    return randomCut(bareValue.exec(rest), rest, false)
  const isKnown = isSpoken.test(name)
  if (!isKnown && !/(?:secret|credentials?|secret key)$/i.test(name)) return null
  return statedCut(statement.exec(rest), rest) ?? (isKnown ? knownCut(name, before, rest) : null)
}

function knownCut(name: string, before: string, rest: string): Cut | null {
  const isOfPassword = isPassword.test(name)
  const [found] = owned.exec(rest) ?? []
  const hasOwner = found !== undefined && /^[^:]/.test(found)
  return (
    (isOfPassword && setting.test(before.slice(-24)) && statedCut(newValue.exec(rest), rest)) ||
    (isOfPassword && / for /.test(found ?? '') && statedCut(owned.exec(rest), rest)) ||
    ((hasOwner || isPhrase.test(name)) &&
      ((!/secret[ _-]?key$/i.test(name) && statedCut(owned.exec(rest), rest, true)) ||
        randomCut(owned.exec(rest), rest, false))) ||
    (isOfPassword &&
      /\[[\w.-]{0,64}$/.test(before) &&
      statedCut(/^\][ \t]+/.exec(rest), rest, true)) ||
    (ownLine.test(before.slice(before.lastIndexOf('\n') + 1) + name) &&
      statedCut(lineValue.exec(rest), rest, true)) ||
    (isOfPassword &&
      !/(?:pwd|pin)$/i.test(name) &&
      statedCut(distantValue.exec(rest), rest, true)) ||
    (loginBefore.test(before.slice(-80)) && statedCut(/^ {1,4}(?!["'])/.exec(rest), rest)) ||
    (!/unexpected $/i.test(before) && statedCut(quotedValue.exec(rest), rest)) ||
    (randomCut(
      (isOfPassword && joinedValue.exec(rest)) || bareValue.exec(rest),
      rest,
      isOfPassword,
    ) ??
      (isOfPassword ? randomCut(heading.exec(rest), rest, false) : null))
  )
}

const endOfPhrase = /^[ \t]*(?:[\r\n"',;)\]}]|$)/
const closing = /["',;)\]}]$/
const value = /^(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"'\\:]\S*)/
const shortestStated = 3
const statedWord =
  /^(?:%s|not|no|now|in|an?|the|too|un\w+|in\w+|expired|generated|missing|empty|wrong|required|rejected|refused|set|changed|known|valid|being|been|nil|null|about|already|also|still|only|used|stale|old|bad|rotated|revoked|mounted|created|deleted|issued|signed|stored|needed|never|longer|of|on|for|from|at|by|with|without|yet|optional|deprecated|disabled|enabled|auth\w*|hash\w*|based|grant|reset|policy|file|protect\w+|login|from|and|or|that|which|to|expire|log|connect|access|continue|denied|timeout|refused|fails?|failed|forbidden|(?:previous|current|recent|successful|automatical|temporari)ly)\b/i

/** The value behind `link`, but not in sentences such as "The token is expired". Quotes stay. */
function statedCut(link: RegExpExecArray | null, rest: string, isLone = false): Cut | null {
  if (!link) return null
  const start = link[0].length
  const [found = ''] = value.exec(rest.slice(start)) ?? []
  if (/^\(removed\)(?!\w)/.test(found)) return null
  const [quote = ''] = /^["']/.exec(found) ?? []
  const isClosed =
    quote === '' ? isLone && closing.test(found) : found.length > 1 && found.endsWith(quote)
  if (isLone && !isClosed && !endOfPhrase.test(rest.slice(start + found.length))) return null
  const inner = found.slice(quote.length, isClosed ? -1 : undefined)
  if (inner.length < shortestStated || statedWord.test(inner)) return null
  return [start + quote.length, start + quote.length + inner.length]
}

const shortestBare = 6
const notRandom = /^(?:v\d+(?:alpha|beta)\d+|\d+[a-z]{1,2}|sha\d+|base\d+|oauth\d|utf\d+|md5)$/i

/** A value that mixes letters and digits, or a password of digits. "The token 2h30m old" stays unchanged. */
function randomCut(link: RegExpExecArray | null, rest: string, isOfPassword: boolean): Cut | null {
  if (!link) return null
  const start = link[0].length
  // A long value is decided by its start, so that all names of a text take linear time.
  const [found = ''] = /^[^\s"']{6,256}/.exec(rest.slice(start, start + 256)) ?? []
  if (!isRandom(found) && !(isOfPassword && /^\d{6,}[.:)]?$/.test(found))) return null
  const length = rest.slice(start).search(/[\s"']|[,;](?=\s|$)/)
  return [start, length < 0 ? rest.length : start + length]
}

const isRandom = (text: string) =>
  (/^[^/]{8,}$/.test(text) && isMixed(text)) ||
  text
    .replace(/[,;].*/, '')
    .split(/[^A-Za-z0-9]+/)
    .some(isRandomPart)
const isRandomPart = (part: string) =>
  part.length >= shortestBare && /\d/.test(part) && /[a-z]/i.test(part) && !notRandom.test(part)

function cutBefore(word: string, before: string): Cut | null {
  const length = -word.length
  const [, used] = usedAs.exec(before) ?? []
  const [, stated] = stating.exec(before) ?? []
  const found = used ?? stated ?? ''
  const [given = ''] = found.split(/\s/, 1)
  const isSecret =
    used === undefined ? isRandom(given) : !statedWord.test(given) && given.length > 2
  return isSecret ? [length - found.length, length - found.length + given.length] : null
}
