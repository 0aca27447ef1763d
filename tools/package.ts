/**
 * Makes `dist/`, which `npm run pack` packs: the compiled programs, the types and schemas of the formats, and the licenses of what is compiled in.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { compile } from 'json-schema-to-typescript'
import { bundleInto } from './bundle.ts'
import { openSchemas } from './schemas.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
/** Formats that programs of others read and write. */
const typed = ['snapshot', 'findings', 'prediction', 'plan']

rmSync(dist, { recursive: true, force: true })
const metafile = await bundleInto(dist)
mkdirSync(join(dist, 'schemas'))
mkdirSync(join(dist, 'types'))
for (const [name, schema] of Object.entries(openSchemas())) {
  writeFileSync(join(dist, `schemas/${name}.schema.json`), JSON.stringify(schema))
  if (typed.includes(name))
    writeFileSync(join(dist, `types/${name}.d.ts`), await typesOf(schema, name))
}
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licensesOf(metafile))

type Schema = Parameters<typeof compile>[0]

/** Without comments about the schema itself. */
async function typesOf(schema: object, name: string): Promise<string> {
  const options = { bannerComment: '', additionalProperties: true, unknownAny: true }
  const types = await compile(schema as Schema, name, options)
  return types.replace(
    / \*\s*(?:\* )?This interface was referenced by .*\n \* via the `definition` .*\n/g,
    '',
  )
}

/** Who wrote the packages that are compiled in, and under which license. Equal texts stand once. */
function licensesOf({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap(
    file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  )
  const packages = [...new Set(folders)].toSorted().map(folder => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    )
    const [file] = globSync(join(root, folder, '{LICEN[CS]E,license}*'))
    const text = file === undefined ? '' : readFileSync(file, 'utf8')
    const holders = text.match(/^ *(Copyright \(c\)|Copyright \d).*$/gim) ?? []
    const terms =
      license === 'Apache-2.0'
        ? 'Apache License, Version 2.0: the text is in the file LICENSE of this package.'
        : text
            .replace(/^.*(copyright \(c\)|copyright \d).*$/gim, '')
            .replace(/\s+/g, ' ')
            .trim()
    const title = [`${name} ${version} (${license})`, ...holders.map(one => `  ${one.trim()}`)]
    return { title: title.join('\n'), terms: terms.replace(/[“”]/g, '"') }
  })
  return [...Map.groupBy(packages, ({ terms }) => terms)]
    .map(([terms, some]) => `${some.map(({ title }) => title).join('\n')}\n\n${terms}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)
}
