/** The text as a reader sees it, so that each notation of a name, a sign or a quote has one form. */
import { isSecretKey } from './secret-names.ts'

const unusual =
  /[^\t\n\r\x20-\x7e]|\\(?:x1b|u001b|033|e)\[|&(?:quot|apos|[lg]t|#)|\\(?:u00|x)[2-7]|\\1[0-7]{2}|\\x00|\\0(?!\d)|%[4-7]|%(?:20|2[bB])%3|\+%3/
/** Signs and letters as XML, HTML, JSON and programs escape them. */
const escapedSign =
  /&(quot|apos|lt|gt);|&#(3[49]|58|6[0-2]|6[5-9]|[78]\d|9[05789]|1[01]\d|12[0-2]);|(?:&#[xX]0?|\\{1,8}u00|\\{1,8}x)(22|27|2[dDeE]|3[acdeACDE]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]);?|%([46][1-9a-fA-F]|[57][0-9aA]|5[bBdDfF])|\\{1,4}(1[0-7]{2})/g
const namedSigns: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>' }
const colour = /(?:[^\P{Cc}\t\n\r]|\\(?:x1b|u001b|033|e))\[[\d;]{0,16}m/gu
/** Text of UTF-16 that was read as bytes. */
const wideText = /(?:[\x20-\x7e]\0){4,}/g
const fullWidthOffset = 0xff00 - 0x20
/** Words for a password that no rule of letters finds: other scripts, two words, typing errors, letters with signs between them. */
const foreignNames =
  /((?:seed|recovery)[ -]phrase(?=["']?[ \t]*[:=]))|密码|密碼|口令|パスワード|пароль|비밀번호|암호|รหัสผ่าน|סיסמה|كلمة المرور|mật khẩu|mot de passe|kata sandi|p[ ._]a[ ._]s[ ._]s[ ._]w[ ._]o[ ._]r[ ._]d(?![a-z])|(?!passwo)p[a4@][s5$]{1,2}w?[o0]r?d(?![a-z])/giu
const backtickQuotes = /`([^`\n"']{1,512})`/g

/** Common spaces, signs and quotes, names of secrets in Latin letters, no colours and nothing without width. */
export function visibleText(text: string) {
  const quoted = text.includes('`') ? text.replace(backtickQuotes, "'$1'") : text
  const named = (unusual.test(quoted) ? quoted.normalize() : quoted).replace(
    foreignNames,
    (_, words) => (words ? 'mnemonic' : 'password'),
  )
  if (!unusual.test(named)) return named
  return named
    .replace(/\\{1,8}(?:x00|0(?!\d))/g, ' ')
    .replace(wideText, wide => wide.replaceAll('\0', ''))
    .replace(escapedSign, decodeCharacter)
    .replace(/(?:%20|\+)(?=%3[AaDd])|(?<=%3[AaDd])(?:%20|\+)/g, '')
    .replace(colour, '')
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
    .replaceAll('\b', '')
    .replace(/[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\t\n\r]|\p{Zs}/gu, ' ')
    .replace(/[\uff01-\uff5e]/g, sign => String.fromCharCode(sign.charCodeAt(0) - fullWidthOffset))
    .replace(/[\u201c-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f]/g, '"')
    .replace(/[\u2018-\u201b\u00b4]/g, "'")
    .replace(/[\u2010-\u2015]/g, '-')
    .replace(/[\ufe55\u2236\ua789]/g, ':')
    .replace(/[\ufe66\u207c\u2254]/g, '=')
    .replace(/[←→⇒↦⇨⇾⟶⟹⟼➔➙➛➜➝➞➡]/g, '=>')
    .replace(foreignWord, word => {
      const latin = unusual.test(word) ? latinText(word) : word
      return isSecretKey(latin) ? latin : word
    })
}

function decodeCharacter(
  _: string,
  name?: string,
  decimal?: string,
  hexadecimal?: string,
  percent?: string,
  octal?: string,
) {
  if (name) return namedSigns[name] ?? ''
  if (decimal) return String.fromCharCode(Number(decimal))
  const digits = hexadecimal ?? percent
  return String.fromCharCode(digits ? Number.parseInt(digits, 16) : Number.parseInt(octal ?? '', 8))
}

const foreignWord = /[\p{L}\p{M}\p{N}\p{So}_.-]+/gu
/** Letters that look like Latin ones, or that have no decomposition. Source: unicode.org/Public/security, confusables.txt */
const [lookAlikes, latinLetters] = [
  'асԁеіјкорѕтухԝԛһοανκρτυικłøıꜱᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ',
  'acdeijkopstyxwqhoavkptuikloisabcdefghijklmnoprtuvwyz',
]
const latinText = (word: string) =>
  [...word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss')]
    .map(letter => latinLetters[lookAlikes.indexOf(letter)] ?? letter)
    .join('')
