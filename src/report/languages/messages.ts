/**
 * Makes the messages of a language from its data. English names every message and its values; another language may lack some.
 *
 * A message with values has them in its key: `"scope(read, all)": "{read, number} / {all}"`. Messages are in ICU MessageFormat. A
 * message stays English if the other language lacks it, or names a value that English does not.
 */
import { IntlMessageFormat } from 'intl-messageformat'
import en from './en.messages.json' with { type: 'json' }

/** `ko.messages.json`: messages by key, nested as the English ones are. */
export interface Messages {
  [key: string]: string | Messages
}

/** A value in a message. A list `names` gives `{names}`, `{namesClauses}` and, for a plural, `{namesCount}`. */
export type MessageValue = string | number | boolean | null | readonly string[]

type Values<Names> = Names extends ''
  ? []
  : Names extends `${string}, ${infer Rest}`
    ? [MessageValue, ...Values<Rest>]
    : [MessageValue]

type Catalogued<Source> = {
  [Key in keyof Source as Key extends `${infer Name}(${string})`
    ? Name
    : Key]: Key extends `${string}(${infer Names})`
    ? (...values: Values<Names>) => string
    : Source[Key] extends string
      ? string
      : Catalogued<Source[Key]>
}

/** Every message of a report: a text, or a function of its values. */
export type Catalogue = Catalogued<typeof en>

interface Source {
  messages: Messages
  tag: string
  separators: Record<'list' | 'clauses', string>
}

const signature = /^([\w-]+)\(([\w, ]*)\)$/
const english: Source = { messages: en, tag: 'en', separators: en.separators }

export const englishCatalogue = catalogueIn(english, english) as Catalogue

/** @param tag BCP 47 */
export function translate(messages: Messages, tag: string): Catalogue {
  const separators = { ...en.separators, ...(messages.separators as object) }
  return catalogueIn(english, { messages, tag, separators }) as Catalogue
}

function catalogueIn(source: Source, target: Source): object {
  const translations = new Map(entriesOf(target.messages).map(entry => [entry.name, entry]))
  return Object.fromEntries(
    entriesOf(source.messages).map(({ name, values, message }) => {
      const own = translations.get(name)
      const translation = own?.message
      if (typeof message !== 'string') {
        const messages = typeof translation === 'object' ? translation : {}
        return [name, catalogueIn({ ...source, messages: message }, { ...target, messages })]
      }
      if (typeof translation !== 'string' || own?.values?.some(value => !values?.includes(value)))
        return [name, values ? messageFunction(message, values, source) : message]
      return [name, values ? messageFunction(translation, values, target) : translation]
    }),
  )
}

/** `values`: names of the values in the key; null: the message is a text. */
function entriesOf(messages: Messages) {
  return Object.entries(messages).map(([key, message]) => {
    const [, name = key, names] = signature.exec(key) ?? []
    return { name, values: names?.split(', ').filter(Boolean) ?? null, message }
  })
}

/** Parses the message at its first use, because a report uses only a few of all messages. */
function messageFunction(
  text: string,
  names: string[],
  { tag, separators }: Source,
): (...values: MessageValue[]) => string {
  let format: IntlMessageFormat | undefined
  return (...values) => {
    format ??= parsedMessage(text, tag)
    const named = names.flatMap((name, index) => namedValues(name, values[index]!, separators))
    return String(format.format(Object.fromEntries(named)))
  }
}

/** @throws Error for a text that is no ICU message */
export const parsedMessage = (text: string, tag: string) =>
  new IntlMessageFormat(text, tag, undefined, { ignoreTag: true })

const namedValues = (
  name: string,
  value: MessageValue,
  separators: Source['separators'],
): [string, string | number | boolean | null][] =>
  typeof value === 'object' && value
    ? [
        [name, value.join(separators.list)],
        [`${name}Clauses`, value.join(separators.clauses)],
        [`${name}Count`, value.length],
      ]
    : [[name, value]]
