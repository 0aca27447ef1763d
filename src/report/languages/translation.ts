/**
 * Builds a catalogue in another language from data. The English catalogue is the source: it names every message and its values.
 *
 * A text has its English key. A function's key also names its values: `"scope(read, all)": "{read, number} / {all}"`. Messages are
 * in ICU MessageFormat. A message stays English if the data lacks the message, or names another number of values.
 */
import { IntlMessageFormat } from 'intl-messageformat'

/** `ko.messages.json`: messages by key, nested as the English catalogue is. */
export interface Messages {
  [key: string]: string | Messages
}

/** A value in a message. A list `names` gives `{names}`, `{namesClauses}` and, for a plural, `{namesCount}`. */
export type MessageValue = string | number | boolean | null | string[]

interface Separators {
  list: string
  clauses: string
}

const signature = /^([\w-]+)\(([\w, ]*)\)$/

export function translate<Catalogue extends { separators: Separators }>(
  english: Catalogue,
  messages: Messages,
  tag: string,
): Catalogue {
  const separators = { ...english.separators, ...(messages.separators as Partial<Separators>) }
  return inLanguage(english, messages, { tag, separators }) as Catalogue
}

interface Target {
  tag: string
  separators: Separators
}

function inLanguage(english: object, messages: Messages, target: Target): object {
  const functions = new Map(
    Object.entries(messages).flatMap(([key, text]) => {
      const [, name, values] = signature.exec(key) ?? []
      return name === undefined
        ? []
        : [[name, { text: text as string, values: values ? values.split(', ') : [] }]]
    }),
  )
  return Object.fromEntries(
    Object.entries(english).map(([key, source]) => {
      const own = messages[key]
      if (typeof source === 'function') {
        const message = functions.get(key)
        if (message === undefined || message.values.length !== source.length) return [key, source]
        return [key, messageFunction(message, target)]
      }
      if (typeof source === 'object' && source !== null)
        return [key, inLanguage(source, typeof own === 'object' ? own : {}, target)]
      return [key, typeof own === 'string' && source !== null ? own : source]
    }),
  )
}

/** Parses the message at its first use, because a report uses only a few of all messages. */
function messageFunction(
  { text, values: names }: { text: string; values: string[] },
  { tag, separators }: Target,
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
  separators: Separators,
): [string, string | number | boolean | null][] =>
  Array.isArray(value)
    ? [
        [name, value.join(separators.list)],
        [`${name}Clauses`, value.join(separators.clauses)],
        [`${name}Count`, value.length],
      ]
    : [[name, value]]
