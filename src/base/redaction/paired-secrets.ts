/** Removes values that have a name beside them, in fields of their own, or behind them: `invalid value "…" for flag -password`. */
import { isSecretKey } from './secret-names.ts'
import { removed } from './secret-values.ts'

export function withoutPairs(text: string) {
  let clean = text
  for (const [hint, form, replace] of forms)
    if (hint.test(clean)) clean = clean.replace(form, replace)
  return secretKind.test(clean) ? clean.replace(encodedValue, `$1${removed}`) : clean
}

/** An environment variable as JSON, `"name":"A","value":"b"`, and as Go prints it, `Name:A,Value:b`; a tag, `"Key":"A","Value":"b"`. */
const nameAndValue =
  /(\b(?:name|env|type|path|(?:parameter)?key|k|field|id|property|param|option|setting)["']?[ \t]*[:=][ \t]*(?:["'])?([\w./-]{1,256})(?:["'])?[ \t]{0,8}(?:(?:,|(?:\r?\n[ \t]{1,40}[^-\s][^\n]{0,80})??\r?\n)[ \t]{0,40}(?:"op":[ \t]?"\w{1,9}",[ \t]?)?)?(?:["'])?((?:parameter)?value|val|v|content|data|default)(?:["'])?[ \t]*(?::|=(?=["']))[ \t]*)(?:(")(?:[^"\\]|\\(?!")[^"])*|'[^'\n]*'?|[|>][-+\d]{0,2}[ \t]*\r?\n[^\n]*|(?:[^\s,}"]|,(?![A-Z]\w{0,40}:|["'{}\s]|$))+)/gi

/** The same with the value first; an element of XML with both as attributes; a variable of Terraform with its default. */
const valueAndName =
  /(\b(?:value|content)["']?[ \t]*[:=][ \t]*)("[^"\n]{0,2000}"|'[^'\n]{0,2000}'|(?:[^\s,}"']|,(?![A-Za-z]{1,40}["']?[:=]|["'{}\s]|$)){1,2000})((?:,|\r?\n)?[ \t]{0,40}["']?(?:name|key|path)["']?[ \t]*[:=][ \t]*["']?([\w./-]{1,256}))/gi
/** Flags of a name and of a value: `-Name DefaultPassword -Value …`, `/v Password /t REG_SZ /d …`. */
const flagsOfPair =
  /([ \t](?:\/v|--?(?:name|path))[ \t=]{1,4}([^\n|;&]{1,256}?)[ \t](?:\/d|--?value)[ \t=]{1,4})(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"']+)/gi
const variable = /\bvariable[ \t]{1,8}"([\w-]{1,128})"[ \t]{0,8}\{(?:[^{}"]|"[^"\n]*"?)*/g
const defaultValue = /(\bdefault[ \t]{0,8}=[ \t]{0,8})"[^"\n]*"?/g
/** Values of a Secret, in base64. */
const secretKind = /\bkind["']?[ \t]*:[ \t]*["']?Secret\b/
const encodedValue = /("[\w.-]{1,253}"[ \t]*:[ \t]*")[A-Za-z0-9+/]{8,}={0,2}(?=")/g

const withoutSecretValue = (all = '', before = '', name = '') =>
  isSecretKey(name) ? `${before}${removed}` : all
const withoutDefault = (all = '', name = '') =>
  isSecretKey(name) ? all.replace(defaultValue, `$1${removed}`) : all
const withoutFirstValue = (all = '', before = '', _value = '', after = '', name = '') =>
  isSecretKey(name) ? `${before}${removed}${after}` : all

/** Only an environment variable loses its value whatever its name: a taint has a key and a value, too. */
const withoutNamedValue = (text = '', before = '', name = '', field = '', quote = '') =>
  (/^name[^=]*$/i.test(before) && /^value$/i.test(field)) || isSecretKey(name)
    ? `${before}${quote}${removed}`
    : text

/** A refused value before its name: `invalid argument "…" for "--password" flag`, `Value '…' at 'masterUserPassword'`, `Duplicate entry '…' for key 'token'`. */
const refusedValue =
  /(\b(?:value|argument|entry|parameter|string):?[ \t]+)("[^"\n]{0,2000}"|'[^'\n]{0,2000}')((?::|[ \t]+(?:for|at|of|in))[ \t]+(?:(?:flag|key|parameter|option|field|property|argument|variable)[ \t]+)?["']?(?:-\w,[ \t])?(-{0,2}[\w.-]{1,256}))/gi
/** A refused value behind its name: `Invalid value for parameter password, value: …`, `token\n  Input should be an integer [input_value=…]`. */
const refusedParameter =
  /((?:\b(?:parameter|field|env|variable|option|key|property|parse)[ \t]+["']?([\w.-]{1,256})["']?(?:[,:][ \t]+value:?|[ \t](?:with|has)[ \t](?:invalid[ \t])?value|[ \t]as[ \t]\w{1,32}:)[ \t]+))(?:"[^"\n]*"?|'[^'\n]*'?|(?:[^\s,"']|,(?!\s|$))+)/gi
/** A row that a database refuses: `Key (email, token)=(a, …) already exists`. */
const rowOfKey = /(\(([^()\n]{1,1000})\)=)\([^()\n]*\)?/g
/** `INSERT INTO users (name, password) VALUES ('bob', '…')` */
const insertedRow =
  /(\b(?:insert|replace)[ \t]{1,8}into[ \t]{1,8}[^\s(]{1,256}[ \t]{0,8}\(([^()\n]{1,2000})\)[ \t]{0,8}values?[ \t]{0,8})\([^\n]*/gi
/** `password\n  Input should be a valid integer [type=int_type, input_value='…']` */
const invalidInput =
  /((?<![\w.-])([\w.-]{1,256})\r?\n[ \t]{1,8}Input[ \t]should[^\n]{0,400}?\binput_value=)(?:"[^"\n]*"?|'[^'\n]*'?|[^\s,"']+)/g
const withoutRow = (all = '', before = '', names = '') =>
  names.split(/[\s,"'[\]]+/).some(isSecretKey) ? `${before}${removed}` : all
/** A text that code compares with a password: `"…".equals(password)`, `compare("…", password)`. */
const comparedText =
  /((?:^|[\s(!,=]))(?:"[^"\n]{1,512}"|'[^'\n]{1,512}')((?:\.equals\(|,[ \t]*)\w{0,64}[Pp]assword\))/g

/** Each form with a text that it contains, because most messages have none, and a search for it is faster. */
const forms: readonly (readonly [
  hint: RegExp,
  form: RegExp,
  replace: (...found: string[]) => string,
])[] = [
  [/alue|val|\bv\b|content|data|default/i, nameAndValue, withoutNamedValue],
  [/value|content/i, valueAndName, withoutFirstValue],
  [/[-/](?:v|d|data)/i, flagsOfPair, withoutRow],
  [/variable/, variable, withoutDefault],
  [/["'](?::|[ \t]+(?:for|at|of|in))[ \t]/i, refusedValue, withoutFirstValue],
  [/value|as/i, refusedParameter, withoutSecretValue],
  [/input_value/, invalidInput, withoutSecretValue],
  [/\)=\(/, rowOfKey, withoutRow],
  [/into/i, insertedRow, withoutRow],
  [/assword\)/, comparedText, (_, before = '', after = '') => `${before}${removed}${after}`],
]
