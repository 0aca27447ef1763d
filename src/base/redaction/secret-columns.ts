/** Removes the cells of a table below a head such as `password`: cells between bars, commas, tabs or two spaces. */
import { removed } from './named-secrets.ts'
import { isSecretKey } from './secret-names.ts'

const separators = [/(\|)/, /(,)/, /(\t| {2,})/]
const head = /^[ \t]*(?:[A-Za-z][\w -]{0,40}[ \t]*)?$/
const isSecretHead = (cell: string) =>
  head.test(cell) && isSecretKey(cell.trim()) && !/^key$/i.test(cell.trim())
/** Empty cells, and the line below the heads. */
const hasValue = (cell: string) => /[^-: \t\r]/.test(cell)

interface Table {
  separator: RegExp
  /** Indexes of secret columns. Separators count, too. */
  columns: number[]
  /** Number of cells of the head. */
  length: number
}

/** Linear in the length of the text. @param isKept cells that stay */
export function withoutSecretColumns(
  text: string,
  isKept: (cell: string) => boolean = () => false,
): string {
  if (!text.includes('\n')) return text
  let table: Table | null = null
  const lines = text.split('\n').map(line => {
    const heads = tableBelow(line)
    const cells = table === null ? [] : line.split(table.separator)
    // A row can look like the head of another table.
    const clean = table === null || cells.length === 1 ? line : withoutCells(cells, table, isKept)
    table = heads ?? (cells.length > 1 ? table : null)
    return clean
  })
  return lines.join('\n')
}

function tableBelow(line: string): Table | null {
  for (const separator of separators) {
    const cells = line.split(separator)
    // A message, also a row of another table, can stand before the first head.
    const last = cells.findLastIndex((cell, index) => index % 2 === 0 && !head.test(cell))
    const columns = cells.flatMap((cell, index) =>
      index > last && isSecretHead(cell) ? [index] : [],
    )
    if (cells.length > 1 && columns.length > 0) return { separator, columns, length: cells.length }
  }
  return null
}

/** A message before the head can have separators, so columns are counted from both ends. */
const withoutCells = (
  cells: string[],
  { columns, length }: Table,
  isKept: (cell: string) => boolean,
): string =>
  cells
    .map((cell, at) => {
      const isSecret = columns.includes(at) || columns.includes(at + length - cells.length)
      return isSecret && hasValue(cell) && !isKept(cell) ? removed : cell
    })
    .join('')
