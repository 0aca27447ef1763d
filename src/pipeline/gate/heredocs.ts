import { type LocatedText, textFrom } from '#base/yaml-place.ts'

/** Texts in a file of HCL, and the lines outside them. Source: Terraform, Strings and Templates, Heredoc Strings */
export function heredocsIn(text: string): { heredocs: LocatedText[]; rest: string } {
  const heredocs: LocatedText[] = []
  const rest: string[] = []
  let open: { first: number; isIndented: boolean; marker: string; lines: string[] } | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (open === null) {
      const [, dash, marker] = /<<(-?)([A-Za-z_]\w*)[ \t\r]*$/.exec(line) ?? []
      if (marker !== undefined)
        open = { first: index + 2, isIndented: dash === '-', marker, lines: [] }
      else rest.push(line)
    } else if (line.trim() === open.marker) {
      const { lines, first, isIndented } = open
      const indents = lines.filter(each => each.trim() !== '').map(each => each.search(/\S/))
      const cut = isIndented ? Math.min(...indents, 1_000) : 0
      heredocs.push(textFrom(lines.map(each => each.slice(cut)).join('\n'), first))
      open = null
    } else open.lines.push(line)
  }
  return { heredocs, rest: rest.join('\n') }
}
