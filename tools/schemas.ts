/**
 * JSON Schemas of the formats, generated from their types and, for the policy, from its zod schema. `npm run schemas` writes them to
 * `docs/schemas`, and the table of docs/policy.md.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  AnyType,
  createFormatter,
  createParser,
  createProgram,
  DEFAULT_CONFIG,
  ObjectType,
  SchemaGenerator,
  type SubNodeParser,
} from 'ts-json-schema-generator'
import { policyJsonSchema } from '#model/policy/schema.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { withReference } from './policy-reference.ts'

export const formats = [
  ...([
    'findings',
    'prediction',
    'snapshot',
    'plan',
    'approval',
    'ledger',
    'gate',
    'event',
  ] as const),
  ...([
    'diff',
    'upgrade',
    'tune',
    'doctor',
    'remediation',
    'verification',
    'node-history',
  ] as const),
] as const
type Schema = ReturnType<SchemaGenerator['createSchema']>
export type FormatName = (typeof formats)[number] | 'policy'

/** Their fields are those of Kubernetes. */
const openTypes = ['KubeletConfiguration', 'KubernetesNode', 'KubernetesPod']

const openObjects: SubNodeParser = {
  supportsNode: node =>
    'typeName' in node &&
    openTypes.includes(String(Reflect.get(Object(node.typeName), 'escapedText'))),
  createType: () => new ObjectType('open', [], [], new AnyType()),
}

const root = join(import.meta.dirname, '..')
const config = {
  ...DEFAULT_CONFIG,
  path: join(root, 'tools/formats.ts'),
  tsconfig: join(root, 'tsconfig.json'),
  type: 'Formats',
  expose: 'export' as const,
  topRef: false,
  skipTypeCheck: true,
}

/** For tests: fields that the types do not have are refused. */
export function closedSchemas(): Record<FormatName, Schema> {
  const program = createProgram(config)
  const parser = createParser(program, config, all => {
    all.addNodeParser(openObjects)
  })
  const generator = new SchemaGenerator(program, parser, createFormatter(config), config)
  const { properties = {}, definitions } = generator.createSchema('Formats')
  const generated = formats.map(name => {
    const own = properties[name]
    if (typeof own !== 'object') throw new Error(`tools/formats.ts has no ${name}`)
    const whole = { ...definitionOf(own.$ref, definitions), description: own.description }
    return [name, withHead(name, { ...whole, definitions: used(whole, definitions) })]
  })
  const policy = policyJsonSchema(policyTerms) as Schema
  return { ...Object.fromEntries(generated), policy: { ...policy, $id: idOf('policy') } }
}

/** For readers: fields that the types do not have are allowed, but for those of a policy. */
export function openSchemas({ policy, ...closed } = closedSchemas()): Record<FormatName, Schema> {
  const open = JSON.parse(JSON.stringify(closed), (key, value) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  )
  return { ...open, policy }
}

function definitionOf(ref: string | undefined, all: Definitions = {}): Schema {
  const definition = all[decodeURIComponent(ref?.split('/').at(-1) ?? '')]
  if (typeof definition !== 'object') throw new Error(`There is no definition ${ref}`)
  return definition
}

const idOf = (name: FormatName) => `urn:highwater:schema:${name}:1`

const withHead = (name: FormatName, schema: Schema): Schema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: idOf(name),
  title: `highwater.${name}/1`,
  ...schema,
})

type Definitions = NonNullable<Schema['definitions']>

/** Those that a schema refers to, itself or through others. */
function used(schema: unknown, all: Definitions = {}, found: Definitions = {}): Definitions {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    const key = decodeURIComponent(name)
    const definition = all[key]
    if (definition === undefined || key in found) continue
    found[key] = definition
    used(definition, all, found)
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const fileText = (schema: Schema): string => `${JSON.stringify(schema, null, 2)}\n`

if (import.meta.main) {
  const folder = join(import.meta.dirname, '../docs/schemas')
  mkdirSync(folder, { recursive: true })
  const schemas = openSchemas()
  for (const [name, schema] of Object.entries(schemas))
    writeFileSync(join(folder, `${name}.schema.json`), fileText(schema))
  const page = join(folder, '../policy.md')
  writeFileSync(page, withReference(readFileSync(page, 'utf8'), schemas.policy))
}
