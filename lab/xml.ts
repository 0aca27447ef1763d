/** XML as AWS services answer it: elements with text or elements in them, no attributes. */

/** A list gives one element each under the same name; undefined gives none. */
export interface Elements {
  [name: string]: string | Elements | readonly Elements[] | undefined
}

export const elements = (fields: Elements): string => Object.entries(fields).map(element).join('')

function element([name, value]: [string, Elements[string]]): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return `<${name}>${escapeXml(value)}</${name}>`
  return [value]
    .flat()
    .map(each => `<${name}>${elements(each)}</${name}>`)
    .join('')
}

// Control characters too: a key may have them, and a bare one would end the document.
const escapeXml = (text: string) =>
  text.replace(/[&<>"'\p{Cc}]/gu, char => `&#${char.charCodeAt(0)};`)
