import { type LocatedText, textFrom } from '#base/yaml-place.ts'

/** Texts in a file of HCL. Source: Terraform, Strings and Templates, Heredoc Strings */
export function heredocsIn(text: string): LocatedText[] {
  const heredocs: LocatedText[] = []
  let open: { first: number; isIndented: boolean; marker: string; lines: string[] } | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (open === null) {
      const [, dash, marker] = /<<(-?)([A-Za-z_]\w*)[ \t\r]*$/.exec(line) ?? []
      if (marker !== undefined)
        open = { first: index + 2, isIndented: dash === '-', marker, lines: [] }
    } else if (line.trim() === open.marker) {
      const { lines, first, isIndented } = open
      const indents = lines.filter(each => each.trim() !== '').map(each => each.search(/\S/))
      const cut = isIndented ? Math.min(...indents, 1_000) : 0
      heredocs.push(textFrom(lines.map(each => each.slice(cut)).join('\n'), first))
      open = null
    } else open.lines.push(line)
  }
  return heredocs
}
