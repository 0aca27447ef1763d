/** Every key of the policy as a table: its type, its default, and its description in the schema. */
const longestDefault = 40
const longestEnum = 12

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  default?: unknown
  description?: string
}

const marked = /(<!-- keys -->\n)[\s\S]*(<!-- \/keys -->)/

/** The page with the table between its marks. */
export const withReference = (page: string, schema: object): string =>
  page.replace(marked, (_, start, end) => `${start}${policyReference(schema)}${end}`)

function policyReference(schema: object): string {
  const rows = rowsOf(schema as Schema, '')
  const lines = rows.map(
    cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  )
  return ['| key | type | default | meaning |', '| --- | --- | --- | --- |', ...lines, ''].join(
    '\n',
  )
}

const isNull = ({ type }: Schema): boolean => type === 'null'
const unwrapped = (schema: Schema): Schema => ({
  ...(schema.anyOf?.find(one => !isNull(one)) ?? {}),
  ...schema,
})

function rowsOf({ properties = {} }: Schema, prefix: string): string[][] {
  return Object.entries(properties).flatMap(([name, own]) => {
    const schema = unwrapped(own)
    const key = `${prefix}${name}`
    const items = schema.items && unwrapped(schema.items)
    const nested = [schema, items].find(one => one?.properties)
    const inner = nested ? rowsOf(nested, `${key}${nested === schema ? '.' : '[].'}`) : []
    return [
      [`\`${key}\``, typeOf(schema), defaultOf(schema, inner.length), schema.description ?? ''],
      ...inner,
    ]
  })
}

function typeOf(schema: Schema): string {
  if (schema.enum && schema.enum.length > longestEnum) return 'one of the schema'
  if (schema.enum) return schema.enum.map(one => `\`${one}\``).join(', ')
  if (schema.anyOf)
    return [...new Set(schema.anyOf.filter(one => !isNull(one)).map(typeOf))].join(' or ')
  if (schema.items) return `list of ${typeOf(unwrapped(schema.items))}`
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.type === 'object' && !schema.properties) return 'map'
  return String(
    [schema.type ?? 'any']
      .flat()
      .filter(type => type !== 'null')
      .join(' or '),
  )
}

function defaultOf(schema: Schema, innerRows: number): string {
  const text = JSON.stringify(schema.default)
  if (text === undefined || (schema.properties && innerRows > 0)) return ''
  return text.length > longestDefault ? 'see the schema' : `\`${text}\``
}
