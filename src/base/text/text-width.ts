/** Width of a text in columns of a fixed-width font, and the places where a line can break. */

/** Characters twice as wide as a Latin letter: Han, Kana, Hangul and their punctuation. Source: Unicode Standard Annex 11, East Asian Width W and F. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g
/** Characters written without blanks between words: Han, Kana and their punctuation. */
const eastern = /[\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60]/
/** `opening` stays with the next character, `closing` with the previous one. Source: Unicode Standard Annex 14, classes OP, CL, EX, NS and CJ. */
const opening = /[「『（［【(["“‘]/
const closing = /[、。，．：；！？」』）］】)\]"”’ー・…%ぁぃぅぇぉっゃゅょァィゥェォッャュョ]/

/** Width in columns; a Latin letter has one column. */
export const columnsOf = (text: string) => text.length + (text.match(wide)?.length ?? 0)

export const padTo = (text: string, columns: number) =>
  `${text}${' '.repeat(Math.max(columns - columnsOf(text), 0))}`

/** Parts of a text that no line break may split, each with its leading blanks. */
const piecesOf = (text: string) =>
  text.split(/(?<! )(?= )/).flatMap(word => (eastern.test(word) ? partsOf([...word]) : [word]))

function partsOf(characters: string[]) {
  const parts: string[] = []
  for (const [index, character] of characters.entries()) {
    const before = characters[index - 1]
    if (before !== undefined && !isSeam(before, character)) parts[parts.length - 1] += character
    else parts.push(character)
  }
  return parts
}

const isSeam = (before: string, after: string) =>
  (eastern.test(before) || eastern.test(after)) &&
  !/\s/.test(before) &&
  !opening.test(before) &&
  !closing.test(after)

/**
 * Breaks a text at blanks, and a longer word anywhere. The first line begins with `first`, the other
 * lines with `rest`. A number and its unit, which a no-break space joins, stay on one line.
 */
export function wrap(text: string, columns: number, first = '', rest = first) {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const piece of piecesOf(text)) {
    if (!isEmpty && columnsOf(line) + columnsOf(piece) > columns) {
      lines.push(line)
      line = rest
      isEmpty = true
    }
    line += isEmpty ? piece.trimStart() : piece
    isEmpty = false
  }
  return [...lines, line].map(wrapped => wrapped.replaceAll('\u00a0', ' '))
}
