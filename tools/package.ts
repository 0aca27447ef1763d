/**
 * Compiles the sources into `dist/`, which `npm run pack` packs: the CLI, the Lambda handlers and the programs of the lab as ES modules that share
 * their chunks, the files that are read at run time, the types of the formats, and the licenses of what is compiled in.
 *
 * Everything is compiled in, so the package has no dependencies.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { compile } from 'json-schema-to-typescript'
import { schemasOf } from './schemas.ts'

const { plugins } = createRequire(import.meta.url)('../src/handlers/bundle.cjs')
const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
/** Read by `readAsset`. */
const assets = [
  'events/scheduled.json',
  'lab/machines/stand-ins/*.sh',
  'src/facts/kubelet/feature-gates.json',
  'src/report/languages/*.json',
  'src/remediate/scripts/*.sh',
  'templates/member-account.yaml',
  'test/fixtures/real/*.json',
]
/** Formats that programs of others read and write. */
const typed = ['snapshot', 'findings', 'prediction', 'plan']
/** Started by `programUrl`. */
const programs = globSync('lab/machines/programs/*.ts', { cwd: root })

/** Texts in other languages and the history of feature gates compress to a quarter, and most runs read none. */
const packedData: Plugin = {
  name: 'packed-data',
  setup: build =>
    build.onLoad({ filter: /(languages[\\/].*|feature-gates)\.json$/ }, ({ path }) => {
      const asset = relative(root, path)
      return {
        contents: `import { readAsset } from '#asset.ts'
export default JSON.parse(readAsset('${asset}'))`,
        loader: 'js',
        resolveDir: root,
      }
    }),
}

/** Shells need no comments of the completion scripts; the first line of zsh's is none. */
const bareCompletion: Plugin = {
  name: 'bare-completion',
  setup: build =>
    build.onLoad({ filter: /@bomb\.sh[\\/]tab[\\/]dist[\\/].*\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/^ *# .*\n/gm, ''),
      loader: 'js',
    })),
}

/** The SDK's list of credential providers brings those of Cognito along, which `src/clients` never calls. */
const withoutCognito: Plugin = {
  name: 'without-cognito',
  setup(build) {
    build.onResolve({ filter: /credential-provider-cognito-identity$/ }, ({ path }) => ({
      path,
      namespace: 'cognito',
    }))
    build.onLoad({ filter: /.*/, namespace: 'cognito' }, () => ({
      contents: 'export const fromCognitoIdentity = null, fromCognitoIdentityPool = null',
    }))
  },
}

/**
 * Of client-node the CLI uses KubeConfig alone: what it makes of a kubeconfig's credentials. Its API classes go, and so do the HTTP clients and
 * proxies behind them (src/clients opens connections of its own), and the sign-in of other clouds that kubectl dropped with 1.26.
 */
const onlyKubeconfig: Plugin = {
  name: 'only-kubeconfig',
  setup(build) {
    build.onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({
      path: join(root, 'node_modules/@kubernetes/client-node/dist/config.js'),
    }))
    // Its YAML is read by the parser that reads ours.
    build.onResolve({ filter: /^js-yaml$/ }, () => ({ path: 'js-yaml', namespace: 'yaml' }))
    build.onLoad({ filter: /.*/, namespace: 'yaml' }, () => ({
      contents: "export { parse as load, stringify as dump } from 'yaml'",
      resolveDir: root,
    }))
    const unused =
      /^(undici|hpagent|socks|socks-proxy-agent|bowser|\.\/(azure_auth|gcp_auth|gen\/index)\.js)$/
    build.onResolve({ filter: unused }, ({ path, importer }) =>
      /client-node|user-agent-browser/.test(importer) ? { path, namespace: 'unused' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({
      // On the prototype, because esbuild copies only a module's own names and keeps its prototype.
      contents:
        'module.exports = Object.create(new Proxy({}, { get: () => class { isAuthProvider() { return false } } }))',
      loader: 'js',
    }))
  },
}

rmSync(dist, { recursive: true, force: true })
execFileSync(process.execPath, [join(root, 'templates/precompile.ts')], { stdio: 'inherit' })
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'src/cli/main.ts',
    lambda: 'tools/lambda.ts',
    ...Object.fromEntries(programs.map(file => [file.replace(/\.ts$/, ''), file])),
  },
  outdir: dist,
  // Beside each other, so that readAsset finds assets.br from every chunk.
  chunkNames: '[hash]',
  bundle: true,
  splitting: true,
  minify: true,
  charset: 'utf8',
  platform: 'node',
  target: 'node22',
  format: 'esm',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  plugins: [...plugins, onlyKubeconfig, packedData, bareCompletion, withoutCognito],
})
// CommonJS packages require Node's own modules.
for (const file of globSync('*.js', { cwd: dist })) {
  const code = readFileSync(join(dist, file), 'utf8')
  if (!/\brequire\b/.test(code)) continue
  writeFileSync(
    join(dist, file),
    `import { createRequire as requireOf } from 'node:module';const require=requireOf(import.meta.url);${code}`,
  )
}
const texts = assets.flatMap(pattern =>
  globSync(pattern, { cwd: root }).map(file => [file, readFileSync(join(root, file), 'utf8')]),
)
writeFileSync(
  join(dist, 'assets.br'),
  brotliCompressSync(JSON.stringify(Object.fromEntries(texts))),
)
mkdirSync(join(dist, 'schemas'))
mkdirSync(join(dist, 'types'))
for (const [name, schema] of Object.entries(schemasOf(true))) {
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
